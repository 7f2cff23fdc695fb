import type { LogEntry } from "../../domain/change-set.ts";
import { checkCount, checkName } from "../../domain/limits.ts";
import { getComparator, LIST_ORDERS, type ListOrder } from "../../domain/memories/memory-order.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { isOfAgent, type Scope } from "../../domain/scope.ts";
import { toLocalTime } from "../../domain/time.ts";
import { filterInSlices, forEachInSlices, mapInSlices, sortInSlices } from "../../domain/time-slicing.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Listing, ListOptions, Page, PageOptions, ShownMemory } from "../api/listing-types.ts";
import type {
  Session,
  SessionMessage,
  SessionPageOptions,
  SessionSummary,
  StoredMessage,
} from "../api/session-types.ts";
import type { Ports } from "../ports.ts";
import { DECAY_DAYS } from "../recall/options.ts";
import { requireMemory, toSources } from "../user-state/lookups.ts";
import type { UserState } from "../user-state/user-state.ts";
import { readListContent } from "./known-memories.ts";
import {
  createListFilter,
  isExpiredAt,
  type ListFilter,
  type ListState,
  selectByWords,
} from "./list-filter.ts";

/** Number of memories between two yields to the event loop: about two milliseconds of work. */
const SLICE = 2000;

export function toShownMemory(state: Pick<UserState, "messages">, memory: Memory): ShownMemory {
  return { ...memory, sources: toSources(state, memory.sources) };
}

/** The ports that tell how memories were used, and how new they are. */
export type UsedMemoryPorts = Pick<Ports, "clock" | "usage" | "decayDays">;

const DAY_MS = 86_400_000;

/** The same memories with their use and their age. */
export async function withUsage(
  { clock, usage, decayDays = DECAY_DAYS }: UsedMemoryPorts,
  scope: Scope,
  memories: readonly ShownMemory[],
): Promise<ShownMemory[]> {
  if (memories.length === 0) return [];
  const now = clock().getTime();
  const uses = await usage?.read(
    scope,
    memories.map(({ id }) => id),
  );
  return memories.map((memory) => {
    const age = Math.max(0, now - Date.parse(memory.at)) / DAY_MS;
    return {
      ...memory,
      ...(uses ? { usage: uses.get(memory.id) ?? { count: 0 } } : {}),
      decayScore: Math.round(2 ** (-age / decayDays) * 10_000) / 10_000,
    };
  });
}

/**
 * Gives one memory, whatever its status. Throws `not_found` if it does not exist or belongs to another user.
 */
export async function getMemory(
  ports: Pick<Ports, "states"> & UsedMemoryPorts,
  scope: Scope,
  id: string,
): Promise<ShownMemory> {
  const state = await ports.states.of(scope);
  const memory = requireMemory(state, id);
  if (isExpired(memory, ports)) throw new MemoryError("not_found", "this memory has expired.");
  const [shown] = await withUsage(ports, scope, [toShownMemory(state, memory)]);
  return shown as ShownMemory;
}

type ListPorts = Pick<Ports, "states" | "store" | "vocabulary"> & UsedMemoryPorts;

/** Lists memories, newest first; only current ones unless another status is requested. */
export function listMemories(ports: ListPorts, scope: Scope, options: ListOptions = {}): Listing {
  const page = (cursor: string | undefined): Promise<Page<ShownMemory>> =>
    readPage(ports, scope, { ...options, ...(cursor === undefined ? {} : { cursor }) });
  return {
    // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for its first page, and iterated for all.
    then: (resolve, reject) => page(undefined).then(resolve, reject),
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined;
      do {
        const { items, cursor: next } = await page(cursor);
        yield* items;
        cursor = next;
      } while (cursor !== undefined);
    },
  };
}

