import { createHash } from "node:crypto";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace, VectorIndexUser } from "../../ports/vector-index.ts";
import { type RetryPolicy, retryWithBackoff, withTimeout } from "../shared/model-calls/remote-call.ts";
import type { ChromaClientLike, ChromaCollectionLike, ChromaHnsw } from "./client.ts";

/**
 * The collections, one for each user. A single collection with a filter is ten times slower at 100,000 entries. Its approximate
 * index would also miss hits that pass the filter.
 */
interface ChromaCollections {
  /**
   * A user's collection; undefined if there is none, unless it is to be created. Throws `unavailable` if it would be the first of a
   * server that lost its data, because the caller must then fill the index again.
   */
  of(user: VectorIndexUser, make: boolean, signal?: AbortSignal): Promise<ChromaCollectionLike | undefined>;
  /** Drops the cached collection of a user, after the server reported that it does not exist. */
  forget(user: VectorIndexUser): void;
  /** Creates the marker collection, which shows that the server was prepared for this space. */
  mark(space: VectorIndexSpace, signal?: AbortSignal): Promise<void>;
  /** Throws `unavailable` if the marker collection is missing. */
  checkMark(signal?: AbortSignal): Promise<void>;
  /** The collections of this program; with `except`, those of other spaces only. */
  ours(except?: VectorIndexSpace, signal?: AbortSignal): Promise<ChromaCollectionLike[]>;
}

/**
 * With `sync_threshold` 2, Chroma writes its index to disk with each request, and truncates its log. With Chroma's default of 1,000,
 * erased vectors would stay in the file until that many other writes arrive.
 */
const HNSW: ChromaHnsw = {
  space: "cosine",
  ef_construction: 100,
  ef_search: 500,
  max_neighbors: 16,
  sync_threshold: 2,
  batch_size: 2,
};
const MARK_FIELD = "keepsake";
/** The number of cached collections; others are requested again. */
const MOST_KEPT = 2000;
const PAGE = 500;

export function createChromaCollections(
  client: ChromaClientLike,
  requester: ChromaRequester,
  prefix: string,
  space: () => VectorIndexSpace,
): ChromaCollections {
  const cached = new Map<string, ChromaCollectionLike>();
  const nameOf = (user: VectorIndexUser): string =>
    `${prefix}-${hashToDigits(toSpaceKey(space()), 8)}-${hashToDigits(toScopeKey(user), 40)}`;
  const markOf = (of: VectorIndexSpace): string => `${prefix}-${hashToDigits(toSpaceKey(of), 8)}-prepared`;

  const cache = (name: string, one: ChromaCollectionLike): ChromaCollectionLike => {
    const [oldest] = cached.keys();
    if (cached.size >= MOST_KEPT && oldest !== undefined) cached.delete(oldest);
    cached.set(name, one);
    return one;
  };

  const getOrCreate = (name: string, of: VectorIndexSpace, signal?: AbortSignal) => {
    const metadata = { [MARK_FIELD]: prefix, dimensions: of.dimensions };
    const wanted = { name, embeddingFunction: null, configuration: { hnsw: HNSW }, metadata };
    return requester.requestInOrder(name, () => client.getOrCreateCollection(wanted), signal);
  };
  const checkMark = async (signal?: AbortSignal): Promise<void> => {
    if (await requester.request(() => client.getCollection({ name: markOf(space()) }), signal)) return;
    throw new MemoryError("unavailable", "Chroma has lost its data. The index is being filled again.");
  };

  return {
    forget: (user) => void cached.delete(nameOf(user)),
    async of(user, make, signal) {
      const name = nameOf(user);
      const known = cached.get(name);
      if (known) return known;
      if (make) await checkMark(signal);
      const found = await (make
        ? getOrCreate(name, space(), signal)
        : requester.request(() => client.getCollection({ name }), signal));
      return found && cache(name, checkCollection(found, prefix));
    },
    async mark(of, signal) {
      const found = await getOrCreate(markOf(of), of, signal);
      if (found) checkCollection(found, prefix);
    },
    checkMark,
    async ours(except, signal) {
      const collections: ChromaCollectionLike[] = [];
      for (let offset = 0; ; offset += PAGE) {
        const page =
          (await requester.request(() => client.listCollections({ limit: PAGE, offset }), signal)) ?? [];
        collections.push(...page.filter((one) => one.metadata?.[MARK_FIELD] === prefix));
        if (page.length < PAGE) break;
      }
      const other = except && hashToDigits(toSpaceKey(except), 8);
      return collections.filter(({ name }) => {
        const of = /^-([0-9a-f]{8})-(?:[0-9a-f]{40}|prepared)$/.exec(name.slice(prefix.length))?.[1];
        return of !== undefined && of !== other;
      });
    },
  };
}

/** Refuses a collection with this name that another program created, or with another distance. */
function checkCollection(one: ChromaCollectionLike, prefix: string): ChromaCollectionLike {
  if (one.metadata?.[MARK_FIELD] === prefix && one.configuration?.hnsw?.space === "cosine") return one;
  throw invalid(`The collection "${one.name}" in Chroma does not belong to Keepsake. Choose another prefix.`);
}

