import { converse } from "./calls.js";
import { find, make } from "./make.js";
import { chips, receiptFold, welcome, why } from "./reply-parts.js";
import { transcript } from "./transcript.js";
import { undoing } from "./undoing.js";
import { goneInWords } from "./words.js";

/**
 * Runs the conversation. `user` and `session` give the current user and session. `changed` runs after anything that may
 * have changed a memory.
 */
export function conversation({ user, session, changed }) {
  const log = transcript(find("log"));
  const undo = undoing({ user, append: log.append, changed });
  const composer = messageBox(send);

  async function send(text) {
    const message = make("p", { class: "said" }, text);
    const waiting = make("p", { class: "waiting", "aria-label": "Thinking" }, "…");
    const sentIn = session();
    log.append(message, waiting);
    try {
      const answer = await converse(user(), sentIn, text);
      // If the user has started another conversation, the turn is stored but not shown.
      if (sentIn === session()) show(message, answer);
      changed();
    } catch (error) {
      message.remove();
      log.append(make("p", { class: "problem", role: "alert" }, error.message));
      composer.offer(text);
    } finally {
      waiting.remove();
    }
  }

  function show(message, { reply, receipt, memories_used: used }) {
    const undoButton = undo.after(receipt);
    const parts = [...chips(receipt), ...why(used), ...(undoButton ? [undoButton] : [])];
    const element = make("div", { class: "reply" }, make("p", { class: "answer" }, reply), parts);
    const ids = [...receipt.memories, ...used].map(({ id }) => id);
    log.keep(message, element, ids);
    for (const erasure of receipt.erasures ?? []) log.wipe(erasure, message);
    log.append(element);
  }

  return {
    clear() {
      undo.drop();
      log.clear(welcome(composer.put));
    },
    /** Shows an erasure made outside the conversation. */
    erased(receipt) {
      undo.drop();
      log.wipe(receipt);
      log.append(make("div", { class: "note" }, `Forgotten: ${goneInWords(receipt)}.`, receiptFold(receipt)));
    },
  };
}

/** Runs the message box. It sends one message at a time, and waits for the promise of `send`. */
function messageBox(send) {
  const box = find("message");
  const button = find("send");

  function put(text) {
    box.value = text;
    fit(box);
    box.focus();
  }

  find("composer").onsubmit = async (event) => {
    event.preventDefault();
    const text = box.value.trim();
    if (text === "" || button.disabled) return;
    box.value = "";
    fit(box);
    button.disabled = true;
    await send(text);
    button.disabled = false;
  };
  box.onkeydown = (event) => {
    // While an input method is composing, Enter selects a word.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    find("composer").requestSubmit();
  };
  box.oninput = () => fit(box);

  return {
    put,
    /** Puts a text back that could not be sent, unless the box contains another one. */
    offer(text) {
      if (box.value === "") put(text);
    },
  };
}

/** Makes the box as tall as its text, within the limits of the style sheet. */
function fit(box) {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
}
