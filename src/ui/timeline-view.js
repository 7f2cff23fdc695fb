import { listMemories } from "./calls.js";
import { emptyState, labelled, moreButton, problem, toDayField } from "./form-parts.js";
import { make, say } from "./make.js";
import { badge, textOf } from "./memory-row.js";
import { goTo, linkTo } from "./router.js";
import { counted, day, KINDS, number } from "./words.js";

const DAY_MS = 86_400_000;
/** The number of memories that are shown at first, the newest, and that each click adds. */
const PAGE = 500;
const PAUSE_MS = 90;

/** What was true on any day of a life, by a slider, and what has changed until now. */
export function timelineView({ user }) {
  const slider = make("input", { type: "range", min: "0", max: "0", step: "1" });
  const date = make("input", { type: "date" });
  const heading = make("h3", {});
  const place = make("div", { class: "timeline" });
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Timeline"),
    make(
      "p",
      { class: "lead" },
      "What was true on a day, as far as it was said. Drag the slider, or choose a day.",
    ),
    make("div", { class: "when" }, labelled("Day", slider), labelled("Date", date)),
    heading,
    place,
  );
  let start;
  let run = 0;
  let timer;

  const dayAt = (value) => new Date(start.getTime() + Number(value) * DAY_MS);

  slider.oninput = () => {
    date.value = toDayField(dayAt(slider.value));
    slider.setAttribute("aria-valuetext", day(dayAt(slider.value)));
    clearTimeout(timer);
    timer = setTimeout(
      () => goTo(linkTo("timeline", undefined, { at: date.value }), { replace: true }),
      PAUSE_MS,
    );
  };
  date.onchange = () => goTo(linkTo("timeline", undefined, { at: date.value }));

  async function show(route) {
    run += 1;
    const thisRun = run;
    try {
      start ??= await findStart(user);
      if (start === undefined) {
        place.replaceChildren(
          emptyState("Nothing is known yet", "The timeline begins with the first memory."),
        );
        return;
      }
      const at = route.query.get("at") || toDayField(new Date());
      const noon = new Date(`${at}T12:00`);
      slider.max = String(Math.max(1, Math.round((Date.now() - start) / DAY_MS)));
      slider.value = String(Math.round((noon - start) / DAY_MS));
      slider.setAttribute("aria-valuetext", day(noon));
      date.value = at;
      const query = { as_of: noon.toISOString(), limit: PAGE };
      const found = await listMemories(user, query);
      if (thisRun !== run) return;
      heading.textContent = `${day(noon)}: ${counted(found.total, "memory", "memories")}`;
      say(heading.textContent);
      showPages(place, found, (cursor) => listMemories(user, { ...query, cursor }));
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error, () => show(route)));
    }
  }

  return { element, title: "Timeline", show };
}

/** The day of the first memory. */
async function findStart(user) {
  const { items } = await listMemories(user, { status: "all", sort: "oldest", limit: 1 });
  return items[0] && new Date(new Date(items[0].at).setHours(0, 0, 0, 0));
}

/** Shows a page of memories in groups, and a button that adds the next page to them. */
function showPages(place, { items, total, cursor }, read) {
  const shown = [...items];
  let next = cursor;
  const list = make("div", {}, groups(shown));
  const more = moreButton(
    () => `Show more (${number(total - shown.length)})`,
    async () => {
      const page = await read(next);
      shown.push(...page.items);
      next = page.cursor;
      list.replaceChildren(...groups(shown));
      return Boolean(next);
    },
  );
  place.replaceChildren(list, ...(next ? [more] : []));
}

function groups(items) {
  if (items.length === 0)
    return [emptyState("Nothing was known", "Nothing that was true then has been said.")];
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
