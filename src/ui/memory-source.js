import { listMemories, search } from "./calls.js";
import { toTime } from "./form-parts.js";

/** What the filter of states asks the list for. */
const STATES = {
  "": { status: "current", quarantined: "false" },
  outdated: { status: "superseded" },
  bin: { status: "retracted" },
  all: { status: "all" },
};

/** The most memories of one answer. */
const MOST_A_PAGE = 1000;
/** The most results of a search. */
const MOST_FOUND = 200;

/** A filter for texts that contain these words, in capitals or not. */
function toTextFilter(words) {
  return { $regex: `(?i)${words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}` };
}

/** The moment at which a day ends here. Not every day has 24 hours. */
export function toNextDay(day) {
  const moment = new Date(`${day}T00:00`);
  moment.setDate(moment.getDate() + 1);
  return moment.toISOString();
}

/** The parameters of the list for filters as they stand in the address. */
export function toListQuery(filters) {
  const { state = "", kind, origin, from, to, contains, sort, session, topic, subject, sensitive } = filters;
  const next = to ? toNextDay(to) : undefined;
  return {
    ...STATES[state],
    kind,
    origin,
    from: from ? toTime(from) : undefined,
    to: next,
    where_text: contains ? JSON.stringify(toTextFilter(contains)) : undefined,
    topic,
    subject,
    sensitive,
    sort,
    session_id: session,
  };
}

/**
 * The filters for one group of a list, within the filters of the list: `alone`, which has the group's value or the days of its
 * month, and `also` for what `alone` replaces, which the list cannot have twice.
 */
export function toGroupFilters(filters, by, value) {
  if (by === "month") {
    const [year, number] = value.split("-").map(Number);
    const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
    const from = [filters.from, `${value}-01`].filter(Boolean).sort().at(-1);
    const [to] = [filters.to, `${value}-${last}`].filter(Boolean).sort();
    return { alone: { ...filters, from, to } };
  }
  const own = filters[by];
  // A filter for several kinds is narrowed by one of them.
  const isReplaced = own && own !== value && by !== "kind";
  return {
    alone: { ...filters, [by]: value },
    also: isReplaced ? { state: filters.state, [by]: own } : undefined,
  };
}

/** Fetches at most `most` memories of a group, in the order of the list. */
export async function listGroup(user, { alone, also }, most) {
  const passing = also && (await findPassing(user, also));
  const limit = passing ? MOST_A_PAGE : most;
  const items = [];
  let [offset, total] = [0, 0];
  do {
    const page = await listMemories(user, { ...toListQuery(alone), limit, offset });
    items.push(...page.items.filter(({ id }) => passing?.has(id) ?? true));
    offset += limit;
    total = page.total;
  } while (offset < total && items.length < most);
  return items.slice(0, most);
}

/**
 * Gives the function that fetches pages for filters. With a query it is the real recall: its hundred best, with the words
 * that matched; other filters then choose among them.
 */
export function createSource(user, filters, page = 100) {
  if (!filters.q) {
    const query = toListQuery(filters);
    return (number, signal) => listMemories(user, { ...query, limit: page, offset: number * page }, signal);
  }
  let found;
  return async (number, signal) => {
    found ??= await searchAll(user, filters, signal);
    return { items: found.slice(number * page, (number + 1) * page), total: found.length };
  };
}

async function searchAll(user, filters, signal) {
  const { q, kind, state = "", from, to, origin, contains } = filters;
  const kinds = kind ? [kind] : undefined;
  const where_text = contains ? toTextFilter(contains) : undefined;
  const { items } = await search(
    user,
    q,
    { top_k: MOST_FOUND, types: ["memory"], kinds, where_text },
    signal,
  );
  const passing = await findPassing(user, filters, signal);
  const wanted = STATES[state].status;
  const query = toListQuery({ from, to });
  return items
    .filter(({ id, status }) => (wanted === "all" || status === wanted) && (passing?.has(id) ?? true))
    .filter(
      ({ at }) =>
        (!query.from || new Date(at) >= new Date(query.from)) &&
        (!query.to || new Date(at) < new Date(query.to)),
    )
    .filter(({ sources }) => !origin || (origin === "api") === (sources.length === 0));
}

/** The ids of the memories that pass the filters which only the list has; undefined without such a filter. */
async function findPassing(user, { state, topic, subject, sensitive }, signal) {
  if (!topic && !subject && !sensitive) return undefined;
  const query = { ...toListQuery({ state, topic, subject, sensitive }), limit: MOST_A_PAGE };
  const ids = new Set();
  let cursor;
  do {
    const page = await listMemories(user, { ...query, cursor }, signal);
    for (const { id } of page.items) ids.add(id);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids;
}
