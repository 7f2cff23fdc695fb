import { createHash } from "node:crypto";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace, VectorIndexUser } from "../../ports/vector-index.ts";
import { type RetryPolicy, retryWithBackoff, withTimeout } from "../shared/remote-call.ts";
import type { ChromaClientLike, ChromaCollectionLike, ChromaHnsw } from "./client.ts";

/**
 * A collection for each user. One for all, asked with a filter, is ten times slower at 100,000 entries, and its index,
 * which is approximate, loses what the filter leaves over.
 */
interface ChromaCollections {
  /**
   * A user's; nothing where there is none, unless it is to be made. `unavailable` where it would be the first of a server that
   * came back empty: whoever fills it must know.
   */
  of(user: VectorIndexUser, make: boolean, signal?: AbortSignal): Promise<ChromaCollectionLike | undefined>;
  /** Forgets what is known of one: the server says that it is not there. */
  forget(user: VectorIndexUser): void;
  /** Makes the collection by which a server is known that was prepared for this space. */
  mark(space: VectorIndexSpace, signal?: AbortSignal): Promise<void>;
  /** `unavailable` where that is gone. */
  checkMark(signal?: AbortSignal): Promise<void>;
  /** Those that we made; of other spaces alone, where one is named. */
  ours(except?: VectorIndexSpace, signal?: AbortSignal): Promise<ChromaCollectionLike[]>;
}

/**
 * `sync_threshold` 2 has Chroma bring its index to the disk with each request, and empty its log behind it. With the 1,000 that
 * Chroma has of itself, the vectors that an erasure writes over would stay in the file until so much else has come.
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
/** So many handles are kept; the others are asked for again. */
const MOST_KEPT = 2000;
const PAGE = 500;

export function createChromaCollections(
  client: ChromaClientLike,
  asking: ChromaRequester,
  prefix: string,
  space: () => VectorIndexSpace,
): ChromaCollections {
  const kept = new Map<string, ChromaCollectionLike>();
  const nameOf = (user: VectorIndexUser): string =>
    `${prefix}-${hashToDigits(toSpaceKey(space()), 8)}-${hashToDigits(toScopeKey(user), 40)}`;
  const markOf = (of: VectorIndexSpace): string => `${prefix}-${hashToDigits(toSpaceKey(of), 8)}-prepared`;

  const keep = (name: string, one: ChromaCollectionLike): ChromaCollectionLike => {
    const [oldest] = kept.keys();
    if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(name, one);
    return one;
  };

  const made = (name: string, of: VectorIndexSpace, signal?: AbortSignal) => {
    const metadata = { [MARK_FIELD]: prefix, dimensions: of.dimensions };
    const wanted = { name, embeddingFunction: null, configuration: { hnsw: HNSW }, metadata };
    return asking.requestInOrder(name, () => client.getOrCreateCollection(wanted), signal);
  };
  const checkMark = async (signal?: AbortSignal): Promise<void> => {
    if (await asking.request(() => client.getCollection({ name: markOf(space()) }), signal)) return;
    throw new MemoryError("unavailable", "Chroma has lost what it was given. It is filled again.");
  };

  return {
    forget: (user) => void kept.delete(nameOf(user)),
    async of(user, make, signal) {
      const name = nameOf(user);
      const known = kept.get(name);
      if (known) return known;
      if (make) await checkMark(signal);
      const found = await (make
        ? made(name, space(), signal)
        : asking.request(() => client.getCollection({ name }), signal));
      return found && keep(name, checkCollection(found, prefix));
    },
    async mark(of, signal) {
      const found = await made(markOf(of), of, signal);
      if (found) checkCollection(found, prefix);
    },
    checkMark,
    async ours(except, signal) {
      const all: ChromaCollectionLike[] = [];
      for (let offset = 0; ; offset += PAGE) {
        const page =
          (await asking.request(() => client.listCollections({ limit: PAGE, offset }), signal)) ?? [];
        all.push(...page.filter((one) => one.metadata?.[MARK_FIELD] === prefix));
        if (page.length < PAGE) break;
      }
      const other = except && hashToDigits(toSpaceKey(except), 8);
      return all.filter(({ name }) => {
        const of = /^-([0-9a-f]{8})-(?:[0-9a-f]{40}|prepared)$/.exec(name.slice(prefix.length))?.[1];
        return of !== undefined && of !== other;
      });
    },
  };
}

/** A collection of such a name that we did not make, or that measures otherwise, is somebody else's. */
function checkCollection(one: ChromaCollectionLike, prefix: string): ChromaCollectionLike {
  if (one.metadata?.[MARK_FIELD] === prefix && one.configuration?.hnsw?.space === "cosine") return one;
  throw invalid(`The collection "${one.name}" in Chroma is not Keepsake's. Choose another prefix.`);
}

