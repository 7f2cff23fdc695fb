import { listFacets } from "../calls.js";
import { problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { listGroup, toGroupFilters, toListQuery } from "../parts/memory-source.js";
import { linkTo } from "../parts/router.js";
import { subjectName } from "../parts/subject-names.js";
import { counted, KIND_NAMES, month, number, TOPIC_NAMES } from "../parts/words.js";

/** The most groups, and the most rows of each. */
const MOST_GROUPS = 200;
const MOST_ROWS = 100;

const NAMES = {
  topic: (value) => TOPIC_NAMES[value] ?? value,
  subject: subjectName,
  kind: (value) => KIND_NAMES[value] ?? value,
  month,
};

/**
 * The list in groups, with the methods of the virtual list: by topic, by person or thing, by kind, or by month. The rows of a
 * group are loaded when it is opened. `query` gives the filters as they stand in the address.
 */
export function memoryGroups({ user, query, makeRow, loaded, failed }) {
  const element = make("div", { class: "scroller" });
  let total = 0;
  /** The open groups by value, each with its memories once they are loaded. */
  let open = new Map();
  let run = 0;

  async function reload({ keepPlace = false } = {}) {
    run += 1;
    const thisRun = run;
    const { group, ...filters } = query();
    if (!keepPlace) {
      element.replaceChildren();
      open = new Map();
    }
    try {
      const facets = await listFacets(user, { ...toListQuery(filters), by: group, limit: MOST_GROUPS });
      if (thisRun !== run) return;
      total = facets.total;
      const groups = facets.items.map(({ value, count }) => groupElement(group, value, count, filters));
      element.replaceChildren(...groups, leftLine(facets));
      loaded(total);
    } catch (error) {
      if (thisRun === run) failed(error);
    }
  }

  function groupElement(by, value, count, filters) {
    const place = make("div", {});
    const wanted = toGroupFilters(filters, by, value);
    const fill = async () => {
      try {
        const items = await listGroup(user, wanted, MOST_ROWS);
        open.set(value, items);
        draw(place, items, count, wanted);
      } catch (error) {
        place.replaceChildren(problem(error));
      }
    };
    const group = make(
      "details",
      { class: "memory-group", open: open.has(value) },
      make("summary", {}, NAMES[by](value), " ", make("span", { class: "count" }, number(count))),
      place,
    );
    group.ontoggle = () => {
      if (group.open) return fill();
      open.delete(value);
      place.replaceChildren();
    };
    return group;
  }

  function draw(place, items, count, { alone, also }) {
    const rows = items.map((memory) => make("li", { class: "row still" }, makeRow(memory)));
    place.replaceChildren(
      make("ul", {}, rows),
      make(
        "p",
        { class: "small group-end" },
        count > items.length && `The newest ${number(items.length)}. `,
        // An address has one value of each filter.
        !also && make("a", { href: linkTo("memories", undefined, alone) }, "Show these alone"),
      ),
    );
    for (const [i, stop] of listStops().entries()) {
      const row = stop.closest(".row");
      if (row) row.dataset.place = String(i);
    }
  }

  /** What j and k stop at: headings and rows. */
  const listStops = () => [...element.querySelectorAll("summary, .row-text a")];

  return {
    element,
    total: () => total,
    known: () => [...new Map([...open.values()].flat().map((memory) => [memory.id, memory])).values()],
    reload,
    redraw: () => reload({ keepPlace: true }),
    focus: (place) => listStops()[place]?.focus(),
    /** The place among headings and rows of what has the focus; -1 for none. */
    focused: () => listStops().indexOf(document.activeElement),
  };
}

function leftLine({ left }) {
  if (left === 0) return "";
  return make("p", { class: "small group-end" }, `${counted(left, "memory", "memories")} in no group.`);
}
