import { buildContext, explainRecall, listPrompts, search } from "../calls.js";
import { choice, emptyState, labelled, moreButton, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { goTo, linkTo } from "../parts/router.js";
import { counted, moment, number } from "../parts/words.js";
import { givenPrompt } from "./given-prompts.js";
import { scoreTable } from "./score-table.js";

const WAYS = [
  ["context", "Context"],
  ["recall", "Recall, with scores"],
];

const WEIGHTS = ["similarity", "recency", "access", "confidence", "evidence", "importance"];

/** Weights to try a recall with. All at 0: the ranking that is set. */
function weightFields() {
  const fields = WEIGHTS.map((name) => [
    name,
    make("input", { type: "range", min: "0", max: "1", step: "0.1", value: "0" }),
  ]);
  const element = make(
    "details",
    { class: "more-filters" },
    make("summary", {}, "Weights"),
    make(
      "p",
      { class: "small" },
      "Move a slider to rank by it. With all at the left, the configured ranking is used.",
    ),
    make(
      "div",
      { class: "filter-grid" },
      fields.map(([name, field]) => labelled(name, field)),
    ),
  );
  return {
    element,
    fields: fields.map(([, field]) => field),
    /** The weights that are moved; `undefined` for none. */
    value() {
      const moved = fields
        .map(([name, field]) => [name, Number(field.value)])
        .filter(([, weight]) => weight > 0);
      return moved.length > 0 ? Object.fromEntries(moved) : undefined;
    },
  };
}

/** What a model would be told for a request, and why; or a recall with the parts of each score. */
export function contextView({ user }) {
  const request = make("textarea", { rows: "2", maxlength: "10000", placeholder: "Plan my Saturday" });
  const way = choice("way", WAYS);
  const budget = make("input", { type: "number", min: "1", max: "100000", value: "1500" });
  const weights = weightFields();
  const place = make("div", { class: "context-place" });
  const recent = recentSection(user);
  let run = 0;

  const form = make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        goTo(linkTo("context", undefined, { q: request.value.trim(), way: way.value }));
        load();
      },
    },
    labelled("What somebody asks", request),
    make("div", { class: "filter-grid" }, labelled("Show", way), labelled("Most tokens", budget)),
    weights.element,
    make("button", { type: "submit", class: "primary" }, "Show"),
  );
  request.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  };

  for (const field of weights.fields)
    field.onchange = () => {
      way.value = "recall";
      form.requestSubmit();
    };

  async function load() {
    run += 1;
    const thisRun = run;
    const asked = request.value.trim();
    if (asked === "") return place.replaceChildren();
    place.replaceChildren(make("p", { class: "small" }, "Asking…"));
    try {
      const parts =
        way.value === "recall"
          ? await showRecall(user, asked, weights.value())
          : await showContext(user, asked, Number(budget.value));
      if (thisRun === run) place.replaceChildren(...parts);
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error, load));
    }
  }

  function show(route) {
    recent.load();
    const asked = route.query.get("q") ?? "";
    const wanted = route.query.get("way") === "recall" ? "recall" : "context";
    if (asked === request.value.trim() && wanted === way.value) return;
    request.value = asked;
    way.value = wanted;
    load();
  }

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "What models see"),
    make(
      "p",
      { class: "lead" },
      "Before a model answers, it is told this: wishes for answers, a short profile, and what bears on the request. It contains nothing outdated.",
    ),
    form,
    place,
    recent.element,
  );
  return { element, title: "What models see", show, refresh: recent.load };
}

/** What models were given recently; hidden while there is nothing. */
function recentSection(user) {
  const element = make("section", { class: "recent", hidden: true });
  return {
    element,
    async load() {
      const { items } = await listPrompts(user, { limit: 50 }).catch(() => ({ items: [] }));
      element.hidden = items.length === 0;
      element.replaceChildren(...recentParts(user, items));
    },
  };
}

function recentParts(user, items) {
  return [
    make("h3", {}, "What models saw recently"),
    make(
      "p",
      { class: "small" },
      "Kept on the server for at most a day, and removed by the next erasure. A chat through the proxy shows it under its turn, too.",
    ),
    make(
      "ul",
      { class: "plain-rows" },
      items.map((prompt) => make("li", {}, requestLine(prompt), givenPrompt(user, prompt))),
    ),
  ];
}

function requestLine({ request, session_id: session, message_id: message }) {
  const words = make("q", {}, request);
  return session ? make("a", { href: linkTo("conversations", session, {}, message) }, words) : words;
}

async function showContext(user, asked, maxTokens) {
  const { text, tokens, items, left, recall_id: id } = await buildContext(user, asked, maxTokens || 1500);
  const reasons = await explainRecall(user, id).catch((error) => ({ error }));
  if (text === "") return [emptyState("Nothing is told", "Nothing in memory bears on this request.")];
  return [
    make(
      "p",
      { class: "count-line" },
      `About ${counted(tokens, "token", "tokens")}.`,
      left > 0 && ` ${counted(left, "relevant item", "relevant items")} had no room.`,
    ),
    make("pre", { class: "code", tabindex: "0", "aria-label": "The text for the prompt" }, text),
    make("h3", {}, "Why each was chosen"),
    reasons.error &&
      make("p", { class: "problem" }, `The reasons could not be read: ${reasons.error.message}`),
    scoreTable(items, reasons.items ?? []),
    ...droppedPart(reasons.dropped ?? []),
    reasons.at && make("p", { class: "small" }, `Recall ${id}, ${moment(reasons.at)}`),
  ].filter(Boolean);
}

/** The most items of a recall that are shown. */
const MOST_RECALLED = 30;

async function showRecall(user, asked, weights) {
  const { items, explanation } = await search(user, asked, { top_k: MOST_RECALLED, weights });
  if (items.length === 0)
    return [
      emptyState("Nothing is relevant", "A recall returns nothing rather than something irrelevant."),
      ...droppedPart(explanation?.dropped ?? []),
    ];
  const { considered, threshold, profile, dropped } = explanation;
  return [
    make(
      "p",
      { class: "count-line" },
      `${items.length === MOST_RECALLED ? "The best " : ""}${number(items.length)} of ${number(considered)} considered, ranking “${profile}”, threshold ${threshold.toFixed(3)}.`,
    ),
    scoreTable(items, []),
    ...droppedPart(dropped),
  ];
}

/** The number of items that were left out that are shown at first, and that each click adds. */
const DROPPED_PAGE = 100;

/** What was considered and not given, with the reasons. */
function droppedPart(dropped) {
  if (dropped.length === 0) return [];
  const list = make("ul", { class: "plain-rows" });
  let shown = 0;
  const showMore = () => {
    list.append(...dropped.slice(shown, shown + DROPPED_PAGE).map(droppedItem));
    shown += DROPPED_PAGE;
    return shown < dropped.length;
  };
  return [
    make(
      "details",
      { class: "fold" },
      make("summary", {}, `Left out: ${number(dropped.length)}`),
      list,
      showMore() && moreButton(() => `Show more (${number(dropped.length - shown)})`, showMore),
    ),
  ];
}

function droppedItem({ id, type, score, why }) {
  return make(
    "li",
    {},
    type === "memory" ? make("a", { href: linkTo("memories", id) }, id) : make("code", {}, id),
    make(
      "p",
      { class: "row-line" },
      `${why ?? "left out"}${score === undefined ? "" : ` · ${score.toFixed(3)}`}`,
    ),
  );
}
