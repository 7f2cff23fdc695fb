import { checkCount } from "../../domain/limits.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { VectorIndex, VectorIndexSpace, VectorIndexUser } from "../../ports/vector-index.ts";
import { callRemote, REMOTE_RETRY_POLICY, withTimeout } from "../shared/model-calls/remote-call.ts";
import { clampCosine, toJsonVector, toPlainFilter } from "../shared/vector-request.ts";
import type { S3Document, S3Index, S3VectorsClient } from "./bucket.ts";
import {
  dropIndexes,
  ensureBucket,
  ensureIndex,
  ignoreMissing,
  listIndexNames,
  MAX_VECTORS_PER_PUT,
  parseVectorKey,
  type S3UserIndex,
  type S3VectorsConfig,
  toIndexPrefix,
  toPutBatches,
  toS3Fault,
  toUserIndex,
  toVectorKey,
} from "./bucket.ts";

export type { S3VectorsClient } from "./bucket.ts";

/** Options of `createS3VectorsIndex`. */
export interface S3VectorsIndexOptions {
  /** `new S3Vectors({ region, maxAttempts: 1 })` of `@aws-sdk/client-s3vectors`; retries happen here. */
  readonly client: S3VectorsClient;
  /** The vector bucket; created if it does not exist. */
  readonly bucket: string;
  /** The prefix of index names (default: "keepsake"). Each deployment in the same bucket needs its own. */
  readonly name?: string;
  /**
   * The number of indexes over which users are spread (default: 4,096; a bucket has at most 10,000). Each is created with its first
   * entry. So searches and lists read little more than the user's own entries. Changing the number rebuilds the whole index.
   */
  readonly indexes?: number;
  /** Timeout of one request (default: 5,000), and deadline for all its tries (default: 12,000), in ms. */
  readonly timeoutMs?: number;
  /** Deadline for all tries of one request, in ms (default: 12,000). */
  readonly deadlineMs?: number;
}

/** Limits of one request: hits, deleted keys, fetched keys, listed keys. */
const MOST_HITS = 100;
const MOST_DROPPED = MAX_VECTORS_PER_PUT;
const MOST_ASKED = 100;
const MOST_LISTED = 1000;

/**
 * A vector index in Amazon S3 Vectors, whose reads see every write. Ids, vectors and metadata leave this machine; texts only if
 * entries contain them. Throws `invalid_input` for invalid options.
 */
