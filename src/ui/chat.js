import { converse } from "./calls.js";
import { earlierMessages } from "./earlier-messages.js";
import { find, make } from "./make.js";
import { chips, receiptFold, waitingPart, welcome, why } from "./reply-parts.js";
import { transcript } from "./transcript.js";
import { undoing } from "./undoing.js";
import { goneInWords } from "./words.js";

/**
 * Runs the conversation. `user` and `session` give the current user and session. `changed` runs after anything that may
 * have changed a memory; `stored` when a message of the current session is stored.
 */
export function conversation({ user, session, changed, stored }) {
  const log = transcript(find("log"));
  const undo = undoing({ user, append: log.append, changed });
  const composer = messageBox(send, user);
  let earlier;

  async function send(text) {
    const message = make("p", { class: "said" }, text);
    const waiting = make("p", { class: "waiting", "aria-label": "Thinking" }, "…");
    const [sender, sentIn] = [user(), session()];
    log.append(message, waiting);
    try {
      const answer = await converse(sender, sentIn, text);
      if (sentIn === session()) stored();
      // If the user has started another conversation, the turn is stored but not shown.
      if (sentIn === session()) show(message, answer);
      changed();
    } catch (error) {
      // Another user's or another conversation's page shows nothing of it. The text waits where it was typed.
      if (sender !== user() || sentIn !== session()) return composer.keep(text, sender);
      message.remove();
      log.append(make("p", { class: "problem", role: "alert" }, error.message));
      composer.offer(text);
    } finally {
      waiting.remove();
    }
  }

  function show(message, { reply, receipt, memories_used: used }) {
    const undoButton = undo.after(receipt);
    const asked = waitingPart(receipt.waiting, () => send("Yes, do it."));
    const parts = [...chips(receipt), ...asked, ...why(used), ...(undoButton ? [undoButton] : [])];
    const element = make("div", { class: "reply" }, make("p", { class: "answer" }, reply), parts);
    const ids = [...receipt.memories, ...used].map(({ id }) => id);
    log.keep(message, element, ids);
    for (const erasure of receipt.erasures ?? []) log.wipe(erasure, message);
    if (receipt.erasures) earlier?.load();
    log.append(element);
  }

  return {
    clear() {
      undo.drop();
      earlier = undefined;
      log.clear(welcome(composer.put));
      composer.openDraft();
    },
    /** Shows the messages of an earlier conversation, which then goes on. */
    resume(name) {
      this.clear();
      earlier = earlierMessages(user(), name);
      log.append(earlier.element);
      return earlier.load();
    },
    /** Takes what was erased off the screen. */
    wipe(receipt) {
      undo.drop();
      log.wipe(receipt);
      earlier?.load();
    },
    /** Shows an erasure made beside the conversation. */
    erased(receipt) {
      log.append(make("div", { class: "note" }, `Forgotten: ${goneInWords(receipt)}.`, receiptFold(receipt)));
    },
  };
}

/**
 * Runs the message box. It sends one message at a time, and waits for the promise of `send`. What is typed and not sent is
 * kept for its user while the browser's tab is open.
 */
function messageBox(send, user) {
  const box = find("message");
  const button = find("send");
  const draftOf = (name = user()) => `keepsake.draft.${name}`;
  const saveDraft = () => sessionStorage.setItem(draftOf(), box.value);

  function put(text) {
    box.value = text;
    fit(box);
    saveDraft();
    box.focus();
  }

  find("composer").onsubmit = async (event) => {
    event.preventDefault();
    const text = box.value.trim();
    if (text === "" || button.disabled) return;
    box.value = "";
    fit(box);
    saveDraft();
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
  box.oninput = () => {
    fit(box);
    saveDraft();
  };
  box.onfocus = () => fit(box);

  return {
    put,
    /** Shows what the current user has typed and not sent. */
    openDraft() {
      box.value = sessionStorage.getItem(draftOf()) ?? "";
      fit(box);
    },
    /** Puts a text back that could not be sent, unless the box contains another one. */
    offer(text) {
      if (box.value === "") put(text);
    },
    /** Keeps a text that could not be sent for the user who typed it, unless that user has typed another one. */
    keep(text, sender) {
      if (sender === user()) this.offer(text);
      else if (!sessionStorage.getItem(draftOf(sender))) sessionStorage.setItem(draftOf(sender), text);
    },
  };
}

/** Makes the box as tall as its text, within the limits of the style sheet. */
function fit(box) {
  box.style.height = "auto";
  // A box that is not shown has no height.
  if (box.scrollHeight > 0) box.style.height = `${box.scrollHeight + 2}px`;
}
