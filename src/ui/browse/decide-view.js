import { binMemory, changeMemory, getMemory, listMemories, undo } from "../calls.js";
import { askToForget } from "../erasure/forget.js";
import { button, emptyState, moreButton, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { textOf } from "../parts/memory-row.js";
import { linkTo } from "../parts/router.js";
import { toast } from "../parts/toasts.js";
import { day, KIND_NAMES, number, ORIGINS } from "../parts/words.js";

/** What waits for a person: quarantined memories, and those that depend on something that has changed. */
export function decideView({ user, changed }) {
  const place = make("div", { class: "cards" });
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "To decide"),
    make(
      "p",
      { class: "lead" },
      "Quarantined memories may be instructions that someone planted: no model sees them until you approve them. The others depend on something that has changed.",
    ),
    place,
  );

  async function load() {
    try {
      const cards = (
        await Promise.all([
          cardsOf(user, QUARANTINED, (memory) => quarantinedCard(memory, actions)),
          cardsOf(user, TO_REVIEW, (memory) => reviewCard(user, memory, actions)),
        ])
      ).flat();
      const done = emptyState(
        "Nothing to decide",
        "Doubtful memories appear here, and wait for your review.",
      );
      place.replaceChildren(...(cards.length > 0 ? cards : [done]));
    } catch (error) {
      place.replaceChildren(problem(error, load));
    }
  }

  async function act(work, done) {
    try {
      const answer = await work();
      const { revision } = answer.receipt ?? answer;
      toast(done, async () => {
        await undo(user, revision);
        await afterChange();
      });
    } catch (error) {
      toast(error.message);
    }
    await afterChange();
  }

  async function afterChange() {
    changed();
    await load();
    (place.querySelector("button") ?? element.querySelector("h2")).focus();
  }

  const actions = {
    approve: ({ id }) => act(() => changeMemory(user, id, { quarantined: false }), "Approved."),
    keep: ({ id }) => act(() => changeMemory(user, id, { reviewed: true }), "Kept."),
    bin: ({ id }) => act(() => binMemory(user, id), "Moved to the bin."),
    erase: ({ id }) => askToForget(user, { ids: [id] }, afterChange),
  };

  return { element, title: "To decide", show: load, refresh: load };
}

const QUARANTINED = { status: "current", quarantined: true };
const TO_REVIEW = { review: true };
/** The number of cards that are shown at first, and that each click adds. */
const PAGE = 100;

/** The cards of the memories that a query gives, and a button for the rest. */
async function cardsOf(user, query, makeCard) {
  const { items, total, cursor } = await listMemories(user, { ...query, limit: PAGE });
  const cards = items.map(makeCard);
  if (!cursor) return cards;
  let next = cursor;
  let left = total - items.length;
  const more = moreButton(
    () => `Show more (${number(left)})`,
    async () => {
      const page = await listMemories(user, { ...query, limit: PAGE, cursor: next });
      more.before(...page.items.map(makeCard));
      next = page.cursor;
      left -= page.items.length;
      return Boolean(next);
    },
  );
  return [...cards, more];
}

function card(memory, ...parts) {
  return make(
    "article",
    { class: "panel" },
    make("a", { href: linkTo("memories", memory.id), class: "panel-title" }, textOf(memory)),
    ...parts,
  );
}

function quarantinedCard(memory, { approve, bin, erase }) {
  const source = memory.sources.at(-1);
  return card(
    memory,
    make(
      "p",
      { class: "small" },
      make("span", { class: "badge amber" }, "Quarantined"),
      `${ORIGINS[memory.origin] ?? ""} · ${day(memory.at)}`,
      memory.why && ` · ${memory.why}`,
    ),
    source && make("blockquote", { class: "small-quote" }, make("q", {}, source.quote)),
    make(
      "div",
      { class: "detail-actions" },
      button("Approve", () => approve(memory)),
      button("Move to bin", () => bin(memory)),
      button("Erase…", () => erase(memory), "danger-text"),
    ),
  );
}

/** Something that a memory depends on, and that has changed. */
function reasonItem(user, id) {
  const item = make("li", {}, "…");
  const load = async () => {
    try {
      item.replaceChildren(make("a", { href: linkTo("memories", id) }, textOf(await getMemory(user, id))));
    } catch (error) {
      item.replaceChildren(error.status === 404 ? "A memory that was erased." : problem(error, load));
    }
  };
  load();
  return item;
}

function reviewCard(user, memory, { keep, bin, erase }) {
  const reasons = make(
    "ul",
    { class: "related" },
    memory.review.because.map((id) => reasonItem(user, id)),
  );
  return card(
    memory,
    make(
      "p",
      { class: "small" },
      make("span", { class: "badge amber" }, "To review"),
      `${KIND_NAMES[memory.kind]} · what it depends on changed on ${day(memory.review.since)}:`,
    ),
    reasons,
    make(
      "div",
      { class: "detail-actions" },
      button("It still holds", () => keep(memory)),
      make("a", { href: linkTo("memories", memory.id), class: "button" }, "Look"),
      button("Move to bin", () => bin(memory)),
      button("Erase…", () => erase(memory), "danger-text"),
    ),
  );
}