/** Names in Chroma are ASCII with at most 512 characters, and must not reveal a user's name. */
function hashToDigits(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

function toSpaceKey({ fingerprint, dimensions }: VectorIndexSpace): string {
  return JSON.stringify([fingerprint, dimensions]);
}

interface WipeOptions {
  /** Whether documents are overwritten too. */
  readonly withTexts: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Ids that never exist: ids of memories are UUIDs, and those of passages contain a "#". */
const UNUSED_IDS = ["-", "--"];

/**
 * Deletes entries so that their vectors are gone from disk too. Chroma only marks deleted entries: the vector stays in the index
 * file, even when the collection is deleted. So each vector is overwritten with noise before its entry is deleted. Undefined if the
 * collection does not exist.
 */
export async function wipeEntries(
  requester: ChromaRequester,
  collection: ChromaCollectionLike,
  ids: readonly string[],
  { withTexts, signal }: WipeOptions,
): Promise<true | undefined> {
  const found = await requester.requestInOrder(
    collection.name,
    () => collection.get({ ids: [...ids], include: [] }),
    signal,
  );
  if (!found) return undefined;
  const existing = found.ids;
  if (existing.length === 0) return true;
  const dimensions = Number(collection.metadata?.dimensions);
  const blank = {
    ids: [...existing],
    embeddings: existing.map(() => createNoise(dimensions)),
    metadatas: existing.map(() => ({ type: "", owner: "", at: 0, kind: "", session: "" })),
    ...(withTexts ? { documents: existing.map(() => "-") } : {}),
  };
  await requester.requestInOrder(collection.name, () => collection.update(blank), signal);
  // Chroma's log keeps the last deleted id until the next deletion.
  for (const batch of [[...existing], UNUSED_IDS]) {
    await requester.requestInOrder(collection.name, () => collection.delete({ ids: [...batch] }), signal);
  }
  return true;
}

/** Deletes a collection with all its entries, in batches. An interrupted deletion can be continued. */
export async function wipeCollection(
  requester: ChromaRequester,
  client: ChromaClientLike,
  collection: ChromaCollectionLike,
  { limit, ...how }: WipeOptions & { readonly limit: number },
): Promise<void> {
  for (;;) {
    const page = await requester.requestInOrder(
      collection.name,
      () => collection.get({ limit, include: [] }),
      how.signal,
    );
    if (!page || page.ids.length === 0) break;
    await wipeEntries(requester, collection, page.ids, how);
  }
  await requester.requestInOrder(
    collection.name,
    () => client.deleteCollection({ name: collection.name }),
    how.signal,
  );
}

/** A random direction: equal vectors would crowd one region of the index and slow it down. */
function createNoise(dimensions: number): number[] {
  const parts = Array.from({ length: dimensions }, () => Math.random() - 0.5);
  const length = Math.hypot(...parts) || 1;
  return parts.map((part) => part / length);
}

/** Sends requests to Chroma. */
interface ChromaRequester {
  /** Sends a request; undefined if its object does not exist. */
  request<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value | undefined>;
  /**
   * Like `request`, for writes to a collection, and for checks that data is gone. Chroma's client cannot abort: a write that timed
   * out may still arrive, and must not arrive after a later one. So the next request waits for it.
   */
  requestInOrder<Value>(
    name: string,
    work: () => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value | undefined>;
}

/** Each request has `timeoutMs`. Only a rate-limited request (429) is retried, until `deadlineMs`. */
export function createChromaRequester(patience: RetryPolicy): ChromaRequester {
  /** By collection: requests in progress, which may continue after they timed out. */
  const pending = new Map<string, Promise<unknown>>();

  const request = <Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value | undefined> =>
    retryWithBackoff<Value | undefined>(patience, signal, async (timeoutMs) => {
      try {
        return { value: await withTimeout(work(), timeoutMs, () => createTimeoutError(timeoutMs), signal) };
      } catch (error) {
        signal?.throwIfAborted();
        if (isMemoryError(error)) throw error;
        if (getErrorName(error) === "ChromaNotFoundError") return { value: undefined };
        if (getErrorName(error) === "ChromaRateLimitError") return { failed: createRateLimitError() };
        throw toChromaError(error);
      }
    });

  const trackRequest = <Value>(name: string, work: () => Promise<Value>) => {
    const begun = work();
    const settled = Promise.allSettled([begun, pending.get(name)]);
    pending.set(name, settled);
    void settled.then(() => pending.get(name) === settled && pending.delete(name));
    return begun;
  };

  return {
    request,
    async requestInOrder(name, work, signal) {
      const before = pending.get(name);
      if (before)
        await withTimeout(before, patience.timeoutMs, () => createTimeoutError(patience.timeoutMs), signal);
      return request(() => trackRequest(name, work), signal);
    },
  };
}

function createTimeoutError(timeoutMs: number): MemoryError {
  return new MemoryError("unavailable", `Chroma did not answer within ${timeoutMs} ms.`);
}

function createRateLimitError(): MemoryError {
  return new MemoryError("unavailable", "Chroma received too many requests. Try again later.");
}

function getErrorName(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** Recognises errors by name, because the client's package is not imported. Their messages are left out, because they repeat the request. */
function toChromaError(error: unknown): MemoryError {
  const name = getErrorName(error);
  if (/^Chroma(Auth|Unauthorized|Forbidden)Error$/.test(name)) {
    return new MemoryError("forbidden", "Chroma rejects the credentials. Check its token.", { cause: name });
  }
  if (/^(Chroma(Client|Value|Unique)|Invalid(Collection|Argument))Error$/.test(name)) {
    return new MemoryError("invalid_input", `Chroma rejects the request (${name}).`, { cause: name });
  }
  return new MemoryError("unavailable", "Chroma cannot be reached. Is its server running?", {
    cause: name,
  });
}
