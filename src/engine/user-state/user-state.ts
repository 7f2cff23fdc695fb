import type { MemoryLink, Tombstone } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { clearWordCaches } from "../../domain/search/search-terms.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { Delta, MemoryStore } from "../../ports/memory-store.ts";
import { type Meter, NO_METER } from "../../ports/telemetry.ts";
import {
  applyIndexDeltaSteps,
  bytesOfIndex,
  createSearchIndex,
  type EmbeddingSpace,
  releaseIndex,
  type SearchIndex,
  scrubIndex,
} from "../search-index/search-index.ts";
import { spaceOf } from "../search-index/search-units.ts";
import {
  createIndexReader,
  type IndexReader,
  isMostlyDead,
  serializeIndex,
} from "../search-index/serialization.ts";
import type { TurnPhrases } from "../search-index/turn-table.ts";
import {
  createSharedSearchIndexes,
  type SharedSearchIndexes,
  type SharingOptions,
} from "../secondary-stores/shared-cache.ts";
import { applyUserDelta, type ClaimIndex, createUserData, type UserData } from "./user-data.ts";

/**
 * A user's data as cached by this process. Before each use, the cache asks the store for the user's revision
 * and applies newer changes, so that several processes stay coherent. Read-only except for
 * `createUserStates`.
 */
export interface UserState {
  readonly scope: Scope;
  readonly revision: number;
  /** In turn order. */
  readonly messages: ReadonlyMap<string, Message>;
  /** The newest version of each memory, in the order in which they were first stored. */
  readonly memories: ReadonlyMap<string, Memory>;
  /** The current memories, in the same order. */
  readonly current: ReadonlyMap<string, Memory>;
  /** Covers the newest versions of all memories, whatever their status. */
  readonly claims: ClaimIndex;
  /** Search data, in columns. */
  readonly searchIndex: SearchIndex;
  /** By hash. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  readonly links: readonly MemoryLink[];
  /**
   * Ids of messages and memories whose rows were changed since they were written. Their text is not returned.
   */
  readonly damaged: ReadonlySet<string>;
  /** Number of messages that wait for extraction. */
  readonly pending: number;
  /** When the newest message or memory was stored (ISO 8601, UTC); empty if there is none. */
  readonly storedUntil: string;
}

export interface UserStates {
  /** All data of a user. */
  of(scope: Scope): Promise<UserState>;
  /** The search index: a small part of the data, and quick to load. Valid until the next await. */
  searchIndex(scope: Scope): Promise<SearchIndex>;
  /** The cached search index, if there is one. Does not check whether it is up to date. */
  peekIndex(scope: Scope): SearchIndex | undefined;
  /** All messages and memories, if they are cached and at least as new as `revision`. */
  peekTexts(scope: Scope, revision: number): Pick<UserState, "messages" | "memories" | "damaged"> | undefined;
  /**
   * Applies erasures to one user's cache, or to all, and leaves no trace of the erased text. Evicts users for
   * whom the store cannot be asked. Never rejects.
   */
  purgeUser(scope?: Scope): Promise<void>;
  /** Saves search indexes so that the next start is quick, and evicts everything. */
  close(): Promise<void>;
}

interface CachedUser {
  readonly scope: Scope;
  readonly phrases: TurnPhrases;
  searchIndex: SearchIndex;
  whole?: UserData;
  uses: number;
  /** True while changes are being applied; the index must not be searched meanwhile. */
  isBehind?: boolean;
  shared?: number;
  /** Approximate memory use at the last access. */
  bytes: number;
  /** Last access, in milliseconds of this process. */
  usedAt: number;
}

/** An index is saved again once it has more new units than this, and more than a tenth of all units. */
const MIN_UNSAVED_UNITS = 200;
const CACHE_BYTES = 256_000_000;
/** Reading a user with this many messages and memories takes a second or more. */
const SLOW_USER_ROWS = 20_000;
/**
 * How long the slowest user stays cached next to the one in use, whatever its size. Otherwise each request
 * would read it again.
 */
const SLOW_USER_STAY_MS = 60_000;
const USERS_LABEL = { cache: "users" } as const;

type UserStateSource = Pick<MemoryStore, "revision" | "since" | "searchIndexes" | "log">;

interface UserStatesOptions {
  /** Reads the words of turns for the search index. */
  readonly phrases: TurnPhrases;
  /** Read each time that changes are applied. */
  readonly bytes?: () => number;
  readonly meter?: Meter;
  /** Where search indexes of frequent users are shared with other servers. */
  readonly sharing?: SharingOptions | undefined;
}

