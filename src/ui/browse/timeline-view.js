import { listMemories } from "../calls.js";
import { emptyState, labelled, moreButton, problem, toDayField } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { badge, textOf } from "../parts/memory-row.js";
import { toNextDay } from "../parts/memory-source.js";
import { goTo, linkTo } from "../parts/router.js";
import { counted, day, KINDS, number } from "../parts/words.js";

const DAY_MS = 86_400_000;
/** The number of memories that are shown at first, the newest, and that each click adds. */
const PAGE = 500;
const PAUSE_MS = 90;

/** What the slider asks: its value in the address, its name, and what it means. */
const QUESTIONS = [
  ["", "What was true", "What was true on a day, as far as it is known now."],
  [
    "known",
    "What was known",
    "The list of memories as it was at the end of a day, without what was erased since.",
  ],
];

/** What was true, or what was known, on any day of a life: a slider, and the list for that day. */
export function timelineView({ user }) {
  const slider = make("input", { type: "range", min: "0", max: "0", step: "1" });
  const date = make("input", { type: "date" });
  const heading = make("h3", {});
  const lead = make("p", { class: "lead" });
  const place = make("div", { class: "timeline" });
  const questions = questionFields((by) => goTo(addressFor(date.value, by)));
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Timeline"),
    lead,
    questions.element,
    make("div", { class: "when" }, labelled("Day", slider), labelled("Date", date)),
    heading,
    place,
  );
  let start;
  let run = 0;
  let timer;

  const dayAt = (value) => {
    const moment = new Date(start);
    moment.setDate(moment.getDate() + Number(value));
    return moment;
  };

  slider.oninput = () => {
    date.value = toDayField(dayAt(slider.value));
    slider.setAttribute("aria-valuetext", day(dayAt(slider.value)));
    clearTimeout(timer);
    timer = setTimeout(() => goTo(addressFor(date.value, questions.value()), { replace: true }), PAUSE_MS);
  };
  date.onchange = () => goTo(addressFor(date.value, questions.value()));

  function setDay(at) {
    const noon = new Date(`${at}T12:00`);
    slider.max = String(Math.max(1, toDayNumber(new Date()) - toDayNumber(start)));
    slider.value = String(toDayNumber(noon) - toDayNumber(start));
    slider.setAttribute("aria-valuetext", day(noon));
    date.value = at;
  }

  async function show(route) {
    run += 1;
    const thisRun = run;
    const by = route.query.get("by") === "known" ? "known" : "";
    questions.choose(by);
    lead.textContent = QUESTIONS.find(([value]) => value === by)[2];
    try {
      start ??= await findStart(user);
      if (start === undefined) {
        place.replaceChildren(
          emptyState("Nothing is known yet", "The timeline begins with the first memory."),
        );
        return;
      }
      const at = toDay(route.query.get("at"));
      setDay(at);
      const query = { ...toMoment(at, by), limit: PAGE };
      const found = await listMemories(user, query);
      if (thisRun !== run) return;
      const count = counted(found.total, "memory", "memories");
      heading.textContent =
        by === "known" ? `Known on ${day(`${at}T12:00`)}: ${count}` : `${day(`${at}T12:00`)}: ${count}`;
      say(heading.textContent);
      showPages(place, found, { by, read: (cursor) => listMemories(user, { ...query, cursor }) });
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error, () => show(route)));
    }
  }

  return { element, title: "Timeline", show };
}

/** The number of a local day. Local days have 23 to 25 hours, so they are counted by their dates. */
const toDayNumber = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS;

const addressFor = (at, by) => linkTo("timeline", undefined, { at, by });

/** A day of the address; today, where it is none. */
function toDay(text) {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(Date.parse(text));
  return isDay ? text : toDayField(new Date());
}

/** The parameters of the list for a day: what was true at noon, or what was stored when the day ended. */
function toMoment(at, by) {
  if (by !== "known") return { as_of: new Date(`${at}T12:00`).toISOString() };
  return { known_at: toNextDay(at), status: "current", quarantined: "false" };
}

/** The choice of the question. `choose` sets it. */
function questionFields(chosen) {
  const fields = QUESTIONS.map(([value, text]) => {
    const field = make("input", { type: "radio", name: "question", value, onchange: () => chosen(value) });
    return [field, make("label", {}, field, " ", text)];
  });
  return {
    element: make(
      "fieldset",
      { class: "scopes" },
      make("legend", {}, "Show"),
      fields.map(([, label]) => label),
    ),
    value: () => fields.find(([field]) => field.checked)?.[0].value ?? "",
    choose(value) {
      for (const [field] of fields) field.checked = field.value === value;
    },
  };
}

/** The day of the first memory. */
async function findStart(user) {
  const { items } = await listMemories(user, { status: "all", sort: "oldest", limit: 1 });
  return items[0] && new Date(new Date(items[0].at).setHours(0, 0, 0, 0));
}

/** Shows a page of memories in groups, and a button that adds the next page to them. */
function showPages(place, { items, total, cursor }, { by, read }) {
  const shown = [...items];
  let next = cursor;
  const list = make("div", {}, groups(shown, by));
  const more = moreButton(
    () => `Show more (${number(total - shown.length)})`,
    async () => {
      const page = await read(next);
      shown.push(...page.items);
      next = page.cursor;
      list.replaceChildren(...groups(shown, by));
      return Boolean(next);
    },
  );
  place.replaceChildren(list, ...(next ? [more] : []));
}

const NOTHING = {
  "": ["Nothing was known", "Nothing is known about that time."],
  known: [
    "Nothing had been stored",
    "No memory was stored by the end of that day. What is true of that time may have been said later: choose “What was true”.",
  ],
};

function groups(items, by) {
  if (items.length === 0) return [emptyState(...NOTHING[by])];
  return KINDS.map(([kind, title]) => [title, items.filter((memory) => memory.kind === kind)])
    .filter(([, some]) => some.length > 0)
    .map(([title, some]) =>
      make(
        "section",
        { class: "group" },
        make("h4", {}, title),
        make("ul", { class: "plain-rows" }, some.map(row)),
      ),
    );
}

function row(memory) {
  const { valid_to: until, status } = memory;
  return make(
    "li",
    {},
    make("a", { href: linkTo("memories", memory.id) }, textOf(memory)),
    make(
      "p",
      { class: "row-line" },
      badge(memory),
      `said ${day(memory.at)}`,
      until && status !== "current" && ` · until ${day(until)}`,
    ),
  );
}
