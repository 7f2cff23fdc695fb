import { matchesFilter } from "../../domain/filter.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type {
  VectorIndex,
  VectorIndexEntry,
  VectorIndexHit,
  VectorIndexMetadata,
  VectorIndexRemainder,
  VectorIndexSpace,
  VectorIndexUser,
} from "../../ports/follower.ts";
import { clampCosine } from "../shared/wire-vector.ts";
import { createRedisSender, type RedisCommandOptions, type SendRedisCommand } from "./asking.ts";
import type { RedisOptions } from "./client.ts";
import {
  addCosineBounds,
  type CosineBounds,
  createCosineBounds,
  encodeVectorCode,
  getCodeLength,
  selectCandidateSlots,
} from "./codes.ts";
import { CHUNK_SLOTS, DROP_SCRIPT, DROP_USER_SCRIPT, PUT_SCRIPT } from "./follower-scripts.ts";
import { DEFAULT_PREFIX, toUserKey } from "./keys.ts";
import { readPersistence } from "./persistence.ts";
import { escapePattern, scanKeys, toList } from "./walk.ts";

const INDEX_KEY = "index";
/** Entries in one script: others come in between. */
const PUT_AT_ONCE = 100;
const IDS_AT_ONCE = 1000;
/** Chunks in one reply: about 4 MB. */
const CHUNKS_AT_ONCE = 16;
/** How often a drop is tried that found the server full, for it makes room itself. */
const MAX_ATTEMPTS = 3;

/**
 * An exact vector index in plain Redis (7, no modules), in the memory of the server: about 2 kB for a unit of 256 numbers. A search
 * reads the user's codes of 8 bits, and the vectors themselves of those that may be among the nearest.
 */
export function createRedisVectorIndex(options: RedisOptions): VectorIndex {
  const { prefix = DEFAULT_PREFIX } = options;
  const ask = createRedisSender({ timeoutMs: 5000, ...options }, "Redis (index)");
  const keysOf = (of: VectorIndexUser): string[] =>
    ["slots", "ids", "vectors", "metadata", "free", "size", "codes"].map((what) =>
      toUserKey(prefix, of, `${INDEX_KEY}:${what}`),
    );
  const spaceKey = `${prefix}:${INDEX_KEY}`;
  let space: VectorIndexSpace | undefined;
  let remains: readonly VectorIndexRemainder[] = [];
  let isClosed = false;

  const begin = (signal: AbortSignal | undefined): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", "this index on Redis is closed. Open another.");
  };
  const spaceFor = (vectors: readonly Float32Array[]): VectorIndexSpace => {
    if (!space) throw invalid("the index on Redis is not prepared: call prepare() first.");
    const { dimensions } = space;
    const wrong = vectors.find(({ length }) => length !== dimensions);
    if (!wrong) return space;
    throw invalid(`the index on Redis takes vectors of ${dimensions} numbers, not ${wrong.length}.`);
  };
  /** A server that came back with nothing would pass for one that holds nothing of a user. */
  const checkThere = async (signal: AbortSignal | undefined): Promise<void> => {
    const there = space ? await ask("GET", [spaceKey], { signal }) : undefined;
    if (!space || there === toSpaceName(space)) return;
    throw new MemoryError(
      "unavailable",
      "the index on Redis was emptied, or taken by another space. Prepare it again.",
    );
  };
  const clear = async (signal: AbortSignal | undefined): Promise<void> => {
    for await (const keys of scanKeys(ask, `${escapePattern(prefix)}:{*}:${INDEX_KEY}:*`, signal)) {
      // One by one: on a cluster, users stand in different slots.
      await Promise.all(keys.map((key) => ask("UNLINK", [key], { signal, isUrgent: true })));
    }
  };

  return {
    name: "redis",
    get remains() {
      return remains;
    },

    async prepare(wanted, { signal } = {}) {
      begin(signal);
      const there = String((await ask("GET", [spaceKey], { signal })) ?? "");
      const said = toSpaceName(wanted);
      if (there !== said) {
        await clear(signal);
        await ask("SET", [spaceKey, said], { signal });
      }
      space = { ...wanted };
      remains = await readPersistence(ask, signal);
    },

    async put(of, entries, { signal } = {}) {
      begin(signal);
      const { dimensions } = spaceFor(entries.map(({ vector }) => vector));
      const keys = keysOf(of);
      await checkThere(signal);
      for (let at = 0; at < entries.length; at += PUT_AT_ONCE) {
        const args = entries.slice(at, at + PUT_AT_ONCE).flatMap(toPutArguments);
        await PUT_SCRIPT(ask, keys, [getCodeLength(dimensions), ...args], { signal });
      }
    },

    async drop(of, ids, { signal } = {}) {
      begin(signal);
      const { dimensions } = spaceFor([]);
      const blank = Buffer.alloc(getCodeLength(dimensions));
      for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
        await dropEntries(ask, keysOf(of), [blank, ...ids.slice(at, at + IDS_AT_ONCE)], { signal });
      }
    },

    async dropUser(of, { signal } = {}) {
      begin(signal);
      await DROP_USER_SCRIPT(ask, keysOf(of), [], { signal, isUrgent: true });
    },

    async nearest(of, vector, { limit, where, signal }) {
      begin(signal);
      spaceFor([vector]);
      const [found] = await Promise.all([
        readCosineBounds(ask, keysOf(of), vector, signal),
        checkThere(signal),
      ]);
      const isNarrowed = where !== undefined && Object.keys(where).length > 0;
      // What passes a filter is not known before it is asked.
      const slots = selectCandidateSlots(found, isNarrowed ? Number.POSITIVE_INFINITY : limit);
      return rankExactly(ask, keysOf(of), vector, { slots, limit, ...(isNarrowed ? { where } : {}), signal });
    },

    async held(of, ids, { signal } = {}) {
      begin(signal);
      const [slots = ""] = keysOf(of);
      const wanted = [...new Set(ids)];
      const found: string[] = [];
      for (let at = 0; at < wanted.length; at += IDS_AT_ONCE) {
        const some = wanted.slice(at, at + IDS_AT_ONCE);
        const there = toList(await ask("HMGET", [slots, ...some], { signal, isUrgent: true }));
        found.push(...some.filter((_id, i) => there[i] !== null));
      }
      return found;
    },

    async *entries(of, { signal } = {}) {
      begin(signal);
      const [slots = ""] = keysOf(of);
      const seen = new Set<string>();
      let cursor = "0";
      do {
        const [next, page] = toList(await ask("HSCAN", [slots, cursor, "COUNT", IDS_AT_ONCE], { signal }));
        cursor = String(next);
        // Id and slot, by turns; while a hash grows, some come twice.
        const ids = toList(page).flatMap((one, i) =>
          i % 2 === 0 && !seen.has(String(one)) ? String(one) : [],
        );
        for (const id of ids) seen.add(id);
        if (ids.length > 0) yield ids;
      } while (cursor !== "0");
    },

    async clear({ signal } = {}) {
      begin(signal);
      await clear(signal);
    },

    async close() {
      // The client is the caller's.
      isClosed = true;
    },
  };
}