async function readPage(ports: ListPorts, scope: Scope, options: ListOptions): Promise<Page<ShownMemory>> {
  options.signal?.throwIfAborted();
  const limit = checkCount(options.limit ?? 50, "limit", 1, 1000);
  const order = checkOrder(options.sort);
  const skipped = checkCount(options.offset ?? 0, "offset", 0, 1_000_000);
  if (options.cursor !== undefined && skipped > 0) throw invalid("set offset or cursor, not both.");
  createListFilter(options, ports.clock().toISOString());
  const content = await readListContent(ports, scope, options.knownAt);
  const isListed = createListFilter(options, content.now);
  const passes: ListFilter = (memory, state) => isOfAgent(scope, memory) && isListed(memory, state);
  const listed = await selectByWords(ports, content.state, options);
  const { found, total, next } =
    order === "newest" && skipped === 0 && parsePosition(options.cursor) === undefined
      ? await selectNewest(listed, passes, options.cursor, limit)
      : await selectSorted(listed, passes, order, parsePosition(options.cursor) ?? skipped, limit);
  // Content that was erased during a yield must not be returned.
  const items = await content.reread(found);
  const shown = await mapInSlices(items, (memory) => toShownMemory(content.state, memory));
  return {
    items: await withUsage(ports, scope, shown),
    total,
    ...(next === undefined ? {} : { cursor: next }),
  };
}

interface SelectedPage {
  readonly found: readonly Memory[];
  readonly total: number;
  readonly next: string | undefined;
}

async function selectNewest(
  state: ListState,
  passes: ListFilter,
  cursor: string | undefined,
  limit: number,
): Promise<SelectedPage> {
  const page = createNewestPage<Memory>(cursor, limit);
  await forEachInSlices(
    state.memories.values(),
    (memory) => passes(memory, state) && page.add(memory),
    SLICE,
  );
  const { found, total, isLast } = page.end();
  const last = found.at(-1);
  return { found, total, next: last && !isLast ? toCursor(last) : undefined };
}

/** A page by position. Its cursor is a position too, because another order has no key that stays valid. */
async function selectSorted(
  state: ListState,
  passes: ListFilter,
  order: ListOrder,
  from: number,
  limit: number,
): Promise<SelectedPage> {
  const all = await filterInSlices(state.memories.values(), (memory) => passes(memory, state), SLICE);
  const sorted = await sortInSlices(all, getComparator(order));
  const end = from + limit;
  return {
    found: sorted.slice(from, end),
    total: sorted.length,
    next: end < sorted.length ? toPositionCursor(end) : undefined,
  };
}

function checkOrder(order: ListOrder = "newest"): ListOrder {
  if (LIST_ORDERS.includes(order)) return order;
  throw invalid(`sort must be one of ${LIST_ORDERS.join(", ")}.`);
}

/** All versions of one memory, oldest first. */
export async function listVersions(
  ports: Pick<Ports, "states" | "store" | "clock">,
  scope: Scope,
  id: string,
): Promise<Memory[]> {
  const versions = await ports.store.versions(scope, id);
  const newest = versions.at(-1) ?? requireMemory(await ports.states.of(scope), id);
  if (isExpired(newest, ports)) throw new MemoryError("not_found", "this memory has expired.");
  return versions;
}

/** Lists events, newest first. */
export async function listLog(
  ports: Pick<Ports, "store">,
  scope: Scope,
  { before, limit = 50 }: { before?: number; limit?: number } = {},
): Promise<LogEntry[]> {
  return ports.store.log(scope, {
    limit: checkCount(limit, "limit", 1, 1000),
    ...(before === undefined ? {} : { before: checkCount(before, "before", 1, Number.MAX_SAFE_INTEGER) }),
  });
}

function isExpired(memory: Memory, ports: Pick<Ports, "clock">): boolean {
  return isExpiredAt(memory, ports.clock().toISOString());
}

/** Lists the user's sessions, most recently used first. */
export async function listSessions(
  ports: Pick<Ports, "states">,
  scope: Scope,
  options: PageOptions = {},
): Promise<Page<SessionSummary>> {
  options.signal?.throwIfAborted();
  const limit = checkCount(options.limit ?? 50, "limit", 1, 1000);
  const { messages } = await ports.states.of(scope);
  const all = [...summarizeSessions(messages.values()).values()].sort((one, other) =>
    compareNewestFirst(toPageKey(one), toPageKey(other)),
  );
  const from = options.cursor === undefined ? 0 : findAfterCursor(all.map(toPageKey), options.cursor);
  const items = all.slice(from, from + limit);
  const last = items.at(-1);
  return {
    items,
    total: all.length,
    ...(last && from + limit < all.length ? { cursor: toCursor(toPageKey(last)) } : {}),
  };
}

