import { checkCount } from "../../domain/limits.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { VectorIndex, VectorIndexSpace, VectorIndexUser } from "../../ports/vector-index.ts";
import { callRemote, REMOTE_RETRY_POLICY, withTimeout } from "../shared/remote-call.ts";
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

export interface S3VectorsIndexOptions {
  /** `new S3Vectors({ region, maxAttempts: 1 })` of `@aws-sdk/client-s3vectors`; what fails is tried again here. */
  readonly client: S3VectorsClient;
  /** The vector bucket; made where it is missing. */
  readonly bucket: string;
  /** Names of indexes begin with it: a deployment of its own in the same bucket needs one of its own ("keepsake"). */
  readonly name?: string;
  /**
   * Users are spread over so many indexes (4,096; a bucket holds 10,000), each made with its first entry: what is searched and
   * listed is little more than the user's own. Another number has everything put anew.
   */
  readonly indexes?: number;
  /** How long a request may take (5,000), and all its tries together (12,000), in ms. */
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
}

/** Limits of one request: hits, keys that are taken away, keys that are asked for, keys that are listed. */
const MOST_HITS = 100;
const MOST_DROPPED = MAX_VECTORS_PER_PUT;
const MOST_ASKED = 100;
const MOST_LISTED = 1000;

/**
 * A follower in Amazon S3 Vectors, whose reads see every write. Ids, vectors and metadata leave this machine; texts only where
 * entries bring them. `invalid_input` for options that cannot work.
 */