/** Names in Chroma are plain ASCII and at most 512 characters; and nobody's name is to be read in one. */
function hashToDigits(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

function toSpaceKey({ fingerprint, dimensions }: VectorIndexSpace): string {
  return JSON.stringify([fingerprint, dimensions]);
}

interface WipeOptions {
  /** Whether documents are to be written over, too. */
  readonly withTexts: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Nobody's ids: those of memories are UUIDs, those of passages have a "#" in them. */
const UNUSED_IDS = ["-", "--"];

/**
 * Takes entries away so that their vectors are gone from the disk as well. What Chroma deletes it only marks: the vector
 * stays in the file of its index, and the whole file stays when the collection is deleted. So each vector is
 * written over by one that means nothing before its entry is deleted. Nothing where the collection itself is not there.
 */
export async function wipeEntries(
  asking: ChromaRequester,
  collection: ChromaCollectionLike,
  ids: readonly string[],
  { withTexts, signal }: WipeOptions,
): Promise<true | undefined> {
  const found = await asking.requestInOrder(
    collection.name,
    () => collection.get({ ids: [...ids], include: [] }),
    signal,
  );
  if (!found) return undefined;
  const there = found.ids;
  if (there.length === 0) return true;
  const dimensions = Number(collection.metadata?.dimensions);
  const blank = {
    ids: [...there],
    embeddings: there.map(() => createNoise(dimensions)),
    metadatas: there.map(() => ({ type: "", owner: "", at: 0, kind: "", session: "" })),
    ...(withTexts ? { documents: there.map(() => "-") } : {}),
  };
  await asking.requestInOrder(collection.name, () => collection.update(blank), signal);
  // The last that was deleted keeps its name in Chroma's log until something else is.
  for (const those of [[...there], UNUSED_IDS]) {
    await asking.requestInOrder(collection.name, () => collection.delete({ ids: [...those] }), signal);
  }
  return true;
}

/** Takes a collection away with all that it holds, so many entries at a time. What was broken off goes on where it stopped. */
export async function wipeCollection(
  asking: ChromaRequester,
  client: ChromaClientLike,
  collection: ChromaCollectionLike,
  { limit, ...how }: WipeOptions & { readonly limit: number },
): Promise<void> {
  for (;;) {
    const page = await asking.requestInOrder(
      collection.name,
      () => collection.get({ limit, include: [] }),
      how.signal,
    );
    if (!page || page.ids.length === 0) break;
    await wipeEntries(asking, collection, page.ids, how);
  }
  await asking.requestInOrder(
    collection.name,
    () => client.deleteCollection({ name: collection.name }),
    how.signal,
  );
}

/** Any direction: equal ones would crowd one corner of the index and slow it down. */
function createNoise(dimensions: number): number[] {
  const parts = Array.from({ length: dimensions }, () => Math.random() - 0.5);
  const length = Math.hypot(...parts) || 1;
  return parts.map((part) => part / length);
}

/** How Chroma is asked: what is asked, and whoever breaks it off. */
interface ChromaRequester {
  /** Asks for something; gives nothing where what was asked about is not there. */
  request<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value | undefined>;
  /**
   * As `ask`, for what writes to a collection, and for what looks whether something is gone from it. Chroma's client cannot be
   * told to stop: a write that took too long may still arrive, and must not arrive behind a later one. So the next waits for it.
   */
  requestInOrder<Value>(
    name: string,
    work: () => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value | undefined>;
}

/** Every request has `timeoutMs`; only one that was one too many (429) is tried again, until `deadlineMs`. */
export function createChromaRequester(patience: RetryPolicy): ChromaRequester {
  /** What is under way, and may go on when nobody waits for it any more, by collection. */
  const late = new Map<string, Promise<unknown>>();

  const ask = <Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value | undefined> =>
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

  const remembered = <Value>(name: string, work: () => Promise<Value>) => {
    const begun = work();
    const settled = Promise.allSettled([begun, late.get(name)]);
    late.set(name, settled);
    void settled.then(() => late.get(name) === settled && late.delete(name));
    return begun;
  };

  return {
    request: ask,
    async requestInOrder(name, work, signal) {
      const before = late.get(name);
      if (before)
        await withTimeout(before, patience.timeoutMs, () => createTimeoutError(patience.timeoutMs), signal);
      return ask(() => remembered(name, work), signal);
    },
  };
}

function createTimeoutError(timeoutMs: number): MemoryError {
  return new MemoryError("unavailable", `Chroma did not answer within ${timeoutMs} ms.`);
}

function createRateLimitError(): MemoryError {
  return new MemoryError("unavailable", "Chroma has too many requests. Try again later.");
}

function getErrorName(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** By name: the client's package is not ours to import. What its messages say is left out, for they repeat what was sent. */
function toChromaError(error: unknown): MemoryError {
  const name = getErrorName(error);
  if (/^Chroma(Auth|Unauthorized|Forbidden)Error$/.test(name)) {
    return new MemoryError("forbidden", "Chroma refuses the credentials. Check its token.", { cause: name });
  }
  if (/^(Chroma(Client|Value|Unique)|Invalid(Collection|Argument))Error$/.test(name)) {
    return new MemoryError("invalid_input", `Chroma refuses the request (${name}).`, { cause: name });
  }
  return new MemoryError("unavailable", "Chroma is not to be reached now. Is its server running?", {
    cause: name,
  });
}