/**
 * Gives the messages of a session, in stored order or newest first. Throws `not_found` if the session has none, or not the
 * message to begin with.
 */
export async function getSession(
  ports: Pick<Ports, "states">,
  scope: Scope,
  id: string,
  options: SessionPageOptions = {},
): Promise<Session> {
  options.signal?.throwIfAborted();
  const limit = checkCount(options.limit ?? 50, "limit", 1, 1000);
  const { sort = "oldest", cursor, startAt } = options;
  if (sort !== "oldest" && sort !== "newest") throw invalid("sort must be oldest or newest.");
  if (cursor !== undefined && startAt !== undefined) throw invalid("set startAt or cursor, not both.");
  const after = cursor === undefined ? undefined : parseTurnCursor(cursor);
  const { messages } = await ports.states.of(scope);
  const wanted = checkName(id, "session");
  const all = [...messages.values()].filter((message) => message.session === wanted && isPresent(message));
  if (all.length === 0) throw new MemoryError("not_found", "session not found.");
  if (sort === "newest") all.reverse();
  const from = startAt === undefined ? findTurnAfter(all, after, sort) : findStart(all, startAt);
  const items = all.slice(from, from + limit);
  const last = items.at(-1);
  return {
    id: wanted,
    items: items.map(toSessionMessage),
    total: all.length,
    ...(last && from + limit < all.length ? { cursor: String(last.turn) } : {}),
  };
}

/** The position of the first message beyond a turn, in the given order. */
function findTurnAfter(all: readonly Message[], turn: number | undefined, sort: "oldest" | "newest"): number {
  if (turn === undefined) return 0;
  const place = all.findIndex((message) => (sort === "oldest" ? message.turn > turn : message.turn < turn));
  return place === -1 ? all.length : place;
}

function findStart(all: readonly Message[], startAt: string): number {
  const wanted = checkName(startAt, "startAt");
  const place = all.findIndex(({ id }) => id === wanted);
  if (place === -1) throw new MemoryError("not_found", "the session has no such message.");
  return place;
}

function summarizeSessions(messages: Iterable<Message>): Map<string, SessionSummary> {
  const summaries = new Map<string, SessionSummary>();
  for (const message of messages) {
    const { session: id, at } = message;
    if (id === undefined || !isPresent(message)) continue;
    const { messages: count, from, to } = summaries.get(id) ?? { messages: 0, from: at, to: at };
    summaries.set(id, { id, messages: count + 1, from: at < from ? at : from, to: at > to ? at : to });
  }
  return summaries;
}

/** Neither undone nor erased. */
function isPresent({ undone, content, parts }: Message): boolean {
  return !undone && (content !== "" || parts !== undefined);
}

function toPageKey({ id, to }: SessionSummary): { at: string; id: string } {
  return { at: to, id };
}

/** Gives one message. Throws `not_found` if it does not exist, is undone, or is erased. */
export async function getMessage(
  ports: Pick<Ports, "states">,
  scope: Scope,
  id: string,
): Promise<StoredMessage> {
  const { messages } = await ports.states.of(scope);
  const message = messages.get(checkName(id, "id"));
  if (!message || !isPresent(message)) throw new MemoryError("not_found", "message not found.");
  return toStoredMessage(message);
}

/** The most names of one search. */
const MAX_ENDINGS = 1000;

/** Finds messages whose ids are one of the names, or have it after their last dot. */
export async function findMessages(
  ports: Pick<Ports, "states">,
  scope: Scope,
  endings: readonly string[],
  { signal }: CallOptions = {},
): Promise<StoredMessage[]> {
  signal?.throwIfAborted();
  if (endings.length > MAX_ENDINGS)
    throw invalid(`at most ${MAX_ENDINGS.toLocaleString("en")} names can be searched at once.`);
  const wanted = new Set(endings.map((ending) => checkName(ending, "ending")));
  const { messages } = await ports.states.of(scope);
  const found = await filterInSlices(
    messages.keys(),
    (id) => wanted.has(id) || wanted.has(id.slice(id.lastIndexOf(".") + 1)),
    SLICE,
  );
  // Content that was erased during a yield must not be returned.
  return found.flatMap((id) => {
    const message = messages.get(id);
    return message && isPresent(message) ? [toStoredMessage(message)] : [];
  });
}

