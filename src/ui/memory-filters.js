import { choice, labelled } from "./form-parts.js";
import { make } from "./make.js";
import { KIND_GROUP_NAMES, KIND_NAMES, ORIGINS } from "./words.js";

/** The names of the filters, as they stand in the address. */
export const FILTERS = ["q", "state", "kind", "origin", "from", "to", "contains", "sort"];

const TYPING_MS = 120;

const STATE_OPTIONS = [
  ["", "True now"],
  ["outdated", "Outdated"],
  ["bin", "In the bin"],
  ["all", "All"],
];
const SORT_OPTIONS = [
  ["", "Newest first"],
  ["oldest", "Oldest first"],
  ["changed", "Changed last"],
  ["importance", "Most important"],
  ["confidence", "Most certain"],
  ["text", "A to Z"],
];
const withAny = (text, names) => [["", text], ...Object.entries(names)];

/**
 * The fields above the list. `changed` is called with a name and a value; while somebody types, after a moment. `fill` shows
 * the filters of an address.
 */
export function filterFields(changed) {
  const search = make("input", {
    type: "search",
    placeholder: "Search by words or meaning",
    autocomplete: "off",
    maxlength: "500",
  });
  const named = {
    state: choice("state", STATE_OPTIONS),
    kind: choice("kind", withAny("Any kind", { ...KIND_NAMES, ...KIND_GROUP_NAMES })),
    origin: choice("origin", withAny("Any origin", ORIGINS)),
    from: make("input", { type: "date" }),
    to: make("input", { type: "date" }),
    contains: make("input", { type: "text", maxlength: "200", autocomplete: "off" }),
    sort: choice("sort", SORT_OPTIONS),
  };
  let timer;
  search.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(() => changed("q", search.value.trim() || undefined), TYPING_MS);
  };
  for (const [name, field] of Object.entries(named))
    field.onchange = () => changed(name, field.value || undefined);
  const summary = make("summary", {}, "Filters");
  return {
    search,
    element: make(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      labelled("Search memories", search, "search-field"),
      make("details", { class: "more-filters" }, summary, filterGrid(named)),
    ),
    fill(filters) {
      // What is being typed is not overwritten.
      if (document.activeElement !== search) search.value = filters.q ?? "";
      for (const [name, field] of Object.entries(named)) field.value = filters[name] ?? "";
      const used = Object.keys(named).filter((name) => filters[name]).length;
      summary.textContent = used > 0 ? `Filters (${used})` : "Filters";
    },
  };
}

function filterGrid({ state, kind, origin, from, to, contains, sort }) {
  return make(
    "div",
    { class: "filter-grid" },
    labelled("Which", state),
    labelled("Kind", kind),
    labelled("Origin", origin),
    labelled("Said from", from),
    labelled("Said until", to),
    labelled("Contains", contains),
    labelled("Order", sort),
  );
}
