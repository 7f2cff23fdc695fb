import { make } from "./make.js";
import { markWords } from "./marks.js";
import { linkTo } from "./router.js";
import { day, KIND_NAMES, stateOf } from "./words.js";

/** The content of a memory's row: a box to select it, its text as a link, and a line of where it comes from. */
export function memoryRow(memory, { query, selection, openId }) {
  const box = make("input", {
    type: "checkbox",
    "aria-label": `Select: ${textOf(memory)}`,
    checked: selection.has(memory.id),
    onclick: (event) => selection.toggle(memory, event.currentTarget.checked, event.shiftKey),
  });
  return [
    make("label", { class: "pick" }, box),
    make(
      "div",
      { class: "row-text" },
      make(
        "a",
        {
          href: linkTo("memories", memory.id, query),
          class: memory.status === "current" ? undefined : "past",
          "aria-current": memory.id === openId && "true",
        },
        markWords(textOf(memory), memory.why?.words ?? []),
      ),
      make("p", { class: "row-line" }, badge(memory), lineOf(memory)),
    ),
  ];
}

export const textOf = (memory) => memory.display ?? memory.text;

export function badge(memory) {
  const state = stateOf(memory);
  return state && make("span", { class: `badge ${state[1]}` }, state[0]);
}

function lineOf(memory) {
  const parts = [KIND_NAMES[memory.kind] ?? "", day(memory.at)];
  const source = memory.sources?.at(-1);
  return [parts.filter(Boolean).join(" · "), source ? " · " : "", source ? make("q", {}, source.quote) : ""];
}
