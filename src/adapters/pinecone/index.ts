import { checkCount } from "../../domain/limits.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { VectorIndex, VectorIndexUser } from "../../ports/vector-index.ts";
import { callRemote, REMOTE_RETRY_POLICY } from "../shared/model-calls/remote-call.ts";
import { clampCosine, toJsonVector, toPlainFilter } from "../shared/vector-request.ts";
import {
  clearAll,
  ignoreGone,
  listRecordKeys,
  type PineconeConfig,
  type PreparedPineconeIndex,
  prepareIndex,
  toNamespaceName,
  toPineconeFault,
  waitUntilVisible,
} from "./indexes.ts";
import type { PineconeClient, PineconeCloud, PineconeIndex } from "./records.ts";
import { parseRecordId, toFetchBatches, toRecordId, toUpsertBatches } from "./records.ts";

export type { PineconeClient, PineconeIndex } from "./records.ts";

/** Options of `createPineconeVectorIndex`. */
export interface PineconeVectorIndexOptions {
  /** `new Pinecone({ apiKey, maxRetries: 0 })` of `@pinecone-database/pinecone`; retries happen here. */
  readonly client: PineconeClient;
  /** The prefix of indexes ("keepsake-256") and namespaces (default: "keepsake"). Each deployment needs its own. */
  readonly name?: string;
  /** Where a missing index is created (default: "aws", "us-east-1"). */
  readonly cloud?: PineconeCloud;
  /** The cloud's region (default: "us-east-1"). */
  readonly region?: string;
  /**
   * How long a write may take to become visible in Pinecone's reads, in ms (default: 15,000). Every write waits for that, so that
   * added entries are found and dropped ones are gone. With 0, it does not wait.
   */
  readonly settleMs?: number;
  /** How long a new index may take to become ready, in ms (default: 120,000). */
  readonly createMs?: number;
  /** Timeout of one request (default: 5,000), and deadline for all its tries (default: 12,000), in ms. */
  readonly timeoutMs?: number;
  /** Deadline for all tries of one request, in ms (default: 12,000). */
  readonly deadlineMs?: number;
}

/** Pinecone's limits for one answer and one deletion. */
const MOST_HITS = 10_000;
const MOST_DROPPED = 1000;

/** "Retains the data for a maximum of 90 days" (Pinecone's page on data deletion, 2026). */
const KEPT_AFTER_DELETION_MS = 90 * 24 * 3_600_000;

/**
 * A vector index in Pinecone, serverless: an index for each number of dimensions, a namespace for each user. Ids, vectors and
 * metadata leave this machine; texts only if entries contain them. Throws `invalid_input` for invalid options.
 */
