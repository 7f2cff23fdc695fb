import { binMemory, changeMemory, getMemory, listMemories, undo } from "./calls.js";
import { askToForget } from "./forget.js";
import { button, emptyState, problem } from "./form-parts.js";
import { make } from "./make.js";
import { textOf } from "./memory-row.js";
import { linkTo } from "./router.js";
import { toast } from "./toasts.js";
import { day, KIND_NAMES, ORIGINS } from "./words.js";

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
      "Quarantined memories may be instructions that somebody planted: no model sees them until you approve. The others hang on something that has changed.",
    ),
    place,
  );

  async function load() {
    try {
      const [aside, review] = await Promise.all([
        listMemories(user, { status: "current", quarantined: true, limit: 100 }),
        listMemories(user, { review: true, limit: 100 }),
      ]);
      const cards = [
        ...aside.items.map((memory) => quarantinedCard(memory, actions)),
        ...review.items.map((memory) => reviewCard(user, memory, actions)),
      ];
      const done = emptyState(
        "Nothing to decide",
        "What is doubtful appears here, and waits until you have seen it.",
      );
      place.replaceChildren(...(cards.length > 0 ? cards : [done]));
    } catch (error) {
      place.replaceChildren(problem(error));
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

function reviewCard(user, memory, { keep, bin, erase }) {
  const reasons = make("ul", { class: "related" });
  for (const id of memory.review.because) {
    getMemory(user, id)
      .then((other) =>
        reasons.append(make("li", {}, make("a", { href: linkTo("memories", id) }, textOf(other)))),
      )
      .catch(() => {});
  }
  return card(
    memory,
    make(
      "p",
      { class: "small" },
      make("span", { class: "badge amber" }, "To review"),
      `${KIND_NAMES[memory.kind]} · what it depends on has changed on ${day(memory.review.since)}:`,
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
