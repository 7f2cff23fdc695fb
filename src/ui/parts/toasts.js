import { find, make, say } from "./make.js";

const SECONDS = 12;

/**
 * Shows a notice that goes away by itself, with a button to undo. Notices stack: a second one does not take away the undo of
 * the first. It stays while it has the focus or the pointer.
 */
export function toast(text, undo) {
  const element = make("div", { class: "toast" }, make("span", {}, text));
  const close = () => element.remove();
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(close, SECONDS * 1000);
  };
  if (undo) element.append(undoButton(element, undo, close));
  element.append(
    make("button", { type: "button", class: "quiet", "aria-label": "Close notice", onclick: close }, "×"),
  );
  for (const event of ["pointerenter", "focusin"]) element.addEventListener(event, () => clearTimeout(timer));
  for (const event of ["pointerleave", "focusout"]) element.addEventListener(event, wait);
  find("toasts").append(element);
  say(text);
  wait();
}

function undoButton(element, undo, close) {
  const button = make("button", { type: "button" }, "Undo");
  button.onclick = async () => {
    button.disabled = true;
    try {
      await undo();
      close();
      toast("Undone.");
    } catch (error) {
      element.firstChild.textContent = error.message;
      button.remove();
    }
  };
  return button;
}