function toStoredMessage(message: Message): StoredMessage {
  const { session } = message;
  return { ...toSessionMessage(message), ...(session === undefined ? {} : { session }) };
}

function toSessionMessage({
  id,
  turn,
  role,
  name,
  content,
  parts,
  at,
  zone,
  metadata,
}: Message): SessionMessage {
  return {
    id,
    turn,
    role,
    ...(name === undefined ? {} : { name }),
    content,
    ...(parts ? { parts } : {}),
    at: toLocalTime(at, zone),
    ...(metadata ? { metadata } : {}),
  };
}

function parseTurnCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw invalid("the cursor is invalid: pass one that a listing returned.");
}

/** Sort key of a page: newest first, ties by id. */
interface PageKey {
  readonly at: string;
  readonly id: string;
}

/** Comparator for `sort`: newest first. */
function compareNewestFirst(one: PageKey, other: PageKey): number {
  if (one.at === other.at) return one.id === other.id ? 0 : one.id < other.id ? 1 : -1;
  return one.at < other.at ? 1 : -1;
}

/**
 * A cursor holds the time and id of the last item, so that it stays valid when items are added or removed.
 */
function toCursor({ at, id }: PageKey): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** The position of the first item after a cursor. Throws `invalid_input` for an unknown cursor. */
function findAfterCursor(all: readonly PageKey[], cursor: string): number {
  const place = parseCursor(cursor);
  const next = all.findIndex((one) => compareNewestFirst(place, one) < 0);
  return next === -1 ? all.length : next;
}

/** The cursor of a page by position. */
function toPositionCursor(position: number): string {
  return Buffer.from(JSON.stringify([position])).toString("base64url");
}

/** The position in a cursor; undefined for a cursor of another form. */
function parsePosition(cursor: string | undefined): number | undefined {
  const text = cursor === undefined ? "" : Buffer.from(cursor, "base64url").toString("utf8");
  return /^\[\d{1,9}\]$/.test(text) ? Number(text.slice(1, -1)) : undefined;
}

function parseCursor(cursor: string): PageKey {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (cause) {
    throw new MemoryError("invalid_input", INVALID_CURSOR, { cause });
  }
  const [at, id] = Array.isArray(place) ? (place as unknown[]) : [];
  if (typeof at !== "string" || typeof id !== "string") throw invalid(INVALID_CURSOR);
  return { at, id };
}

const INVALID_CURSOR = "the cursor is invalid: pass one that a listing returned.";

/** Selects a page from items that arrive one by one, in any order. */
interface PageCollector<One> {
  add(one: One): void;
  /** The sorted page, the number of items added, and whether this is the last page. */
  end(): { readonly found: readonly One[]; readonly total: number; readonly isLast: boolean };
}

/** Items buffered beyond the page before each sort, so that sorts are few and short. */
const SPARE = 1000;

/**
 * Selects the newest `limit` items after a cursor. Sorts only about one page of items at a time, so that no
 * step takes long. Throws `invalid_input` for an unknown cursor.
 */
function createNewestPage<One extends PageKey>(
  cursor: string | undefined,
  limit: number,
): PageCollector<One> {
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  let candidates: One[] = [];
  let [total, following] = [0, 0];
  let least: One | undefined;
  const cut = (): void => {
    candidates = candidates.sort(compareNewestFirst).slice(0, limit);
    least = candidates.length === limit ? candidates.at(-1) : undefined;
  };
  return {
    add(one) {
      total += 1;
      if (after && compareNewestFirst(after, one) >= 0) return;
      following += 1;
      if (least && compareNewestFirst(least, one) <= 0) return;
      candidates.push(one);
      if (candidates.length >= limit + SPARE) cut();
    },
    end() {
      cut();
      return { found: candidates, total, isLast: following <= limit };
    },
  };
}