/**
 * Caches the states of the most recently used users, up to about this many bytes (256 MB). Always keeps the
 * user in use, and the largest slow user of the last minute.
 */
export function createUserStates(
  store: UserStateSource,
  embedder: EmbeddingSpace,
  { phrases, bytes = () => CACHE_BYTES, meter = NO_METER, sharing }: UserStatesOptions,
): UserStates {
  const space: EmbeddingSpace = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
  const shared = sharing && createSharedSearchIndexes(store, space, { ...sharing, meter });
  const cache = new Map<string, CachedUser>();
  // One refresh at a time per user; two would apply the same delta twice.
  const { runExclusive: inTurn, isBusy: isAtWork } = createUserQueue();

  const load = async (scope: Scope, revision: number, stored?: StoredSearchIndex): Promise<CachedUser> => {
    const key = toScopeKey(scope);
    const found = cache.get(key);
    // A lower revision than ours means that the database was replaced by an older one.
    if (found && found.searchIndex.revision <= revision) return found;
    if (found) evict(found);
    const loaded = await loadIndex(store, scope, revision, { space, meter, shared, stored });
    const userScope = { project: scope.project, user: scope.user };
    const one: CachedUser = { scope: userScope, phrases, uses: 0, bytes: 0, usedAt: 0, ...loaded };
    cache.set(key, one);
    return one;
  };

  const evict = (one: CachedUser | undefined): void => {
    if (!one) return;
    cache.delete(toScopeKey(one.scope));
    releaseIndex(one.searchIndex);
  };

  const makeRoom = (current: CachedUser): void => {
    touch(cache, current);
    for (const one of findOverflow(cache, bytes(), current, ({ scope }) => isAtWork(scope))) {
      cache.delete(toScopeKey(one.scope));
      void inTurn(one.scope, () => saveIndex(store, one)).finally(() => releaseIndex(one.searchIndex));
    }
  };

  const refreshed = async (scope: Scope, isWhole: boolean): Promise<CachedUser> => {
    const isNew = !shared && !cache.has(toScopeKey(scope));
    const { revision, asked } = await readNewest(store, scope, isNew && space);
    const one = await load(scope, revision, asked);
    if (one.searchIndex.revision === revision && (one.whole?.revision === revision || !isWhole)) {
      touch(cache, one);
      meter.count("cache_hits_total", USERS_LABEL);
      return one;
    }
    meter.count("cache_misses_total", USERS_LABEL);
    await catchUp(store, one, revision, isWhole);
    makeRoom(one);
    return one;
  };

  return {
    of: (scope) => inTurn(scope, async () => toUserState(await refreshed(scope, true))),
    searchIndex: (scope) =>
      inTurn(scope, async () => {
        const one = await refreshed(scope, false);
        shared?.offer(scope, one.searchIndex, one);
        return one.searchIndex;
      }),
    peekIndex(scope) {
      const one = cache.get(toScopeKey(scope));
      return one?.isBehind ? undefined : one?.searchIndex;
    },
    peekTexts: (scope, revision) => toTexts(cache.get(toScopeKey(scope)), revision),
    async purgeUser(scope) {
      let isThere = true;
      // Work in progress on a user ends first.
      for (const { scope: whose } of scope ? [{ scope }] : [...cache.values()]) {
        await inTurn(whose, async () => {
          const one = cache.get(toScopeKey(whose));
          isThere &&= !one || (await tryPurge(store, one));
          if (one && (!isThere || isMostlyDead(one.searchIndex))) evict(one);
        });
      }
      // Last, because earlier work may have looked up an erased word.
      clearWordCaches();
    },
    async close() {
      for (const one of [...cache.values()]) {
        await inTurn(one.scope, () => saveIndex(store, one));
        evict(one);
      }
    },
  };
}

/** Users to evict because they do not fit, after others have been made lighter. */
function findOverflow(
  kept: ReadonlyMap<string, CachedUser>,
  most: number,
  current: CachedUser,
  isAtWork: (one: CachedUser) => boolean,
): CachedUser[] {
  const slow = findSlowest(kept);
  let sum = lightenCache(kept, most, current, (one) => one === slow || isAtWork(one));
  const over: CachedUser[] = [];
  for (const one of kept.values()) {
    if (sum <= most || one === current) break;
    if (one === slow) continue;
    sum -= one.bytes;
    over.push(one);
  }
  return over;
}