export function createS3VectorsIndex(options: S3VectorsIndexOptions): VectorIndex {
  const place = toS3VectorsConfig(options);
  const { client, remote } = place;
  /** Indexes that were there: one that is missing was never made, unless it stands here. Its loss is told of once. */
  const known = new Set<string>();
  /** Indexes that are being made: whoever needs one waits for the same request. */
  const making = new Map<string, Promise<void>>();
  let space: VectorIndexSpace | undefined;
  let isClosed = false;

  const begin = (signal: AbortSignal | undefined): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", "The index in S3 Vectors is closed. Open another.");
  };
  const ready = (signal: AbortSignal | undefined): VectorIndexSpace => {
    begin(signal);
    if (space) return space;
    throw invalid("The index in S3 Vectors is not prepared: call prepare() first.");
  };
  const placed = (of: VectorIndexUser, signal: AbortSignal | undefined): S3UserIndex =>
    toUserIndex(place, ready(signal), of);

  /** Asks an index: nothing where it was never made, `unavailable` where it was lost. */
  const askedOf = async <Value>(
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
      // Others may be gone with it, and one word of it is enough.
      known.clear();
      throw createLostIndexError();
    }
    known.add(indexName);
    return found;
  };

  const made = async (
    index: S3Index,
    into: VectorIndexSpace,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const { indexName } = index;
    // One who breaks off does not break it off for the others.
    const begun = making.get(indexName) ?? ensureIndex(place, index, into, undefined);
    making.set(indexName, begun);
    try {
      await withTimeout(begun, 2 * remote.deadlineMs, createLostIndexError, signal);
      known.add(indexName);
    } finally {
      making.delete(indexName);
    }
  };

  async function* idsIn(
    at: S3UserIndex,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<string[], void, void> {
    const { user, ...index } = at;
    let nextToken: string | undefined;
    do {
      const token = nextToken === undefined ? {} : { nextToken };
      const asking = { ...index, maxResults: MOST_LISTED, ...token };
      const page = await askedOf(at, signal, (call) => client.listVectors(asking, call));
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
      await askedOf(at, signal, (call) => client.deleteVectors({ ...index, keys }, call));
    }
  };

  return {
    name: "s3-vectors",
    isHosted: true,
    // AWS does not say when what was deleted leaves its disks.
    remains: [{ place: "AWS's storage, after deletion" }],

    async prepare(wanted, { signal }: CallOptions = {}) {
      begin(signal);
      await ensureBucket(place, signal);
      const prefix = toIndexPrefix(place, wanted);
      // Looked at once: a bucket may hold thousands of indexes.
      if (!space || toIndexPrefix(place, space) !== prefix) {
        const all = await listIndexNames(place, signal);
        const others = all.filter((name) => !name.startsWith(prefix));
        await dropIndexes(place, others, signal);
        known.clear();
        for (const name of all) if (name.startsWith(prefix)) known.add(name);
      }
      space = { ...wanted };
    },

    async put(of, entries, { signal }: CallOptions = {}) {
      const { user, ...index } = placed(of, signal);
      const into = ready(signal);
      for (const { vector } of entries) checkLength(vector, into.dimensions);
      for (const vectors of toPutBatches(user, entries)) {
        const put = (call: { abortSignal: AbortSignal }): Promise<unknown> =>
          client.putVectors({ ...index, vectors }, call);
        if (await askedOf(index, signal, (call) => put(call).then(() => true))) continue;
        await made(index, into, signal);
        await askedOf(index, signal, put);
      }
    },

    async drop(of, ids, { signal }: CallOptions = {}) {
      await dropKeys(placed(of, signal), [...new Set(ids)], signal);
    },

    async dropUser(of, { signal }: CallOptions = {}) {
      const at = placed(of, signal);
      const ids: string[] = [];
      // Listed to the end before anything goes: a list that shrinks while it is read may pass over some.
      for await (const page of idsIn(at, signal)) ids.push(...page);
      await dropKeys(at, ids, signal);
    },

    async nearest(of, vector, { limit, where = {}, signal }) {
      const at = placed(of, signal);
      checkLength(vector, ready(signal).dimensions);
      const own = { user: { $eq: at.user } };
      const narrower = toPlainFilter(where);
      // Plain values alone: what plainWhere gives is JSON.
      const filter = (narrower ? { $and: [own, narrower] } : own) as S3Document;
      const topK = Math.min(limit, MOST_HITS);
      if (topK < 1) return [];
      const { user, ...index } = at;
      const query = { ...index, topK, queryVector: { float32: toJsonVector(vector) }, filter };
      const found = await askedOf(at, signal, (call) =>
        client.queryVectors({ ...query, returnDistance: true }, call),
      );
      return (found?.vectors ?? []).flatMap(({ key, distance = 1 }) => {
        const id = parseVectorKey(user, key);
        return id === undefined ? [] : [{ id, score: clampCosine(1 - distance) }];
      });
    },

    async held(of, ids, { signal }: CallOptions = {}) {
      const at = placed(of, signal);
      const { user, ...index } = at;
      const all = [...new Set(ids)];
      const there: string[] = [];
      for (let from = 0; from < all.length; from += MOST_ASKED) {
        const keys = all.slice(from, from + MOST_ASKED).map((id) => toVectorKey(user, id));
        const found = await askedOf(at, signal, (call) => client.getVectors({ ...index, keys }, call));
        there.push(...(found?.vectors ?? []).flatMap(({ key }) => parseVectorKey(user, key) ?? []));
      }
      return there;
    },

    async *entries(of, { signal }: CallOptions = {}) {
      yield* idsIn(placed(of, signal), signal);
    },

    async clear({ signal }: CallOptions = {}) {
      begin(signal);
      await dropIndexes(place, await listIndexNames(place, signal), signal);
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
    throw invalid("bucket: 3 to 63 small letters, digits and hyphens.");
  }
  if (!/^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$/.test(name)) {
    throw invalid("name: at most 30 small letters, digits and hyphens, with a letter in front.");
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
    "An index in S3 Vectors is gone. It is made again, and filled, in a minute.",
  );

/** Earlier names, kept until version 1.0. */
export { createS3VectorsIndex as s3VectorsFollower, type S3VectorsIndexOptions as S3VectorsFollowerOptions };
