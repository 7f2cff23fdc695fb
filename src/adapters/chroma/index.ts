import type { Where } from "../../domain/filters/metadata-filter.ts";
import { checkCount } from "../../domain/limits.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type {
  VectorIndex,
  VectorIndexEntry,
  VectorIndexHit,
  VectorIndexRemainder,
  VectorIndexSpace,
  VectorIndexUser,
} from "../../ports/vector-index.ts";
import type { ChromaClientLike, ChromaCollectionLike, ChromaEntries, ChromaWhereDocument } from "./client.ts";
import { toChromaFilter } from "./client.ts";
import {
  createChromaCollections,
  createChromaRequester,
  wipeCollection,
  wipeEntries,
} from "./collections.ts";

export type {
  ChromaClientLike,
  ChromaCollectionLike,
  ChromaEntries,
  ChromaHnsw,
  ChromaWhereDocument,
} from "./client.ts";

/** Options of `createChromaVectorIndex`. */
export interface ChromaVectorIndexOptions {
  /** A `ChromaClient` of the caller, with its own address, tenant, database and token. */
  readonly client: ChromaClientLike;
  /** The prefix of our collection names (default: "keepsake"). Two programs on one database need different prefixes. */
  readonly prefix?: string;
  /** Whether Chroma stores the texts of the units as documents, which `whereDocument` needs (default: false). */
  readonly texts?: boolean;
  /** Timeout of one request, in ms (default: 10,000). */
  readonly timeoutMs?: number;
}

/** A vector index that can also filter by text, if it stores the texts. */
export interface ChromaVectorIndex extends VectorIndex {
  nearest(
    of: VectorIndexUser,
    vector: Float32Array,
    options: ChromaNearestOptions,
  ): Promise<VectorIndexHit[]>;
}

/** Options of `nearest` in Chroma. */
export interface ChromaNearestOptions extends CallOptions {
  /** The maximum number of hits. */
  readonly limit: number;
  /** Only entries whose metadata matches. */
  readonly where?: Where;
  /** In Chroma's own format: `{ $contains: "sourdough" }`. Throws `unsupported` if no texts are stored. */
  readonly whereDocument?: ChromaWhereDocument;
}

/** The most entries of one request, even if the server accepts more, so that it meets its deadline. */
const MOST_IN_ONE = 500;
/** The most entries overwritten at once: it takes Chroma five times as long as adding them, and much longer under load. */
const WIPED_IN_ONE = 100;
/** Ids per page; Chroma counts from the first id for each page. */
const PAGE_IDS = 5000;
const CHROMA_REMAINDERS: readonly VectorIndexRemainder[] = [
  { place: "free pages of Chroma's chroma.sqlite3, until they are written over or `chroma vacuum` is run" },
];

/**
 * A vector index in Chroma (server 1.x, client 3.5): a collection for each user, cosine similarity. Throws `invalid_input` for
 * invalid options.
 */
