import { button } from "../parts/form-parts.js";
import { find, make } from "../parts/make.js";
import { goTo, linkTo } from "../parts/router.js";

const KEYS = [
  ["?", "These keys"],
  ["g c", "Chat"],
  ["g m", "Memories"],
  ["g p", "People and things"],
  ["g d", "To decide"],
  ["g v", "Conversations"],
  ["g e", "Erase and receipts"],
  ["g t", "Timeline"],
  ["g a", "Map of associations"],
  ["g o", "Overview"],
  ["g h", "Sharing"],
  ["g s", "What models see"],
  ["g i", "API"],
  ["/", "Search"],
  ["j, k", "Next and previous row (also the arrow keys)"],
  ["Enter", "Open"],
  ["x", "Select; with Shift and the pointer, a range"],
  ["e", "Edit"],
  ["o", "Mark as outdated"],
  ["Delete", "Move to the bin"],
  ["#", "Erase, after a preview"],
  ["Esc", "Back, or close"],
];
const GO = {
  c: "",
  m: "memories",
  p: "people",
  d: "decide",
  v: "conversations",
  e: "erase",
  t: "timeline",
  a: "map",
  i: "api",
  o: "overview",
  h: "sharing",
  s: "context",
};

/** Runs the keys of the page. `view` gives the view that is shown. They rest while somebody types or a dialog is open. */
export function listenToKeys(view) {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    if (!isForPage(event)) return;
    if (isGoing && event.key in GO) {
      isGoing = false;
      event.preventDefault();
      goTo(GO[event.key] === "" ? "#/" : linkTo(GO[event.key]));
      return;
    }
    isGoing = event.key === "g";
    if (event.key === "?") showKeys();
    else if (!view()?.onKey?.(event)) return;
    event.preventDefault();
  });
}

function isForPage({ target, ctrlKey, metaKey, altKey, key }) {
  if (ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) return false;
  const isTyping = target.matches("textarea, select, input:not([type=checkbox])");
  return !isTyping || (key === "Escape" && target.type !== "search");
}

export function showKeys() {
  const dialog = find("dialog");
  dialog.replaceChildren(
    make("h2", { id: "dialog-title", tabindex: "-1" }, "Keyboard"),
    make(
      "dl",
      { class: "facts" },
      KEYS.map(([key, what]) => make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, what))),
    ),
    make(
      "div",
      { class: "buttons" },
      button("Close", () => dialog.close(), "primary"),
    ),
  );
  dialog.showModal();
  dialog.querySelector("h2").focus();
}
