import { getMemory, listMemories, search } from "../calls.js";
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
export const MOST_FOUND = 200;

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
 * Gives the function that fetches pages for filters. With a query it is the real recall: its best, with the words that
 * matched; other filters then choose among them, and a chosen order sorts them. `isCut` of the function tells whether there may
 * be more than a search gives.
 */
export function createSource(user, filters, page = 100) {
  if (!filters.q) {
    const query = toListQuery(filters);
    const read = (number, signal) =>
      listMemories(user, { ...query, limit: page, offset: number * page }, signal);
    return Object.assign(read, { isCut: () => false });
  }
  let found;
  const read = async (number, signal) => {
    found ??= await inTurn(signal, () => searchAll(user, filters));
    const { items } = found;
    return { items: items.slice(number * page, (number + 1) * page), total: items.length };
  };
  return Object.assign(read, { isCut: () => found?.isCut === true });
}

/** Settles when the server is done with the searches before. */
let lastSearch = Promise.resolve();

/**
 * Runs one search after the other: of those that somebody types while the server works, only the last is sent. Throws the
 * reason of the signal for the others.
 */
async function inTurn(signal, run) {
  const before = lastSearch;
  let end;
  lastSearch = new Promise((resolve) => {
    end = resolve;
  });
  try {
    await before;
    signal?.throwIfAborted();
    return await run();
  } finally {
    end();
  }
}

const toMillis = (time) => new Date(time).getTime();
const byNewest = (one, other) => toMillis(other.at) - toMillis(one.at);

/** The orders that a search can be given beside that of the best match. */
const ORDERS = {
  newest: byNewest,
  oldest: (one, other) => byNewest(other, one),
  changed: (one, other) => toMillis(other.stored_at) - toMillis(one.stored_at) || byNewest(one, other),
  importance: (one, other) => other.importance - one.importance || byNewest(one, other),
  confidence: (one, other) => other.confidence - one.confidence || byNewest(one, other),
  text: (one, other) => one.text.toLowerCase().localeCompare(other.text.toLowerCase()),
};
/** The orders by what a search does not give. */
const ORDERS_IN_FULL = ["changed", "importance", "confidence"];

/** The found memories with all their fields. One that was erased meanwhile is left out. */
async function readInFull(user, items) {
  const read = async (item) => {
    try {
      return [{ ...(await getMemory(user, item.id)), why: item.why }];
    } catch (error) {
      if (error.status === 404) return [];
      throw error;
    }
  };
  return (await Promise.all(items.map(read))).flat();
}

/** Applies the filter by origin and the order, which need fields that a search does not give. */
async function arrange(user, found, { origin, sort }) {
  const isInFull = Boolean(origin) || ORDERS_IN_FULL.includes(sort);
  const items = isInFull ? await readInFull(user, found) : found;
  const chosen = origin ? items.filter((memory) => memory.origin === origin) : items;
  return ORDERS[sort] ? chosen.toSorted(ORDERS[sort]) : chosen;
}

async function searchAll(user, filters) {
  const { q, kind, state = "", from, to, contains } = filters;
  const kinds = kind ? [kind] : undefined;
  const where_text = contains ? toTextFilter(contains) : undefined;
  const { items } = await search(user, q, { top_k: MOST_FOUND, types: ["memory"], kinds, where_text });
  const passing = await findPassing(user, filters);
  const wanted = STATES[state].status;
  const query = toListQuery({ from, to });
  const fitting = items
    .filter(({ id, status }) => (wanted === "all" || status === wanted) && (passing?.has(id) ?? true))
    .filter(
      ({ at }) =>
        (!query.from || new Date(at) >= new Date(query.from)) &&
        (!query.to || new Date(at) < new Date(query.to)),
    );
  return { items: await arrange(user, fitting, filters), isCut: items.length === MOST_FOUND };
}

/** The ids of the memories that pass the filters which only the list has; undefined without such a filter. */
async function findPassing(user, { state, topic, subject, sensitive }) {
  if (!topic && !subject && !sensitive) return undefined;
  const query = { ...toListQuery({ state, topic, subject, sensitive }), limit: MOST_A_PAGE };
  const ids = new Set();
  let cursor;
  do {
    const page = await listMemories(user, { ...query, cursor });
    for (const { id } of page.items) ids.add(id);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids;
}
