import { find, make } from "../parts/make.js";
import { goneInWords } from "../parts/words.js";
import { earlierMessages } from "./earlier-messages.js";
import { createOutbox, getDraft, keepDraft } from "./outbox.js";
import { chips, receiptFold, waitingPart, welcome, why } from "./reply-parts.js";
import { transcript } from "./transcript.js";
import { undoing } from "./undoing.js";

/**
 * Runs the conversation. `user` and `session` give the current user and session. `changed` runs after anything that may
 * have changed a memory; `started` before a message is sent in the current session.
 */
export function conversation({ user, session, changed, started }) {
  const log = transcript(find("log"));
  const undo = undoing({ user, append: log.append, changed });
  const composer = messageBox((text) => send(text), user);
  const outbox = createOutbox({ user, session });
  let earlier;

  async function send(text, key) {
    const message = make("p", { class: "said" }, text);
    const waiting = make("p", { class: "waiting", "aria-label": "Thinking" }, "…");
    log.append(message, waiting);
    started();
    const { answer, error, sender, isHere, isGone } = await outbox.deliver(text, key);
    waiting.remove();
    if (isGone) return;
    if (error) return showFailure(message, { text, error, sender, isHere });
    // If another conversation is shown by now, the turn is stored but not shown.
    if (isHere) show(message, answer);
    changed();
  }

  /** The words go back to the one who typed them; what went wrong is said in the conversation alone. */
  function showFailure(message, { text, error, sender, isHere }) {
    message.remove();
    // It had arrived before, and was erased since.
    if (error.status === 410) return isHere ? earlier?.load() : undefined;
    if (isHere) log.append(make("p", { class: "problem", role: "alert" }, error.message));
    composer.giveBack(text, sender);
  }

  function show(message, answer) {
    const { receipt, memories_used: used, turn_number: turn } = answer;
    earlier?.endBefore(turn);
    const element = replyElement(answer, undo.after(receipt), () => send("Yes, do it."));
    // Somebody may have left the conversation and come back while the message was on its way.
    if (!message.isConnected) log.append(message);
    const ids = [...receipt.memories, ...used].map(({ id }) => id);
    log.keep(message, element, ids);
    for (const erasure of receipt.erasures ?? []) log.wipe(erasure, message);
    if (receipt.erasures) earlier?.load();
    log.append(element);
  }

  function clear() {
    undo.drop();
    earlier = undefined;
    log.clear(welcome(composer.put));
    composer.openDraft();
  }

  /** Shows the messages of an earlier conversation, which then goes on. */
  async function resume(name) {
    clear();
    const opened = earlierMessages(user(), name);
    earlier = opened;
    log.append(opened.element);
    outbox.resend(send, composer.giveBack);
    await opened.load();
    if (earlier === opened) log.scrollToEnd();
  }

  return {
    clear,
    resume,
    ...erasureMethods({ log, undo, earlier: () => earlier }),
    /** Forgets everything of the user who signs out. */
    leave() {
      outbox.leave();
      undo.drop();
      earlier = undefined;
      composer.empty();
    },
  };
}

function erasureMethods({ log, undo, earlier }) {
  return {
    /** Takes what was erased off the screen. */
    wipe(receipt) {
      undo.drop();
      log.wipe(receipt);
      earlier()?.load();
    },
    /** Shows an erasure made beside the conversation. */
    erased(receipt) {
      log.append(make("div", { class: "note" }, `Forgotten: ${goneInWords(receipt)}.`, receiptFold(receipt)));
    },
  };
}

function replyElement({ reply, receipt, memories_used: used }, undoButton, agree) {
  const asked = waitingPart(receipt.waiting, agree);
  const parts = [...chips(receipt), ...asked, ...why(used), ...(undoButton ? [undoButton] : [])];
  return make("div", { class: "reply" }, make("p", { class: "answer" }, reply), parts);
}

/**
 * Runs the message box. It sends one message at a time, and waits for the promise of `send`. What is typed and not sent is
 * kept for its user while the browser's tab is open.
 */
function messageBox(send, user) {
  const box = find("message");
  const button = find("send");
  const saveDraft = () => keepDraft(user(), box.value);

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
    button.disabled = true;
    const isSent = send(text);
    // Only now: `send` has noted the text, so that a reload at any moment finds it.
    box.value = "";
    fit(box);
    saveDraft();
    await isSent;
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
      box.value = getDraft(user());
      fit(box);
    },
    /** Takes everything out of the box. */
    empty() {
      box.value = "";
      fit(box);
    },
    /** Gives a text that could not be sent back to the user who typed it, before what that user has typed since. */
    giveBack(text, sender) {
      const typed = sender === user() ? box.value : getDraft(sender);
      const both = typed === "" ? text : `${text}\n\n${typed}`;
      if (sender === user()) put(both);
      else keepDraft(sender, both);
    },
  };
}

/** Makes the box as tall as its text, within the limits of the style sheet. */
function fit(box) {
  box.style.height = "auto";
  // A box that is not shown has no height.
  if (box.scrollHeight > 0) box.style.height = `${box.scrollHeight + 2}px`;
}