/**
 * Drops from the other users the data that only writes need: searches are more frequent and need only the
 * index. Gives the remaining number of bytes.
 */
function lightenCache(
  kept: ReadonlyMap<string, CachedUser>,
  most: number,
  current: CachedUser,
  stays: (one: CachedUser) => boolean,
): number {
  current.bytes = bytesOfUser(current);
  let sum = 0;
  for (const one of kept.values()) sum += one.bytes;
  for (const one of kept.values()) {
    if (sum <= most) break;
    if (one === current || stays(one)) continue;
    const { bytes = 0 } = one.whole ?? {};
    sum -= bytes;
    one.bytes -= bytes;
    delete one.whole;
  }
  return sum;
}

/** The largest user that is slow to read and was used recently. */
function findSlowest(cache: ReadonlyMap<string, CachedUser>): CachedUser | undefined {
  const from = performance.now() - SLOW_USER_STAY_MS;
  let slowest: CachedUser | undefined;
  for (const one of cache.values()) {
    const { messages, memories } = one.whole ?? {};
    const rows = (messages?.size ?? 0) + (memories?.size ?? 0);
    if (rows >= SLOW_USER_ROWS && one.usedAt >= from && one.bytes > (slowest?.bytes ?? 0)) slowest = one;
  }
  return slowest;
}

/** Moves the user to the end: the most recently used is last. */
function touch(cache: Map<string, CachedUser>, one: CachedUser): void {
  const key = toScopeKey(one.scope);
  one.usedAt = performance.now();
  cache.delete(key);
  cache.set(key, one);
}

/** Applies newer changes, in one read if the index and the other data have the same revision. */
async function catchUp(
  store: UserStateSource,
  one: CachedUser,
  revision: number,
  isWhole: boolean,
): Promise<void> {
  const { scope, searchIndex } = one;
  if (searchIndex.revision < revision) {
    const from = searchIndex.revision;
    const delta = await store.since(scope, from);
    await applyDeltaInSlices(one, delta);
    if (one.whole?.revision === from) await applyUserDelta(one.whole, delta);
  }
  if (!one.whole && !isWhole) return;
  one.whole ??= createUserData();
  while (one.whole.revision < searchIndex.revision) {
    await applyUserDelta(one.whole, await store.since(scope, one.whole.revision, { units: false }));
  }
  // Another process wrote in between; both parts must have the same revision.
  while (searchIndex.revision < one.whole.revision)
    await applyDeltaInSlices(one, await store.since(scope, searchIndex.revision));
}

/** Steps between two yields to the event loop: about five milliseconds. */
const SLICE = 200;

/** Other users of the index may have run during a yield; it is searched before the next await. */
async function applyDeltaInSlices(one: CachedUser, delta: Delta): Promise<void> {
  one.isBehind = true;
  let done = 0;
  for (const _step of applyIndexDeltaSteps(one.searchIndex, delta, one.phrases)) {
    done += 1;
    if (done % SLICE === 0) await yieldToEventLoop();
  }
  one.isBehind = false;
}

/**
 * Whether erased data is gone from the cache. False if the store has an earlier revision or cannot be asked.
 */
async function tryPurge(store: UserStateSource, one: CachedUser): Promise<boolean> {
  const { searchIndex } = one;
  try {
    const revision = await store.revision(one.scope);
    if (searchIndex.isReleased || searchIndex.revision > revision) return false;
    await catchUp(store, one, revision, false);
  } catch {
    return false;
  }
  // An index that is mostly dead is evicted and read again.
  if (!isMostlyDead(searchIndex)) scrubIndex(searchIndex);
  // The erasure deleted the saved copies, in the store and on the other servers.
  searchIndex.unsavedUnits = searchIndex.units.count;
  one.uses = 0;
  delete one.shared;
  return true;
}

function toUserState({ scope, searchIndex, whole = createUserData() }: CachedUser): UserState {
  const { pending, bytes: _bytes, ...rest } = whole;
  return { scope, searchIndex, ...rest, pending: pending.size };
}

function toTexts(one: CachedUser | undefined, revision: number): UserData | undefined {
  return one?.whole && one.whole.revision >= revision ? one.whole : undefined;
}

/** What the empty index of a user takes. Without it, those who were erased would stay in the cache by the thousand. */
const USER_BYTES = 19_000;

function bytesOfUser({ searchIndex, whole }: CachedUser): number {
  return USER_BYTES + bytesOfIndex(searchIndex) + (whole?.bytes ?? 0);
}

