import { listMemories } from "../calls.js";
import { button, emptyState, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { memoryRow } from "../parts/memory-row.js";
import { createSource, MOST_FOUND, toListQuery } from "../parts/memory-source.js";
import { goTo, linkTo, parseRoute } from "../parts/router.js";
import { virtualList } from "../parts/virtual-list.js";
import { counted, number } from "../parts/words.js";
import { ARRANGEMENTS, FILTERS, filterFields } from "./memory-filters.js";
import { addMemoryForm } from "./memory-form.js";
import { memoryGroups } from "./memory-groups.js";
import { MOST_SELECTED, memorySelection } from "./memory-selection.js";
import { memoryView } from "./memory-view.js";

const isNarrow = () => matchMedia("(max-width: 52rem)").matches;

const ADDRESS_MS = 300;

/** All memories of a user: a list with search and filters on the left, one memory on the right. */
export function memoriesView({ user, changed }) {
  const filters = {};
  const query = () => Object.fromEntries(FILTERS.map((name) => [name, filters[name]]));
  const listAddress = () => linkTo("memories", undefined, query());
  const fields = filterFields(user, (name, value) => {
    filters[name] = value;
    if (name === "q") showSearch();
    else goTo(listAddress(), { replace: true });
  });
  let addressTimer;
  const list = memoryList({ user, filters, query, changed: afterChange });
  const detail = memoryView({ user, changed: afterChange, close: () => goTo(listAddress()) });
  const head = make(
    "div",
    { class: "view-head" },
    make("h2", { id: "memories-title", tabindex: "-1" }, "Memories"),
    list.count,
    button("Add", () => addMemoryForm(user, added), "small-button"),
  );
  const side = { class: "list-side", "aria-labelledby": "memories-title" };
  const element = make(
    "div",
    { class: "split" },
    make("section", side, head, fields.element, list.selection, list.element),
    detail.element,
  );

  function afterChange() {
    list.refresh();
    changed();
  }

  function added(id) {
    afterChange();
    goTo(linkTo("memories", id, query()));
  }

  /** Shows what is typed at once; the address follows in a pause, because browsers let it change only so often. */
  function showSearch() {
    element.dataset.part = "list";
    list.show(undefined);
    clearTimeout(addressTimer);
    addressTimer = setTimeout(() => {
      if (parseRoute(location.hash).name === "memories") goTo(listAddress(), { replace: true });
    }, ADDRESS_MS);
  }

  function show(route) {
    clearTimeout(addressTimer);
    for (const name of FILTERS) filters[name] = route.query.get(name) ?? undefined;
    fields.fill(filters);
    element.dataset.part = route.id === undefined ? "list" : "detail";
    list.show(route.id);
    detail.show(route.id);
  }

  /** Gives whether the key was used. */
  function onKey(event) {
    if (event.key === "/") fields.search.focus();
    else if (event.key === "Escape" && element.dataset.part === "detail") goTo(listAddress());
    else return list.onKey(event) || detail.onKey(event);
    return true;
  }

  fields.search.onkeydown = (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    list.focus(0);
  };

  return { element, title: "Memories", show, refresh: list.refresh, onKey };
}

/** The list that fits the filters, its number of entries, and what is selected in it. */
function memoryList({ user, filters, query, changed }) {
  const count = make("p", { class: "count-line", role: "status" });
  const over = make("div", { class: "over", hidden: true });
  let fetchPage;
  /** The filters of what is shown, and the memory that is open beside it. */
  let applied;
  let openId;

  const selection = memorySelection({
    user,
    list: current,
    changed,
    fetchAll: async () =>
      filters.q
        ? list.known()
        : (await listMemories(user, { ...toListQuery(filters), limit: MOST_SELECTED })).items,
  });
  const makeRow = (memory) => memoryRow(memory, { query: query(), selection, openId });
  const failed = (error) => cover(problem(error, () => current().reload()));
  const list = virtualList({
    label: "Memories",
    height: () => (isNarrow() ? 5.2 : 4.15),
    fetchPage: (page, signal) => fetchPage(page, signal),
    makeRow,
    loaded: (total) => current() === list && showCount(total),
    failed,
  });
  const groups = memoryGroups({
    user,
    query,
    makeRow,
    // A search may have begun in the meantime.
    loaded: (total) => current() === groups && showCount(total),
    failed,
  });

  /** The list that is shown. A search has its own order, so it is not in groups. */
  function current() {
    return filters.group && !filters.q ? groups : list;
  }

  function load(options) {
    const shown = current();
    for (const one of [list, groups]) one.element.hidden = one !== shown;
    fetchPage = createSource(user, filters);
    return shown.reload(options);
  }

  function show(id) {
    const isOther = id !== openId;
    openId = id;
    const wanted = JSON.stringify(query());
    if (wanted === applied) return isOther && current().redraw();
    applied = wanted;
    selection.clear();
    load();
  }

  function cover(...parts) {
    over.hidden = parts.length === 0;
    over.replaceChildren(...parts);
  }

  function showCount(total) {
    count.textContent = filters.q ? foundLine(total, fetchPage) : counted(total, "memory", "memories");
    if (total > 0) cover();
    else cover(isFiltered(filters) ? nothingFound(filters) : nothingYet());
  }

  const element = make("div", { class: "list-body" }, list.element, groups.element, over);
  return {
    count,
    element,
    selection: selection.element,
    refresh: () => load({ keepPlace: true }),
    show,
    focus: (place) => current().focus(place),
    onKey: (event) => moveInList(event, current()),
  };
}

const isFiltered = (filters) => FILTERS.some((name) => !ARRANGEMENTS.includes(name) && filters[name]);

function foundLine(total, { isCut }) {
  return isCut() ? `${number(total)} among the ${number(MOST_FOUND)} best matches` : `${number(total)} found`;
}

/** Keys of the list: j and k or the arrows to move, x to select. Gives whether the key was used. */
function moveInList({ key }, list) {
  const place = list.focused();
  const isIn = place >= 0;
  if (key === "j" || (key === "ArrowDown" && isIn)) list.focus(place + 1);
  else if (key === "k" || (key === "ArrowUp" && isIn)) list.focus(Math.max(0, place - 1));
  else if (key === "x" && isIn) list.element.querySelector(`[data-place="${place}"] input`)?.click();
  else return false;
  return true;
}

function nothingFound({ q, state }) {
  return emptyState(
    "Nothing found",
    q
      ? "No memory is relevant to these words. Other words for it may find it."
      : "No memory fits these filters.",
    q &&
      state !== "all" &&
      make(
        "a",
        { href: linkTo("memories", undefined, { q, state: "all" }), class: "button" },
        "Search outdated ones too",
      ),
    button(q ? "Clear the search" : "Clear filters", () => goTo(linkTo("memories"))),
  );
}

function nothingYet() {
  return emptyState(
    "Nothing is known yet",
    "Say something in a conversation, add a memory by hand, or import what another program knows.",
    make("a", { href: linkTo("data"), class: "button" }, "Import"),
    make("a", { href: linkTo("tour"), class: "button" }, "Take the tour"),
  );
}
