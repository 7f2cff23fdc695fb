import { listFacets, listMemories } from "../calls.js";
import { emptyState, labelled, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { badge, textOf } from "../parts/memory-row.js";
import { linkTo } from "../parts/router.js";
import { subjectName } from "../parts/subject-names.js";
import { counted, day, number } from "../parts/words.js";

const MOST_SUBJECTS = 500;
/** The newest statements about each. */
const MOST_SHOWN = 10;
const CURRENT = { status: "current", quarantined: "false" };

/** People and things: who and what memories are about, by the subjects and the names in them. */
export function peopleView({ user }) {
  const field = make("input", { type: "search", autocomplete: "off", maxlength: "200" });
  const count = make("p", { class: "count-line", role: "status" });
  const place = make("div", {});
  let people = [];
  let run = 0;

  async function show() {
    run += 1;
    const thisRun = run;
    try {
      const [facets, named] = await Promise.all([
        listFacets(user, { ...CURRENT, by: "subject", limit: MOST_SUBJECTS }),
        listMemories(user, { ...CURRENT, kind: "entity", limit: 1000 }),
      ]);
      if (thisRun !== run) return;
      people = toPeople(facets.items, named.items);
      draw();
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error));
    }
  }

  function draw() {
    const wanted = field.value.trim().toLowerCase();
    const shown = people.filter(({ name }) => name.toLowerCase().includes(wanted));
    count.textContent = counted(shown.length, "person or thing", "people and things");
    place.replaceChildren(
      ...(shown.length > 0
        ? shown.map((one) => personFold(user, one))
        : [
            emptyState(
              "Nobody yet",
              "The people and things that you mention appear here, with what is known about each.",
            ),
          ]),
    );
  }
  field.oninput = draw;

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "People and things"),
    make(
      "p",
      { class: "lead" },
      "The people and things that you mention, and what is known about each. Open one to read it.",
    ),
    labelled("Find a name", field),
    count,
    place,
  );
  return { element, title: "People and things", show, refresh: show };
}

/** The persons and things with their names: "Eva, your sister". A name that only names one of them is not there twice. */
function toPeople(items, named) {
  const names = new Map(
    named
      .filter(({ claim }) => claim?.relation === "be called")
      .map(({ claim }) => [claim.subject.toLowerCase(), claim.value]),
  );
  const used = new Set([...names.values()].map((name) => name.toLowerCase()));
  return items
    .filter(({ value, count }) => count > 1 || !used.has(value.toLowerCase()))
    .map(({ value, count }) => {
      const name = names.get(value.toLowerCase());
      const role = subjectName(value);
      return { value, count, name: name ? `${name}, ${role[0].toLowerCase()}${role.slice(1)}` : role };
    });
}

function personFold(user, { value, count, name }) {
  const place = make("div", {});
  const fold = make(
    "details",
    { class: "memory-group" },
    make("summary", {}, name, " ", make("span", { class: "count" }, number(count))),
    place,
  );
  fold.ontoggle = async () => {
    if (!fold.open) return;
    try {
      const { items } = await listMemories(user, { ...CURRENT, subject: value, limit: MOST_SHOWN });
      place.replaceChildren(make("ul", { class: "plain-rows" }, items.map(row)), allLink(value, count));
    } catch (error) {
      place.replaceChildren(problem(error));
    }
  };
  return fold;
}

function row(memory) {
  return make(
    "li",
    {},
    make("a", { href: linkTo("memories", memory.id) }, textOf(memory)),
    make("p", { class: "row-line" }, badge(memory), `said ${day(memory.at)}`),
  );
}

function allLink(value, count) {
  const text = count > 1 ? `All ${number(count)} in the list` : "In the list";
  return make(
    "p",
    { class: "small group-end" },
    make("a", { href: linkTo("memories", undefined, { subject: value }) }, text),
  );
}
