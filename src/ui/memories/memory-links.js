import { linkMemories, search, undo, unlinkMemories } from "../calls.js";
import { button, choice, labelled, moreButton, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { badge, textOf } from "../parts/memory-row.js";
import { linkTo } from "../parts/router.js";
import { toast } from "../parts/toasts.js";
import { number, percent } from "../parts/words.js";

/** The words for each type of association, from one end and from the other. */
export const LINK_WORDS = {
  related_to: ["Related to", "Related to"],
  depends_on: ["Depends on", "Is needed by"],
  contradicts: ["Contradicts", "Contradicts"],
  extends: ["Extends", "Is extended by"],
  derived_from: ["Follows from", "Is a ground for"],
};
const INFERRED = { "told together": "Told together with", "about the same": "About the same as" };
const TYPE_OPTIONS = Object.entries(LINK_WORDS).map(([type, [forth]]) => [type, forth]);

const MOST_OFFERED = 8;
const TYPING_MS = 150;

/** The number of associations that are shown at first, the strongest, and that each click adds. */
const RELATED_PAGE = 20;

/**
 * What a memory goes with, with buttons to associate it with another and to remove an association. `related` has the strongest
 * `items` and the `total` of all. `changed` runs after.
 */
export function linkSection(user, memory, related, changed) {
  const act = async (work, done) => {
    try {
      const { revision } = await work();
      toast(done, async () => {
        await undo(user, revision);
        changed();
      });
      changed();
    } catch (error) {
      toast(error.message);
    }
  };
  const remove = ({ from, to, type }) =>
    act(() => unlinkMemories(user, { from, to, type }), "Association removed.");
  const place = make("div", {});
  const openForm = () => {
    open.hidden = true;
    const close = () => {
      open.hidden = false;
      place.replaceChildren();
      open.focus();
    };
    const add = (to, type) =>
      act(() => linkMemories(user, { from: memory.id, to, type, strength: 1 }), "Associated.");
    place.replaceChildren(linkForm(user, memory, { add, close }));
    place.querySelector("input").focus();
  };
  const open = button("Associate…", openForm, "small-button");
  return [
    make(
      "section",
      { class: "part" },
      make("h4", {}, "Goes with"),
      linkList(related, (item) => linkItem(memory, item, remove)),
      open,
      place,
    ),
  ];
}

/** The associations, strongest first, a part at a time. */
function linkList({ items, total = items.length }, makeItem) {
  if (items.length === 0) return [];
  const list = make("ul", { class: "related" });
  let shown = 0;
  const showMore = () => {
    const next = items.slice(shown, shown + RELATED_PAGE);
    list.append(...next.map(makeItem));
    shown += next.length;
    return shown < items.length;
  };
  const isMore = showMore();
  return [
    list,
    isMore && moreButton(() => `Show more (${number(items.length - shown)})`, showMore),
    total > items.length &&
      make("p", { class: "small" }, `The ${number(items.length)} strongest of ${number(total)}.`),
  ];
}

function linkItem({ id }, { memory, strength, path }, remove) {
  const step = path[0];
  const [forth, back] = LINK_WORDS[step.type] ?? [step.type, step.type];
  const word = INFERRED[step.inferred] ?? (step.from === id ? forth : back);
  const isStored = path.length === 1 && !step.inferred;
  return make(
    "li",
    { class: "with-action" },
    make(
      "div",
      {},
      make("span", { class: "small" }, `${word} · ${percent(strength)} `, badge(memory)),
      make("a", { href: linkTo("memories", memory.id) }, textOf(memory)),
    ),
    isStored &&
      make(
        "button",
        {
          type: "button",
          class: "quiet",
          "aria-label": `Remove the association with: ${textOf(memory)}`,
          onclick: () => remove(step),
        },
        "Remove",
      ),
  );
}

/** Finds another memory by its words, and associates it. */
function linkForm(user, memory, { add, close }) {
  const words = make("input", { type: "search", autocomplete: "off", maxlength: "500" });
  const type = choice("type", TYPE_OPTIONS, "related_to");
  const found = make("ul", { class: "offers", "aria-label": "Memories found" });
  let timer;
  let run = 0;
  async function load() {
    run += 1;
    const thisRun = run;
    const query = words.value.trim();
    if (query === "") return found.replaceChildren();
    try {
      const { items } = await search(user, query, { top_k: MOST_OFFERED, types: ["memory"], explain: false });
      if (thisRun !== run) return;
      const others = items.filter(({ id }) => id !== memory.id);
      const rows = others.map((one) =>
        make(
          "li",
          {},
          button(textOf(one), () => add(one.id, type.value)),
        ),
      );
      found.replaceChildren(...(rows.length > 0 ? rows : [make("li", { class: "small" }, "Nothing found.")]));
      found.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (thisRun === run) found.replaceChildren(make("li", {}, problem(error)));
    }
  }
  words.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(load, TYPING_MS);
  };
  return make(
    "form",
    {
      class: "edit",
      onsubmit: (event) => {
        event.preventDefault();
        load();
      },
      onkeydown: (event) => {
        if (event.key === "Escape") close();
      },
    },
    labelled("This memory", type),
    labelled("The other one, by its words", words),
    found,
    make("div", { class: "buttons" }, button("Cancel", close)),
  );
}
