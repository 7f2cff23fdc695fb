import { getMessage } from "../calls.js";
import { make } from "../parts/make.js";
import { markSpans } from "../parts/marks.js";
import { counted, moment } from "../parts/words.js";

/** Messages that are read in full, to show the words in their place. */
const MOST_READ = 30;

export const isEmptyPlan = (plan) => plan.memories.length + plan.messages.length === 0;

/**
 * Shows what an erasure would take: each memory, and each message with the words that go struck out. What it leaves because
 * it is not sure of it has a box each: `chosen` gives the ids of those that are ticked.
 */
export function erasurePlan(user, plan) {
  const { memories, messages, unsure = [] } = plan;
  const words = messages.flatMap((message) => message.words).length;
  const unsureMemories = unsure.flatMap((one) => one.memories);
  const boxes = unsureMemories.map(({ id, text }) =>
    make("input", { type: "checkbox", value: id, "aria-label": text }),
  );
  const parts = [
    memories.length > 0 &&
      section(
        counted(memories.length, "memory", "memories"),
        memories.map((memory) => make("li", {}, make("del", {}, memory.display))),
      ),
    words > 0 &&
      section(
        `Words in ${counted(messages.length, "message", "messages")}`,
        messages.map((message, i) => messageItem(user, message, i < MOST_READ)),
      ),
    boxes.length > 0 &&
      section(
        "Perhaps meant too: it stays unless you tick it",
        unsureMemories.map(({ text }, i) =>
          make("li", { class: "maybe" }, make("label", {}, boxes[i], ` ${text}`)),
        ),
      ),
    ...unsure.flatMap(({ quotes }) => quotesPart(quotes)),
  ];
  return { parts, chosen: () => boxes.filter((box) => box.checked).map((box) => box.value) };
}

function quotesPart(quotes) {
  if (quotes.length === 0) return [];
  const items = quotes.map(({ quote }) => make("li", { class: "maybe" }, make("q", {}, quote.trim())));
  return [section("Words that are perhaps meant too, and stay", items)];
}

function section(title, items) {
  return make("div", { class: "plan" }, make("h3", {}, title), make("ul", {}, items));
}

/** A message, with the words alone first, and in their place once the message is read. */
function messageItem(user, { id, at, words }, isRead) {
  const text = make(
    "p",
    { class: "plan-text" },
    words.flatMap((word) => [make("del", {}, word.trim()), " "]),
  );
  const item = make("li", {}, make("time", { class: "small", datetime: at }, moment(at)), text);
  if (isRead)
    getMessage(user, id)
      .then(({ content }) => text.replaceChildren(...markSpans(content, findSpans(content, words), "del")))
      .catch(() => {});
  return item;
}

/** Where each of the words stands, in order. */
function findSpans(content, words) {
  let from = 0;
  return words.flatMap((word) => {
    const start = content.indexOf(word, from);
    if (start === -1) return [];
    from = start + word.length;
    return [[start, from]];
  });
}