/** Best effort: an index that cannot be saved is rebuilt at the next start. */
async function saveIndex(store: UserStateSource, one: CachedUser): Promise<void> {
  const { scope, searchIndex } = one;
  if (searchIndex.isReleased) return;
  try {
    // The process's own last writes are not in it yet.
    await catchUp(store, one, await store.revision(scope), false);
    if (
      searchIndex.unsavedUnits < MIN_UNSAVED_UNITS ||
      searchIndex.unsavedUnits < searchIndex.units.count / 10
    )
      return;
    const bytes = await serializeIndex(searchIndex);
    if (!bytes) return;
    await store.searchIndexes.save(scope, { revision: searchIndex.revision, bytes });
    searchIndex.unsavedUnits = 0;
  } catch {
    // A full or locked database costs only time here.
  }
}

type IndexSource = Pick<MemoryStore, "revision" | "searchIndexes">;

/** The search index that the store keeps for a user, decoded. */
interface StoredSearchIndex {
  /** Revision of the stored index; undefined if there is none. */
  readonly revision: number | undefined;
  readonly reader: IndexReader;
}

/**
 * The user's revision. For a new user, if a space is given, also the stored index, because the store may be
 * far away.
 */
async function readNewest(
  store: IndexSource,
  scope: Scope,
  space: EmbeddingSpace | false,
): Promise<{ readonly revision: number; readonly asked: StoredSearchIndex | undefined }> {
  const asking = space ? readStoredIndex(store, scope, space) : undefined;
  try {
    const [revision, asked] = await Promise.all([store.revision(scope), asking]);
    return { revision, asked };
  } catch (error) {
    void asking?.then(
      ({ reader: parts }) => parts.release(),
      () => {},
    );
    throw error;
  }
}

/** Bytes decoded at once; a large index yields to the event loop in between. */
const PIECE_BYTES = 262_144;

async function readStoredIndex(
  store: IndexSource,
  scope: Scope,
  space: EmbeddingSpace,
): Promise<StoredSearchIndex> {
  const parts = createIndexReader(space);
  try {
    const packed = await store.searchIndexes.read(scope, parts);
    if (packed && packed.bytes.length > 0) {
      parts.begin(packed.revision, packed.bytes.length);
      for (let at = 0; at < packed.bytes.length; at += PIECE_BYTES) {
        if (at > 0) await yieldToEventLoop();
        parts.take(packed.bytes.subarray(at, at + PIECE_BYTES));
      }
    }
    return { revision: packed?.revision, reader: parts };
  } catch (error) {
    parts.release();
    throw error;
  }
}

interface IndexLoadOptions {
  readonly space: EmbeddingSpace;
  readonly meter: Meter;
  readonly shared: SharedSearchIndexes | undefined;
  /** The stored index, if it was read already. */
  readonly stored: StoredSearchIndex | undefined;
}

/** An index, and the number of units it had when another server shared it, if one did. */
interface LoadedIndex {
  readonly searchIndex: SearchIndex;
  readonly shared?: number;
}

/** The index that another server shared, the one that the store keeps, or an empty one. */
async function loadIndex(
  store: IndexSource,
  scope: Scope,
  revision: number,
  { space, meter, shared, stored: alreadyRead }: IndexLoadOptions,
): Promise<LoadedIndex> {
  if (revision === 0) {
    alreadyRead?.reader.release();
    return { searchIndex: createSearchIndex(space) };
  }
  const others = await shared?.take(scope, revision);
  if (others) return { searchIndex: others, shared: others.units.count };
  const { revision: of, reader: parts } = alreadyRead ?? (await readStoredIndex(store, scope, space));
  if (of === undefined || of > revision) {
    parts.release();
    return { searchIndex: createSearchIndex(space) };
  }
  const searchIndex = parts.index();
  if (!searchIndex) meter.count("memory_blocks_lost_total");
  return { searchIndex: searchIndex ?? createSearchIndex(space) };
}

/** Runs work in sequence for each user, and in parallel across users. */
export interface UserQueue {
  runExclusive<Result>(scope: Scope, work: () => Promise<Result>): Promise<Result>;
  isBusy(scope: Scope): boolean;
}

export function createUserQueue(): UserQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    async runExclusive(scope, work) {
      const key = toScopeKey(scope);
      const before = last.get(key) ?? Promise.resolve();
      const result = before.then(work, work);
      last.set(key, result);
      try {
        return await result;
      } finally {
        if (last.get(key) === result) last.delete(key);
      }
    },
    isBusy: (scope) => last.has(toScopeKey(scope)),
  };
}