export function createChromaVectorIndex(options: ChromaVectorIndexOptions): ChromaVectorIndex {
  const { client, prefix = "keepsake", texts: withTexts = false } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,399}$/.test(prefix)) {
    throw invalid(
      "prefix: use at most 400 letters, digits, dots, dashes and underscores, beginning with a letter or digit.",
    );
  }
  const timeoutMs = checkCount(options.timeoutMs ?? 10_000, "timeoutMs", 1, 600_000);
  const requester = createChromaRequester({ tries: 5, timeoutMs, deadlineMs: 6 * timeoutMs });
  let space: VectorIndexSpace | undefined;
  let isClosed = false;
  let most: number | undefined;

  const begin = (signal: AbortSignal | undefined): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", "The index in Chroma is closed. Open it again.");
  };
  const spaceNow = (): VectorIndexSpace => {
    if (!space) throw invalid("The index in Chroma is not prepared: call prepare() first.");
    return space;
  };
  const checkLength = ({ length }: Float32Array): void => {
    const { dimensions } = spaceNow();
    if (length === dimensions) return;
    throw invalid(`The index in Chroma takes vectors of ${dimensions} numbers, not ${length}.`);
  };
  const collections = createChromaCollections(client, requester, prefix, spaceNow);
  const batchSize = async (signal?: AbortSignal): Promise<number> => {
    const serverLimit = most ?? (await requester.request(() => client.getMaxBatchSize(), signal));
    most = Math.max(1, Math.min(MOST_IN_ONE, serverLimit ?? MOST_IN_ONE));
    return most;
  };

  /** Works on a user's collection, and once more if the cached one was dropped. Undefined if there is none. */
  const onCollection = async <Value>(
    user: VectorIndexUser,
    { make = false, signal }: { readonly make?: boolean; readonly signal: AbortSignal | undefined },
    work: (collection: ChromaCollectionLike) => Promise<Value | undefined>,
  ): Promise<Value | undefined> => {
    for (let tried = 0; tried < 2; tried += 1) {
      const collection = await collections.of(user, make, signal);
      if (!collection) return undefined;
      const given = await work(collection);
      if (given !== undefined) return given;
      collections.forget(user);
    }
    if (!make) return undefined;
    throw new MemoryError("unavailable", "Chroma's collection was dropped during a write. Try again.");
  };

  const wipeCollections = async (
    targets: readonly ChromaCollectionLike[],
    signal?: AbortSignal,
  ): Promise<void> => {
    for (const one of targets)
      await wipeCollection(requester, client, one, {
        limit: Math.min(WIPED_IN_ONE, await batchSize(signal)),
        withTexts,
        signal,
      });
  };

  return {
    name: "chroma",
    holdsTexts: withTexts,
    remains: CHROMA_REMAINDERS,

    async prepare(wanted, { signal } = {}) {
      begin(signal);
      await wipeCollections(await collections.ours(wanted, signal), signal);
      await collections.mark(wanted, signal);
      space = { ...wanted };
    },

    async put(user, entries, { signal } = {}) {
      begin(signal);
      for (const { vector } of entries) checkLength(vector);
      const last = [...new Map(entries.map((entry) => [entry.id, entry])).values()];
      // Copied before the first await, because the caller may change them meanwhile.
      const records = last.map((entry) => toChromaRecord(entry, withTexts));
      for (const chunk of splitIntoChunks(records, entries.length === 0 ? 1 : await batchSize(signal))) {
        await onCollection(user, { make: true, signal }, (collection) =>
          requester.requestInOrder(
            collection.name,
            () => returnTrue(collection.upsert(toChromaEntries(chunk))),
            signal,
          ),
        );
      }
    },

    async drop(user, ids, { signal } = {}) {
      begin(signal);
      const limit = ids.length === 0 ? 1 : Math.min(WIPED_IN_ONE, await batchSize(signal));
      for (const chunk of splitIntoChunks([...new Set(ids)], limit)) {
        await onCollection(user, { signal }, (collection) =>
          wipeEntries(requester, collection, chunk, { withTexts, signal }),
        );
      }
    },

    async dropUser(user, { signal } = {}) {
      begin(signal);
      const collection = await collections.of(user, false, signal);
      if (!collection) return;
      await wipeCollections([collection], signal);
      collections.forget(user);
    },

    async nearest(user, vector, { limit, where, whereDocument, signal }) {
      begin(signal);
      checkLength(vector);
      if (whereDocument && !withTexts) {
        throw new MemoryError(
          "unsupported",
          "whereDocument: Chroma stores no texts. Open the index with `texts`.",
        );
      }
      const narrowed = toChromaFilter(where);
      const query = {
        queryEmbeddings: [[...vector]],
        nResults: limit,
        ...(narrowed && { where: narrowed }),
        ...(whereDocument && { whereDocument }),
        include: ["distances"] as ["distances"],
      };
      const found = await onCollection(user, { signal }, (collection) =>
        requester.request(() => collection.query(query), signal),
      );
      // A user without data has no hits, but a server that lost its data has no answer.
      if (!found) await collections.checkMark(signal);
      return toHits(found);
    },

    async held(user, ids, { signal } = {}) {
      begin(signal);
      const existing: string[] = [];
      for (const chunk of splitIntoChunks([...new Set(ids)], MOST_IN_ONE)) {
        const found = await onCollection(user, { signal }, (collection) =>
          requester.requestInOrder(
            collection.name,
            () => collection.get({ ids: chunk, include: [] }),
            signal,
          ),
        );
        existing.push(...(found?.ids ?? []));
      }
      return existing;
    },

    async *entries(user, { signal } = {}) {
      for (let offset = 0; ; offset += PAGE_IDS) {
        begin(signal);
        const page = await onCollection(user, { signal }, (collection) =>
          requester.request(() => collection.get({ limit: PAGE_IDS, offset, include: [] }), signal),
        );
        if (page && page.ids.length > 0) yield page.ids;
        if (!page || page.ids.length < PAGE_IDS) return;
      }
    },

    async clear({ signal } = {}) {
      begin(signal);
      await wipeCollections(await collections.ours(undefined, signal), signal);
      space = undefined;
    },

    async close() {
      isClosed = true;
    },
  };
}

interface ChromaRecord {
  readonly id: string;
  readonly embedding: number[];
  readonly metadata: { [field: string]: string | number };
  readonly document: string | undefined;
}

function toChromaRecord({ id, vector, metadata, text }: VectorIndexEntry, withTexts: boolean): ChromaRecord {
  const { type, owner, at, kind, session } = metadata;
  return {
    id,
    embedding: [...vector],
    // An entry that is put again keeps omitted fields, unless they are set to empty.
    metadata: { type, owner, at, kind: kind ?? "", session: session ?? "" },
    document: withTexts ? (text ?? "") : undefined,
  };
}

function toChromaEntries(records: readonly ChromaRecord[]): ChromaEntries {
  const documents = records.flatMap(({ document }) => (document === undefined ? [] : [document]));
  return {
    ids: records.map(({ id }) => id),
    embeddings: records.map(({ embedding }) => embedding),
    metadatas: records.map(({ metadata }) => metadata),
    ...(documents.length === records.length ? { documents } : {}),
  };
}

/** Distances in this space are 1 - cosine. */
function toHits(found: Awaited<ReturnType<ChromaCollectionLike["query"]>> | undefined): VectorIndexHit[] {
  const distances = found?.distances[0] ?? [];
  return (found?.ids[0] ?? []).map((id, i) => ({
    id,
    score: Math.max(-1, Math.min(1, 1 - (distances[i] ?? 2))),
  }));
}

function splitIntoChunks<Value>(values: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_one, i) =>
    values.slice(i * size, (i + 1) * size),
  );
}

async function returnTrue(work: Promise<unknown>): Promise<true> {
  await work;
  return true;
}

/** Earlier names, kept until version 1.0. */
export {
  type ChromaVectorIndex as ChromaFollower,
  type ChromaVectorIndexOptions as ChromaFollowerOptions,
  createChromaVectorIndex as chromaFollower,
};