const toSpaceName = ({ fingerprint, dimensions }: VectorIndexSpace): string =>
  JSON.stringify([fingerprint, dimensions]);

function toPutArguments({ id, vector, metadata }: VectorIndexEntry): [string, Buffer, Buffer, string] {
  const bytes = Buffer.from(vector.slice().buffer);
  return [id, encodeVectorCode(vector), bytes, JSON.stringify(metadata)];
}

async function dropEntries(
  ask: SendRedisCommand,
  keys: readonly string[],
  args: readonly (Buffer | string)[],
  asked: RedisCommandOptions,
): Promise<void> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
    if (Number(await DROP_SCRIPT(ask, keys, args, { ...asked, isUrgent: true })) === 1) return;
  }
  throw new MemoryError("unavailable", "Redis (index) is too full to write over what is dropped.");
}

/** How near each of a user's slots is to a query, at least and at most. */
async function readCosineBounds(
  ask: SendRedisCommand,
  keys: readonly string[],
  vector: Float32Array,
  signal: AbortSignal | undefined,
): Promise<CosineBounds> {
  const [, , , , , size = "", codes = ""] = keys;
  const slots = Number((await ask("GET", [size], { signal })) ?? 0);
  const chunks = Math.ceil(slots / CHUNK_SLOTS);
  const found = createCosineBounds(slots);
  for (let at = 0; at < chunks; at += CHUNKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(CHUNKS_AT_ONCE, chunks - at) }, (_one, i) => at + i);
    const wanted = numbers.map((number) => `${codes}:${number}`);
    const bytes = toList(await ask("MGET", wanted, { signal, binary: true }));
    for (const [i, chunk] of bytes.entries()) {
      if (Buffer.isBuffer(chunk)) addCosineBounds(found, chunk, vector, (at + i) * CHUNK_SLOTS);
    }
  }
  return found;
}

/** The nearest by their vectors themselves, of slots that may be among them. */
async function rankExactly(
  ask: SendRedisCommand,
  keys: readonly string[],
  vector: Float32Array,
  {
    slots,
    limit,
    where,
    signal,
  }: {
    readonly slots: readonly number[];
    readonly limit: number;
    readonly where?: Parameters<typeof matchesFilter>[0];
    readonly signal: AbortSignal | undefined;
  },
): Promise<VectorIndexHit[]> {
  const [, idsKey = "", vectors = "", metadata = ""] = keys;
  const hits: VectorIndexHit[] = [];
  for (let at = 0; at < slots.length; at += IDS_AT_ONCE) {
    const some = slots.slice(at, at + IDS_AT_ONCE);
    const named = toList(await ask("HMGET", [idsKey, ...some], { signal }));
    const ids = named.filter((id) => typeof id === "string");
    if (ids.length === 0) continue;
    const passing = where ? await filterByMetadata(ask, metadata, ids, where, signal) : ids;
    if (passing.length === 0) continue;
    const held = toList(await ask("HMGET", [vectors, ...passing], { signal, binary: true }));
    for (const [i, id] of passing.entries()) {
      const bytes = held[i];
      if (Buffer.isBuffer(bytes)) hits.push({ id, score: computeCosine(vector, bytes) });
    }
  }
  return hits.sort((one, other) => other.score - one.score).slice(0, limit);
}

async function filterByMetadata(
  ask: SendRedisCommand,
  metadata: string,
  ids: readonly string[],
  where: Parameters<typeof matchesFilter>[0],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const told = toList(await ask("HMGET", [metadata, ...ids], { signal }));
  return ids.filter((_id, i) => {
    const one = told[i];
    return typeof one === "string" && matchesFilter(where, { ...(JSON.parse(one) as VectorIndexMetadata) });
  });
}

/** Of vectors of unit length. */
function computeCosine(vector: Float32Array, bytes: Buffer): number {
  let sum = 0;
  for (let i = 0, at = 0; i < vector.length && at + 4 <= bytes.length; i += 1, at += 4) {
    sum += (vector[i] as number) * bytes.readFloatLE(at);
  }
  return clampCosine(sum);
}