export function createS3VectorsIndex(options: S3VectorsIndexOptions): VectorIndex {
  const config = toS3VectorsConfig(options);
  const { client, remote } = config;
  /** Indexes that were seen. A missing index was never created, unless it is in this set. A loss is reported once. */
  const known = new Set<string>();
  /** Indexes being created: concurrent calls await the same request. */
  const creating = new Map<string, Promise<void>>();
  let space: VectorIndexSpace | undefined;
  let isClosed = false;

  const begin = (signal: AbortSignal | undefined): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", "The index in S3 Vectors is closed. Open it again.");
  };
  const ready = (signal: AbortSignal | undefined): VectorIndexSpace => {
    begin(signal);
    if (space) return space;
    throw invalid("The index in S3 Vectors is not prepared: call prepare() first.");
  };
  const toIndex = (of: VectorIndexUser, signal: AbortSignal | undefined): S3UserIndex =>
    toUserIndex(config, ready(signal), of);

  /** Calls an index. Undefined if it was never created; throws `unavailable` if it was lost. */
  const callIndex = async <Value>(
    { indexName }: S3Index,
    signal: AbortSignal | undefined,
    call: (options: { abortSignal: AbortSignal }) => Promise<Value>,
  ): Promise<Value | undefined> => {
    const wasThere = known.has(indexName);
    const found = await callRemote(remote, signal, (abortSignal) =>
      call({ abortSignal }).catch(ignoreMissing),
    );
    if (found === false) {
      if (!wasThere) return undefined;
      // Other indexes may be gone too, and one report is enough.
      known.clear();
      throw createLostIndexError();
    }
    known.add(indexName);
    return found;
  };

  const createIndex = async (
    index: S3Index,
    into: VectorIndexSpace,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const { indexName } = index;
    // An aborted caller must not abort it for the others.
    const creation = creating.get(indexName) ?? ensureIndex(config, index, into, undefined);
    creating.set(indexName, creation);
    try {
      await withTimeout(creation, 2 * remote.deadlineMs, createLostIndexError, signal);
      known.add(indexName);
    } finally {
      creating.delete(indexName);
    }
  };

  async function* listIds(
    at: S3UserIndex,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<string[], void, void> {
    const { user, ...index } = at;
    let nextToken: string | undefined;
    do {
      const token = nextToken === undefined ? {} : { nextToken };
      const query = { ...index, maxResults: MOST_LISTED, ...token };
      const page = await callIndex(at, signal, (call) => client.listVectors(query, call));
      nextToken = page?.nextToken;
      const ids = (page?.vectors ?? []).flatMap(({ key }) => parseVectorKey(user, key) ?? []);
      if (ids.length > 0) yield ids;
    } while (nextToken);
  }

  const dropKeys = async (
    at: S3UserIndex,
    ids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const { user, ...index } = at;
    for (let from = 0; from < ids.length; from += MOST_DROPPED) {
      const keys = ids.slice(from, from + MOST_DROPPED).map((id) => toVectorKey(user, id));
      await callIndex(at, signal, (call) => client.deleteVectors({ ...index, keys }, call));
    }
  };

  return {
    name: "s3-vectors",
    isHosted: true,
    // AWS does not say when deleted data leaves its disks.
    remains: [{ place: "AWS's storage, after deletion" }],

    async prepare(wanted, { signal }: CallOptions = {}) {
      begin(signal);
      await ensureBucket(config, signal);
      const prefix = toIndexPrefix(config, wanted);
      // Only checked once, because a bucket may contain thousands of indexes.
      if (!space || toIndexPrefix(config, space) !== prefix) {
        const names = await listIndexNames(config, signal);
        const others = names.filter((name) => !name.startsWith(prefix));
        await dropIndexes(config, others, signal);
        known.clear();
        for (const name of names) if (name.startsWith(prefix)) known.add(name);
      }
      space = { ...wanted };
    },

    async put(of, entries, { signal }: CallOptions = {}) {
      const { user, ...index } = toIndex(of, signal);
      const into = ready(signal);
      for (const { vector } of entries) checkLength(vector, into.dimensions);
      for (const vectors of toPutBatches(user, entries)) {
        const put = (call: { abortSignal: AbortSignal }): Promise<unknown> =>
          client.putVectors({ ...index, vectors }, call);
        if (await callIndex(index, signal, (call) => put(call).then(() => true))) continue;
        await createIndex(index, into, signal);
        await callIndex(index, signal, put);
      }
    },

    async drop(of, ids, { signal }: CallOptions = {}) {
      await dropKeys(toIndex(of, signal), [...new Set(ids)], signal);
    },

    async dropUser(of, { signal }: CallOptions = {}) {
      const at = toIndex(of, signal);
      const ids: string[] = [];
      // Listed completely before the first deletion: a list that shrinks meanwhile may skip entries.
      for await (const page of listIds(at, signal)) ids.push(...page);
      await dropKeys(at, ids, signal);
    },

    async nearest(of, vector, { limit, where = {}, signal }) {
      const at = toIndex(of, signal);
      checkLength(vector, ready(signal).dimensions);
      const ownFilter = { user: { $eq: at.user } };
      const extraFilter = toPlainFilter(where);
      // The filter only contains JSON values.
      const filter = (extraFilter ? { $and: [ownFilter, extraFilter] } : ownFilter) as S3Document;
      const topK = Math.min(limit, MOST_HITS);
      if (topK < 1) return [];
      const { user, ...index } = at;
      const query = { ...index, topK, queryVector: { float32: toJsonVector(vector) }, filter };
      const found = await callIndex(at, signal, (call) =>
        client.queryVectors({ ...query, returnDistance: true }, call),
      );
      return (found?.vectors ?? []).flatMap(({ key, distance = 1 }) => {
        const id = parseVectorKey(user, key);
        return id === undefined ? [] : [{ id, score: clampCosine(1 - distance) }];
      });
    },

    async held(of, ids, { signal }: CallOptions = {}) {
      const at = toIndex(of, signal);
      const { user, ...index } = at;
      const uniqueIds = [...new Set(ids)];
      const existing: string[] = [];
      for (let from = 0; from < uniqueIds.length; from += MOST_ASKED) {
        const keys = uniqueIds.slice(from, from + MOST_ASKED).map((id) => toVectorKey(user, id));
        const found = await callIndex(at, signal, (call) => client.getVectors({ ...index, keys }, call));
        existing.push(...(found?.vectors ?? []).flatMap(({ key }) => parseVectorKey(user, key) ?? []));
      }
      return existing;
    },

    async *entries(of, { signal }: CallOptions = {}) {
      yield* listIds(toIndex(of, signal), signal);
    },

    async clear({ signal }: CallOptions = {}) {
      begin(signal);
      await dropIndexes(config, await listIndexNames(config, signal), signal);
      known.clear();
      space = undefined;
    },

    async close() {
      isClosed = true;
      space = undefined;
    },
  };
}

function toS3VectorsConfig(options: S3VectorsIndexOptions): S3VectorsConfig {
  const { client, bucket, name = "keepsake", timeoutMs = REMOTE_RETRY_POLICY.timeoutMs } = options;
  if (!/^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$/.test(bucket)) {
    throw invalid("bucket: use 3 to 63 lowercase letters, digits and hyphens.");
  }
  if (!/^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$/.test(name)) {
    throw invalid("name: use at most 30 lowercase letters, digits and hyphens, beginning with a letter.");
  }
  const { deadlineMs = REMOTE_RETRY_POLICY.deadlineMs } = options;
  return {
    client,
    bucket,
    name,
    indexes: checkCount(options.indexes ?? 4096, "indexes", 1, 10_000),
    remote: {
      place: "S3 Vectors",
      troubleOf: toS3Fault,
      tries: REMOTE_RETRY_POLICY.tries,
      timeoutMs: checkCount(timeoutMs, "timeoutMs", 1, 600_000),
      deadlineMs: checkCount(deadlineMs, "deadlineMs", 1, 3_600_000),
    },
  };
}

function checkLength(vector: Float32Array, dimensions: number): void {
  if (vector.length === dimensions) return;
  throw invalid(`The index in S3 Vectors takes vectors of ${dimensions} numbers, not ${vector.length}.`);
}

const createLostIndexError = (): MemoryError =>
  new MemoryError(
    "unavailable",
    "An index in S3 Vectors is gone. It is recreated and filled again within a minute.",
  );

/** Earlier names, kept until version 1.0. */
export { createS3VectorsIndex as s3VectorsFollower, type S3VectorsIndexOptions as S3VectorsFollowerOptions };
