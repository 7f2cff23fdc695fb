import { getClusters, getReflections } from "../calls.js";
import { button, emptyState, problem, whileDisabled } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { textOf } from "../parts/memory-row.js";
import { linkTo } from "../parts/router.js";
import { counted, month as monthName, number } from "../parts/words.js";

/** What is known in groups by topic, and what was said by month. Both are computed at each call. */
export function overviewView({ user }) {
  const place = make("div", {});
  let run = 0;

  async function show() {
    run += 1;
    const thisRun = run;
    place.replaceChildren(make("p", { class: "small" }, "Grouping…"));
    try {
      const [clusters, reflections] = await Promise.all([getClusters(user), getReflections(user)]);
      if (thisRun === run) place.replaceChildren(groupPart(clusters), monthPart(reflections, reword));
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error, show));
    }
  }

  /** Has a model word what was said by month. */
  async function reword(months) {
    try {
      months.replaceWith(monthPart(await getReflections(user, "model")));
    } catch (error) {
      months.append(problem(error));
    }
  }

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Overview"),
    make("p", { class: "lead" }, "Memories that belong together, and what was said in each month."),
    place,
  );
  return { element, title: "Overview", show };
}

function groupPart({ items, left }) {
  return make(
    "section",
    { class: "groups" },
    make("h3", {}, "Groups"),
    items.length === 0
      ? emptyState("No groups yet", "A group needs several memories about one topic.")
      : items.map(({ name, size, memories }) =>
          group(
            `${name}: ${counted(size, "memory", "memories")}`,
            memories.map((memory) => memoryLink(memory.id, textOf(memory))),
          ),
        ),
    left > 0 && make("p", { class: "small" }, `${counted(left, "memory", "memories")} in no group.`),
  );
}

/** With `reword`, a button that has a model word it. Without, it says whose words they are. */
function monthPart({ items, total }, reword) {
  const ask = button("In a model's words", () => whileDisabled(ask, () => reword(section)), "small-button");
  const note = items.some(({ by }) => by === "model")
    ? "In a model's words, from the memories that are numbered."
    : "No model gave usable words: these are those of the memories.";
  const section = make(
    "section",
    { class: "months" },
    make("h3", {}, "By month"),
    items.length > 0 && (reword ? ask : make("p", { class: "small" }, note)),
    items.length === 0
      ? emptyState("Nothing to sum up", "A summary needs two memories about one topic in a month.")
      : items.map(({ topic, month, text, memories }) =>
          group(`${monthName(month)}: ${topic}`, [
            make(
              "span",
              {},
              text,
              " ",
              memories.flatMap((id, i) => [make("a", { href: linkTo("memories", id) }, `[${i + 1}]`), " "]),
            ),
          ]),
        ),
    total > items.length &&
      make("p", { class: "small" }, `The newest ${number(items.length)} of ${number(total)} are shown.`),
  );
  return section;
}

function group(title, rows) {
  return make(
    "section",
    { class: "group" },
    make("h4", {}, title),
    make(
      "ul",
      { class: "plain-rows" },
      rows.map((row) => make("li", {}, row)),
    ),
  );
}

const memoryLink = (id, text) => make("a", { href: linkTo("memories", id) }, text);