export function createPineconeVectorIndex(options: PineconeVectorIndexOptions): VectorIndex {
  const config = toPineconeConfig(options);
  const { remote, settleMs } = config;
  const late = createLateWrites(3 * remote.deadlineMs);
  let prepared: PreparedPineconeIndex | undefined;
  let isClosed = false;
  let lastPut = 0;
  let lastChange: Promise<unknown> = Promise.resolve();

  const begin = (signal: AbortSignal | undefined): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", "The index at Pinecone is closed. Open it again.");
  };
  /** Preparing adds a marker record, and clearing waits until no record is left. Only one of them runs at a time. */
  const inTurn = <Result>(
    signal: AbortSignal | undefined,
    change: () => Promise<Result>,
  ): Promise<Result> => {
    const turn = lastChange.then(() => {
      begin(signal);
      return change();
    });
    lastChange = turn.catch(() => {});
    return turn;
  };
  const ready = (signal: AbortSignal | undefined): PreparedPineconeIndex => {
    begin(signal);
    if (prepared) return prepared;
    throw invalid("The index at Pinecone is not prepared: call prepare() first.");
  };
  const namespaceOf = (of: VectorIndexUser, signal: AbortSignal | undefined) => {
    const { index, space } = ready(signal);
    const name = toNamespaceName(config.name, space, of);
    return { name, space, namespace: index.namespace(name) };
  };

  /** The existing ones of some records, with the ids that metadata contains for long ids. */
  const fetchExisting = async (
    namespace: PineconeIndex,
    keys: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Map<string, string | undefined>> => {
    const found = new Map<string, string | undefined>();
    for (const ids of toFetchBatches(keys)) {
      const { records } = await callRemote(remote, signal, () => namespace.fetch({ ids }));
      for (const [key, { metadata }] of Object.entries(records)) found.set(key, findLongId(metadata));
    }
    return found;
  };

  const idsOf = async (
    namespace: PineconeIndex,
    keys: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Map<string, string>> => {
    const hashed = keys.filter((key) => parseRecordId(key) === undefined);
    const longIds = await fetchExisting(namespace, hashed, signal);
    return new Map(
      keys.flatMap((key) => {
        const id = parseRecordId(key) ?? longIds.get(key);
        return id === undefined ? [] : [[key, id] as const];
      }),
    );
  };

  /** Waits for timed-out writes, so that none of them arrives after the next write. */
  const waitForLateWrites = (name: string | undefined, signal: AbortSignal | undefined): Promise<void> =>
    callRemote(remote, signal, () => late.wait(name));

  return {
    name: "pinecone",
    isHosted: true,
    remains: [{ place: "Pinecone's storage, after deletion", forMs: KEPT_AFTER_DELETION_MS }],

    prepare(space, { signal }: CallOptions = {}) {
      return inTurn(signal, async () => {
        prepared = { space: { ...space }, index: await prepareIndex(config, space, signal) };
      });
    },

    async put(of, entries, { signal }: CallOptions = {}) {
      const { name, namespace, space } = namespaceOf(of, signal);
      for (const { vector } of entries) checkLength(vector, space.dimensions);
      await waitForLateWrites(name, signal);
      const put = Math.max(lastPut + 1, Date.now());
      lastPut = put;
      let vector: number[] | undefined;
      for (const records of toUpsertBatches(entries, put)) {
        await callRemote(remote, signal, () => late.track(name, namespace.upsert({ records })));
        vector = records.at(-1)?.values;
      }
      if (!vector || settleMs === 0) return;
      // Writes of a namespace become visible in order: once this one or a later one is found, all earlier ones are visible.
      const wanted = { vector, topK: 1, filter: { put: { $gte: put } }, ...SCORES_ONLY };
      await waitUntilVisible(config, signal, async () => {
        const { matches } = await callRemote(remote, signal, () => namespace.query(wanted));
        return matches.length > 0;
      });
    },

    async drop(of, ids, { signal }: CallOptions = {}) {
      const { name, namespace } = namespaceOf(of, signal);
      if (ids.length === 0) return;
      await waitForLateWrites(name, signal);
      let remaining = [...new Set(ids.map(toRecordId))];
      for (let from = 0; from < remaining.length; from += MOST_DROPPED) {
        const batch = { ids: remaining.slice(from, from + MOST_DROPPED) };
        await callRemote(remote, signal, () => namespace.deleteMany(batch).catch(ignoreGone));
      }
      if (settleMs === 0) return;
      await waitUntilVisible(config, signal, async () => {
        remaining = [...(await fetchExisting(namespace, remaining, signal)).keys()];
        return remaining.length === 0;
      });
    },

    async dropUser(of, { signal }: CallOptions = {}) {
      const { name, namespace } = namespaceOf(of, signal);
      await waitForLateWrites(name, signal);
      await callRemote(remote, signal, () => namespace.deleteAll().catch(ignoreGone));
      if (settleMs === 0) return;
      await waitUntilVisible(config, signal, async () => {
        const { vectors = [] } = await callRemote(remote, signal, () =>
          namespace.listPaginated({ limit: 1 }),
        );
        return vectors.length === 0;
      });
    },

    async nearest(of, vector, { limit, where = {}, signal }) {
      const { namespace, space } = namespaceOf(of, signal);
      checkLength(vector, space.dimensions);
      const filter = toPlainFilter(where);
      const topK = Math.min(limit, MOST_HITS);
      if (topK < 1) return [];
      const query = { vector: toJsonVector(vector), topK, ...(filter ? { filter } : {}), ...SCORES_ONLY };
      const { matches } = await callRemote(remote, signal, () => namespace.query(query));
      const ids = await idsOf(
        namespace,
        matches.map(({ id }) => id),
        signal,
      );
      return matches.flatMap(({ id: key, score = 0 }) => {
        const id = ids.get(key);
        return id === undefined ? [] : [{ id, score: clampCosine(score) }];
      });
    },

    async held(of, ids, { signal }: CallOptions = {}) {
      const { namespace } = namespaceOf(of, signal);
      const keys = new Map(ids.map((id) => [toRecordId(id), id]));
      const existing = await fetchExisting(namespace, [...keys.keys()], signal);
      return [...keys].flatMap(([key, id]) => (existing.has(key) ? [id] : []));
    },

    async *entries(of, { signal }: CallOptions = {}) {
      const { namespace } = namespaceOf(of, signal);
      for await (const keys of listRecordKeys(config, namespace, signal)) {
        yield [...(await idsOf(namespace, keys, signal)).values()];
      }
    },

    clear({ signal }: CallOptions = {}) {
      return inTurn(signal, async () => {
        await waitForLateWrites(undefined, signal);
        await clearAll(config, signal);
        prepared = undefined;
      });
    },

    async close() {
      isClosed = true;
      prepared = undefined;
    },
  };
}

/** Only ids and scores are needed; the memory store has the rest. */
const SCORES_ONLY = { includeMetadata: false, includeValues: false } as const;

function toPineconeConfig(options: PineconeVectorIndexOptions): PineconeConfig {
  const { name = "keepsake", timeoutMs = REMOTE_RETRY_POLICY.timeoutMs } = options;
  if (!/^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$/.test(name)) {
    throw invalid("name: use at most 30 lowercase letters, digits and hyphens, beginning with a letter.");
  }
  const { deadlineMs = REMOTE_RETRY_POLICY.deadlineMs } = options;
  return {
    client: options.client,
    name,
    cloud: options.cloud ?? "aws",
    region: options.region ?? "us-east-1",
    settleMs: checkCount(options.settleMs ?? 15_000, "settleMs", 0, 600_000),
    createMs: checkCount(options.createMs ?? 120_000, "createMs", 1, 3_600_000),
    remote: {
      place: "Pinecone",
      troubleOf: toPineconeFault,
      tries: REMOTE_RETRY_POLICY.tries,
      timeoutMs: checkCount(timeoutMs, "timeoutMs", 1, 600_000),
      deadlineMs: checkCount(deadlineMs, "deadlineMs", 1, 3_600_000),
    },
  };
}

function checkLength(vector: Float32Array, dimensions: number): void {
  if (vector.length === dimensions) return;
  throw invalid(`The index at Pinecone takes vectors of ${dimensions} numbers, not ${vector.length}.`);
}

function findLongId(metadata: object | undefined): string | undefined {
  return metadata && "id" in metadata && typeof metadata.id === "string" ? metadata.id : undefined;
}

/** Earlier names, kept until version 1.0. */
export {
  createPineconeVectorIndex as pineconeFollower,
  type PineconeVectorIndexOptions as PineconeFollowerOptions,
};

/**
 * Writes that may still arrive, by namespace. The client cannot abort a request: one that timed out continues, and could bring
 * back entries that were deleted meanwhile.
 */
interface LateWrites {
  track<Value>(namespace: string, write: Promise<Value>): Promise<Value>;
  /** Resolves when no write of the namespace, or of any, is in progress. */
  wait(namespace?: string): Promise<void>;
}

/** ASSUMED: a write without an answer after this many ms never arrives; no gateway waits longer. */
function createLateWrites(givenUpAfterMs: number): LateWrites {
  const pending = new Map<Promise<void>, string>();
  return {
    track(namespace, write) {
      const { promise: done, resolve } = Promise.withResolvers<void>();
      pending.set(done, namespace);
      const finish = (): void => {
        clearTimeout(timer);
        pending.delete(done);
        resolve();
      };
      const timer = setTimeout(finish, givenUpAfterMs);
      timer.unref();
      write.then(finish, finish);
      return write;
    },
    async wait(namespace) {
      await Promise.all(
        [...pending].flatMap(([done, name]) => (namespace === undefined || name === namespace ? done : [])),
      );
    },
  };
}
