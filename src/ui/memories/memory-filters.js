import { listFacets } from "../calls.js";
import { choice, labelled } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { subjectName } from "../parts/subject-names.js";
import { KIND_GROUP_NAMES, KIND_NAMES, ORIGINS, TOPIC_NAMES } from "../parts/words.js";

/** The names of the filters, as they stand in the address. */
export const FILTERS = [
  "q",
  "state",
  "kind",
  "topic",
  "subject",
  "sensitive",
  "origin",
  "from",
  "to",
  "contains",
  "sort",
  "group",
];

/** What does not choose memories, but orders them. */
export const ARRANGEMENTS = ["sort", "group"];

const STATE_OPTIONS = [
  ["", "True now"],
  ["outdated", "Outdated"],
  ["bin", "In the bin"],
  ["all", "All"],
];
const SORT_OPTIONS = [
  ["", "Newest first"],
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["changed", "Changed last"],
  ["importance", "Most important"],
  ["confidence", "Most certain"],
  ["text", "A to Z"],
];
const SENSITIVE_OPTIONS = [
  ["", "Any"],
  ["true", "Sensitive"],
  ["false", "Not sensitive"],
];
const GROUP_OPTIONS = [
  ["", "No groups"],
  ["topic", "Topic"],
  ["subject", "Person or thing"],
  ["kind", "Kind"],
  ["month", "Month"],
];
/** The most persons and things that are offered. */
const MOST_SUBJECTS = 200;
const ANY_SUBJECT = ["", "Any"];
const withAny = (text, names) => [["", text], ...Object.entries(names)];

/**
 * The fields above the list. `changed` is called with a name and a value, for each letter that somebody types. `fill` shows the
 * filters of an address.
 */
export function filterFields(user, changed) {
  const search = make("input", {
    type: "search",
    placeholder: "Search by words or meaning",
    autocomplete: "off",
    maxlength: "500",
  });
  const named = {
    state: choice("state", STATE_OPTIONS),
    kind: choice("kind", withAny("Any kind", { ...KIND_NAMES, ...KIND_GROUP_NAMES })),
    topic: choice("topic", withAny("Any topic", TOPIC_NAMES)),
    subject: choice("subject", [ANY_SUBJECT]),
    sensitive: choice("sensitive", SENSITIVE_OPTIONS),
    origin: choice("origin", withAny("Any origin", ORIGINS)),
    from: make("input", { type: "date" }),
    to: make("input", { type: "date" }),
    contains: make("input", { type: "text", maxlength: "200", autocomplete: "off" }),
    sort: choice("sort", SORT_OPTIONS),
    group: choice("group", GROUP_OPTIONS),
  };
  search.oninput = () => {
    nameOrders(named.sort, search.value.trim());
    changed("q", search.value.trim() || undefined);
  };
  for (const [name, field] of Object.entries(named))
    field.onchange = () => changed(name, field.value || undefined);
  const summary = make("summary", {}, "Filters");
  const more = make("details", { class: "more-filters" }, summary, filterGrid(named));
  more.ontoggle = () => (more.open ? offerSubjects(user, named.subject) : undefined);
  return {
    search,
    element: make(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      labelled("Search memories", search, "search-field"),
      more,
    ),
    fill(filters) {
      // What is being typed is not overwritten.
      if (document.activeElement !== search) search.value = filters.q ?? "";
      offer(named.subject, filters.subject);
      for (const [name, field] of Object.entries(named)) field.value = filters[name] ?? "";
      nameOrders(named.sort, filters.q);
      const used = Object.keys(named).filter((name) => filters[name]).length;
      summary.textContent = used > 0 ? `Filters (${used})` : "Filters";
    },
  };
}

/** Puts the persons and things that are known into a choice. */
async function offerSubjects(user, field) {
  const { items } = await listFacets(user, { by: "subject", limit: MOST_SUBJECTS }).catch(() => ({
    items: [],
  }));
  // Something may have been chosen meanwhile.
  const { value } = field;
  const options = [ANY_SUBJECT, ["user", "You"], ...items.map((one) => [one.value, subjectName(one.value)])];
  field.replaceChildren(...options.map(([one, text]) => make("option", { value: one }, text)));
  offer(field, value);
  field.value = value;
}

/** Makes sure that a choice has an option for a person or thing. */
function offer(field, subject) {
  if (!subject || [...field.options].some(({ value }) => value === subject)) return;
  field.append(make("option", { value: subject }, subjectName(subject)));
}

/** What comes first without a chosen order: of a search the best, and else the newest, which a search can be asked for. */
function nameOrders({ options }, query) {
  options[0].textContent = query ? "Best match first" : "Newest first";
  options[1].hidden = !query;
}

function filterGrid({ state, kind, topic, subject, sensitive, origin, from, to, contains, sort, group }) {
  return make(
    "div",
    { class: "filter-grid" },
    labelled("Which", state),
    labelled("Kind", kind),
    labelled("Topic", topic),
    labelled("Person or thing", subject),
    labelled("Sensitivity", sensitive),
    labelled("Origin", origin),
    labelled("Said from", from),
    labelled("Said until", to),
    labelled("Contains", contains),
    labelled("Order", sort),
    labelled("Group by", group),
  );
}
