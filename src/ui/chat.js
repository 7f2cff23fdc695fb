import { converse } from "./calls.js";
import { find, make } from "./make.js";
import { chips, receiptFold, welcome, why } from "./reply-parts.js";
import { transcript } from "./transcript.js";
import { undoing } from "./undoing.js";
import { goneInWords } from "./words.js";

/**
 * The conversation. `user` and `session` give whose and which it is; `changed` runs after everything that may have
 * changed a memory.
 */
export function conversation({ user, session, changed }) {
  const said = transcript(find("log"));
  const undo = undoing({ user, append: said.append, changed });
  const composer = messageBox(send);

  async function send(text) {
    const asked = make("p", { class: "said" }, text);
    const waiting = make("p", { class: "waiting", "aria-label": "Thinking" }, "…");
    const where = session();
    said.append(asked, waiting);
    try {
      const answer = await converse(user(), where, text);
      // Somebody began another conversation meanwhile: what was said is stored, and not part of what is shown.
      if (where === session()) show(asked, answer);
      changed();
    } catch (error) {
      asked.remove();
      said.append(make("p", { class: "problem", role: "alert" }, error.message));
      composer.offer(text);
    } finally {
      waiting.remove();
    }
  }

  function show(asked, { reply, receipt, memories_used: used }) {
    const undoButton = undo.after(receipt);
    const parts = [...chips(receipt), ...why(used), ...(undoButton ? [undoButton] : [])];
    const element = make("div", { class: "reply" }, make("p", { class: "answer" }, reply), parts);
    const ids = [...receipt.memories, ...used].map(({ id }) => id);
    said.keep(asked, element, ids);
    for (const erasure of receipt.erasures ?? []) said.wipe(erasure, asked);
    said.append(element);
  }

  return {
    clear() {
      undo.drop();
      said.clear(welcome(composer.put));
    },
    /** An erasure that was asked for beside the conversation. */
    erased(receipt) {
      undo.drop();
      said.wipe(receipt);
      said.append(
        make("div", { class: "note" }, `Forgotten: ${goneInWords(receipt)}.`, receiptFold(receipt)),
      );
    },
  };
}

/** The box to write in. One message at a time: `send` gives a promise, and until it is settled nothing else is sent. */
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
    // While an input method is composing, Enter chooses a word.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    find("composer").requestSubmit();
  };
  box.oninput = () => fit(box);

  return {
    put,
    /** Gives a text back that could not be sent, unless something else was begun. */
    offer(text) {
      if (box.value === "") put(text);
    },
  };
}

/** As tall as its text, within the limits of the style sheet. */
function fit(box) {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
}
