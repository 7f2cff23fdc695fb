import { checkCount } from "../../domain/limits.ts";
import type { Where } from "../../domain/metadata-filter.ts";
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

export interface ChromaVectorIndexOptions {
  /** A `ChromaClient` that the caller made: address, tenant, database and token are its own. */
  readonly client: ChromaClientLike;
  /** How the names of our collections begin ("keepsake"); two programs on one database take two. */
  readonly prefix?: string;
  /** Has Chroma hold the texts of the units as documents, so that `whereDocument` finds them (false). */
  readonly texts?: boolean;
  /** How long one request may take, in ms (10,000). */
  readonly timeoutMs?: number;
}

/** A `Follower` that can narrow by what stands in the texts, where it holds them. */
export interface ChromaVectorIndex extends VectorIndex {
  nearest(
    of: VectorIndexUser,
    vector: Float32Array,
    options: ChromaNearestOptions,
  ): Promise<VectorIndexHit[]>;
}

export interface ChromaNearestOptions extends CallOptions {
  readonly limit: number;
  readonly where?: Where;
  /** In Chroma's own form: `{ $contains: "sourdough" }`. `unsupported` where no texts are held. */
  readonly whereDocument?: ChromaWhereDocument;
}

/** Entries of one request, however many more the server takes: it stays short enough for its deadline. */
const MOST_IN_ONE = 500;
/** Writing a vector over takes Chroma five times as long as putting it, and much longer where it is busy. */
const WIPED_IN_ONE = 100;
/** Ids of one page: each begins with counting from the first. */
const PAGE_IDS = 5000;
const CHROMA_REMAINDERS: readonly VectorIndexRemainder[] = [
  { place: "free pages of Chroma's chroma.sqlite3, until they are written over or `chroma vacuum` is run" },
];

/**
 * Chroma (server 1.x, client 3.5) as a follower: a collection for each user, cosine similarity. `invalid_input` for options
 * that cannot work.
 */
export function createChromaVectorIndex(options: ChromaVectorIndexOptions): ChromaVectorIndex {
  const { client, prefix = "keepsake", texts: withTexts = false } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,399}$/.test(prefix)) {
    throw invalid(
      "prefix: at most 400 letters, digits, dots, dashes and underscores, a letter or digit first.",
    );
  }
  const timeoutMs = checkCount(options.timeoutMs ?? 10_000, "timeoutMs", 1, 600_000);
  const asked = createChromaRequester({ tries: 5, timeoutMs, deadlineMs: 6 * timeoutMs });
  let space: VectorIndexSpace | undefined;
  let isClosed = false;
  let most: number | undefined;

  const begin = (signal: AbortSignal | undefined): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", "The index in Chroma is closed. Open another.");
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
  const held = createChromaCollections(client, asked, prefix, spaceNow);
  const batchSize = async (signal?: AbortSignal): Promise<number> => {
    const said = most ?? (await asked.request(() => client.getMaxBatchSize(), signal));
    most = Math.max(1, Math.min(MOST_IN_ONE, said ?? MOST_IN_ONE));
    return most;
  };

  /** Asks a user's collection; once more where the one that we knew has been dropped. Nothing where there is none. */
  const onCollection = async <Value>(
    user: VectorIndexUser,
    { make = false, signal }: { readonly make?: boolean; readonly signal: AbortSignal | undefined },
    work: (collection: ChromaCollectionLike) => Promise<Value | undefined>,
  ): Promise<Value | undefined> => {
    for (let tried = 0; tried < 2; tried += 1) {
      const collection = await held.of(user, make, signal);
      if (!collection) return undefined;
      const given = await work(collection);
      if (given !== undefined) return given;
      held.forget(user);
    }
    if (!make) return undefined;
    throw new MemoryError(
      "unavailable",
      "Chroma's collection was dropped while it was written to. Try again.",
    );
  };

  const takeAway = async (all: readonly ChromaCollectionLike[], signal?: AbortSignal): Promise<void> => {
    for (const one of all)
      await wipeCollection(asked, client, one, {
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
      await takeAway(await held.ours(wanted, signal), signal);
      await held.mark(wanted, signal);
      space = { ...wanted };
    },

    async put(user, entries, { signal } = {}) {
      begin(signal);
      for (const { vector } of entries) checkLength(vector);
      const last = [...new Map(entries.map((entry) => [entry.id, entry])).values()];
      // Before the first wait: whoever gave them may change them meanwhile.
      const records = last.map((entry) => toChromaRecord(entry, withTexts));
      for (const chunk of splitIntoChunks(records, entries.length === 0 ? 1 : await batchSize(signal))) {
        await onCollection(user, { make: true, signal }, (collection) =>
          asked.requestInOrder(
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
          wipeEntries(asked, collection, chunk, { withTexts, signal }),
        );
      }
    },

    async dropUser(user, { signal } = {}) {
      begin(signal);
      const collection = await held.of(user, false, signal);
      if (!collection) return;
      await takeAway([collection], signal);
      held.forget(user);
    },

    async nearest(user, vector, { limit, where, whereDocument, signal }) {
      begin(signal);
      checkLength(vector);
      if (whereDocument && !withTexts) {
        throw new MemoryError(
          "unsupported",
          "whereDocument: no texts are held in Chroma. Open it with `texts`.",
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
        asked.request(() => collection.query(query), signal),
      );
      // Of nobody there is nothing; of a server that came back empty there is no answer.
      if (!found) await held.checkMark(signal);
      return toHits(found);
    },

    async held(user, ids, { signal } = {}) {
      begin(signal);
      const there: string[] = [];
      for (const chunk of splitIntoChunks([...new Set(ids)], MOST_IN_ONE)) {
        const found = await onCollection(user, { signal }, (collection) =>
          asked.requestInOrder(collection.name, () => collection.get({ ids: chunk, include: [] }), signal),
        );
        there.push(...(found?.ids ?? []));
      }
      return there;
    },

    async *entries(user, { signal } = {}) {
      for (let offset = 0; ; offset += PAGE_IDS) {
        begin(signal);
        const page = await onCollection(user, { signal }, (collection) =>
          asked.request(() => collection.get({ limit: PAGE_IDS, offset, include: [] }), signal),
        );
        if (page && page.ids.length > 0) yield page.ids;
        if (!page || page.ids.length < PAGE_IDS) return;
      }
    },

    async clear({ signal } = {}) {
      begin(signal);
      await takeAway(await held.ours(undefined, signal), signal);
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
    // An entry put again keeps the fields that it is not given anew, unless they are said to be empty.
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

/** Distances of this space are 1 - cosine. */
function toHits(found: Awaited<ReturnType<ChromaCollectionLike["query"]>> | undefined): VectorIndexHit[] {
  const distances = found?.distances[0] ?? [];
  return (found?.ids[0] ?? []).map((id, i) => ({
    id,
    score: Math.max(-1, Math.min(1, 1 - (distances[i] ?? 2))),
  }));
}

function splitIntoChunks<Value>(all: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_one, i) =>
    all.slice(i * size, (i + 1) * size),
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
