import { matchesFilter } from "../../domain/filters/metadata-filter.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type {
  VectorIndex,
  VectorIndexEntry,
  VectorIndexHit,
  VectorIndexMetadata,
  VectorIndexRemainder,
  VectorIndexSpace,
  VectorIndexUser,
} from "../../ports/vector-index.ts";
import { clampCosine } from "../shared/vector-request.ts";
import {
  createRedisScript,
  createRedisSender,
  DEFAULT_PREFIX,
  escapePattern,
  type RedisCommandOptions,
  type RedisOptions,
  type RedisScript,
  readPersistence,
  type SendRedisCommand,
  scanKeys,
  toList,
  toUserKey,
} from "./client.ts";

const INDEX_KEY = "index";
/** Entries per script, so that other commands run in between. */
const PUT_AT_ONCE = 100;
const IDS_AT_ONCE = 1000;
/** Chunks per reply: about 4 MB. */
const CHUNKS_AT_ONCE = 16;
/** Attempts of a drop if the server is full, because the drop itself frees memory. */
const MAX_ATTEMPTS = 3;

/**
 * An exact vector index in plain Redis (7, no modules), in the server's memory: about 2 kB for a unit of 256 numbers. A search
 * reads the user's 8-bit codes, and then the full vectors of the candidates only.
 */
export function createRedisVectorIndex(options: RedisOptions): VectorIndex {
  const { prefix = DEFAULT_PREFIX } = options;
  const send = createRedisSender({ timeoutMs: 5000, ...options }, "Redis (index)");
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
    if (isClosed) throw new MemoryError("unavailable", "this index on Redis is closed. Open it again.");
  };
  const spaceFor = (vectors: readonly Float32Array[]): VectorIndexSpace => {
    if (!space) throw invalid("the index on Redis is not prepared: call prepare() first.");
    const { dimensions } = space;
    const wrong = vectors.find(({ length }) => length !== dimensions);
    if (!wrong) return space;
    throw invalid(`the index on Redis takes vectors of ${dimensions} numbers, not ${wrong.length}.`);
  };
  /** Throws if the server lost its data; otherwise it would seem to contain nothing of a user. */
  const checkPrepared = async (signal: AbortSignal | undefined): Promise<void> => {
    const storedSpace = space ? await send("GET", [spaceKey], { signal }) : undefined;
    if (!space || storedSpace === toSpaceName(space)) return;
    throw new MemoryError(
      "unavailable",
      "the index on Redis was emptied, or replaced by another vector space. Prepare it again.",
    );
  };
  const clear = async (signal: AbortSignal | undefined): Promise<void> => {
    for await (const keys of scanKeys(send, `${escapePattern(prefix)}:{*}:${INDEX_KEY}:*`, signal)) {
      // One by one, because on a cluster, users are in different slots.
      await Promise.all(keys.map((key) => send("UNLINK", [key], { signal, isUrgent: true })));
    }
  };

  return {
    name: "redis",
    get remains() {
      return remains;
    },

    async prepare(wanted, { signal } = {}) {
      begin(signal);
      const storedSpace = String((await send("GET", [spaceKey], { signal })) ?? "");
      const spaceName = toSpaceName(wanted);
      if (storedSpace !== spaceName) {
        await clear(signal);
        await send("SET", [spaceKey, spaceName], { signal });
      }
      space = { ...wanted };
      remains = await readPersistence(send, signal);
    },

    async put(of, entries, { signal } = {}) {
      begin(signal);
      const { dimensions } = spaceFor(entries.map(({ vector }) => vector));
      const keys = keysOf(of);
      await checkPrepared(signal);
      for (let at = 0; at < entries.length; at += PUT_AT_ONCE) {
        const args = entries.slice(at, at + PUT_AT_ONCE).flatMap(toPutArguments);
        await PUT_SCRIPT(send, keys, [getCodeLength(dimensions), ...args], { signal });
      }
    },

    async drop(of, ids, { signal } = {}) {
      begin(signal);
      const { dimensions } = spaceFor([]);
      const blank = Buffer.alloc(getCodeLength(dimensions));
      for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
        await dropEntries(send, keysOf(of), [blank, ...ids.slice(at, at + IDS_AT_ONCE)], { signal });
      }
    },

    async dropUser(of, { signal } = {}) {
      begin(signal);
      await DROP_USER_SCRIPT(send, keysOf(of), [], { signal, isUrgent: true });
    },

    async nearest(of, vector, { limit, where, signal }) {
      begin(signal);
      spaceFor([vector]);
      const [found] = await Promise.all([
        readCosineBounds(send, keysOf(of), vector, signal),
        checkPrepared(signal),
      ]);
      const isFiltered = where !== undefined && Object.keys(where).length > 0;
      // Without reading the metadata, it is unknown which entries pass a filter.
      const slots = selectCandidateSlots(found, isFiltered ? Number.POSITIVE_INFINITY : limit);
      return rankExactly(send, keysOf(of), vector, {
        slots,
        limit,
        ...(isFiltered ? { where } : {}),
        signal,
      });
    },

    async held(of, ids, { signal } = {}) {
      begin(signal);
      const [slots = ""] = keysOf(of);
      const wanted = [...new Set(ids)];
      const found: string[] = [];
      for (let at = 0; at < wanted.length; at += IDS_AT_ONCE) {
        const batch = wanted.slice(at, at + IDS_AT_ONCE);
        const stored = toList(await send("HMGET", [slots, ...batch], { signal, isUrgent: true }));
        found.push(...batch.filter((_id, i) => stored[i] !== null));
      }
      return found;
    },

    async *entries(of, { signal } = {}) {
      begin(signal);
      const [slots = ""] = keysOf(of);
      const seen = new Set<string>();
      let cursor = "0";
      do {
        const [next, page] = toList(await send("HSCAN", [slots, cursor, "COUNT", IDS_AT_ONCE], { signal }));
        cursor = String(next);
        // Ids and slots alternate. While a hash grows, some appear twice.
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
      // The client belongs to the caller.
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
  send: SendRedisCommand,
  keys: readonly string[],
  args: readonly (Buffer | string)[],
  options: RedisCommandOptions,
): Promise<void> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
    if (Number(await DROP_SCRIPT(send, keys, args, { ...options, isUrgent: true })) === 1) return;
  }
  throw new MemoryError(
    "unavailable",
    "Redis (index) is too full to overwrite dropped entries. Raise its maxmemory.",
  );
}

/** The lower and upper bounds of the cosine of each of a user's slots with a query. */
async function readCosineBounds(
  send: SendRedisCommand,
  keys: readonly string[],
  vector: Float32Array,
  signal: AbortSignal | undefined,
): Promise<CosineBounds> {
  const [, , , , , size = "", codes = ""] = keys;
  const slots = Number((await send("GET", [size], { signal })) ?? 0);
  const chunks = Math.ceil(slots / CHUNK_SLOTS);
  const found = createCosineBounds(slots);
  for (let at = 0; at < chunks; at += CHUNKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(CHUNKS_AT_ONCE, chunks - at) }, (_one, i) => at + i);
    const wanted = numbers.map((number) => `${codes}:${number}`);
    const bytes = toList(await send("MGET", wanted, { signal, binary: true }));
    for (const [i, chunk] of bytes.entries()) {
      if (Buffer.isBuffer(chunk)) addCosineBounds(found, chunk, vector, (at + i) * CHUNK_SLOTS);
    }
  }
  return found;
}

/** Ranks candidate slots by their full vectors, and gives the nearest. */
async function rankExactly(
  send: SendRedisCommand,
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
    const batch = slots.slice(at, at + IDS_AT_ONCE);
    const slotIds = toList(await send("HMGET", [idsKey, ...batch], { signal }));
    const ids = slotIds.filter((id) => typeof id === "string");
    if (ids.length === 0) continue;
    const passing = where ? await filterByMetadata(send, metadata, ids, where, signal) : ids;
    if (passing.length === 0) continue;
    const stored = toList(await send("HMGET", [vectors, ...passing], { signal, binary: true }));
    for (const [i, id] of passing.entries()) {
      const bytes = stored[i];
      if (Buffer.isBuffer(bytes)) hits.push({ id, score: computeCosine(vector, bytes) });
    }
  }
  return hits.sort((one, other) => other.score - one.score).slice(0, limit);
}

async function filterByMetadata(
  send: SendRedisCommand,
  metadata: string,
  ids: readonly string[],
  where: Parameters<typeof matchesFilter>[0],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const stored = toList(await send("HMGET", [metadata, ...ids], { signal }));
  return ids.filter((_id, i) => {
    const one = stored[i];
    return typeof one === "string" && matchesFilter(where, { ...(JSON.parse(one) as VectorIndexMetadata) });
  });
}

/** The cosine of two unit vectors. */
function computeCosine(vector: Float32Array, bytes: Buffer): number {
  let sum = 0;
  for (let i = 0, at = 0; i < vector.length && at + 4 <= bytes.length; i += 1, at += 4) {
    sum += (vector[i] as number) * bytes.readFloatLE(at);
  }
  return clampCosine(sum);
}

/** Vectors per chunk of codes. */
const CHUNK_SLOTS = 512;

/**
 * The keys of a user's entries. KEYS: 1 a hash of slots by id; 2 a hash of ids by slot; 3 a hash of vectors by id; 4 a hash of
 * metadata by id; 5 a list of free slots; 6 the number of slots; 7 the prefix of the chunk keys. A chunk contains the codes of
 * `CHUNK_SLOTS` slots, so that a search reads a few large values instead of many small ones.
 */
const CHUNK_OF_LUA = `
local function chunk_of(slot)
  return KEYS[7] .. ':' .. math.floor(slot / ${CHUNK_SLOTS})
end
`;

/** ARGV: 1 the length of a code, then repeatedly id, code, vector and metadata. */
const PUT_SCRIPT: RedisScript = createRedisScript(`${CHUNK_OF_LUA}
local length = tonumber(ARGV[1])
for i = 2, #ARGV, 4 do
  local id = ARGV[i]
  local slot = redis.call('HGET', KEYS[1], id)
  if not slot then
    slot = redis.call('LPOP', KEYS[5]) or redis.call('INCR', KEYS[6]) - 1
    redis.call('HSET', KEYS[2], slot, id)
    redis.call('HSET', KEYS[1], id, slot)
  end
  redis.call('HSET', KEYS[3], id, ARGV[i + 2])
  redis.call('HSET', KEYS[4], id, ARGV[i + 3])
  redis.call('SETRANGE', chunk_of(slot), (slot % ${CHUNK_SLOTS}) * length, ARGV[i + 1])
end
return 1
`);

/**
 * ARGV: 1 zeros, as long as a code; then ids. Codes are overwritten. Gives 0 if the server is too full for that; the freed memory
 * may then make a second attempt succeed.
 */
const DROP_SCRIPT: RedisScript = createRedisScript(`${CHUNK_OF_LUA}
local whole = 1
for i = 2, #ARGV do
  local id = ARGV[i]
  local slot = redis.call('HGET', KEYS[1], id)
  if slot then
    redis.call('HDEL', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
    local blank = redis.pcall('SETRANGE', chunk_of(slot), (slot % ${CHUNK_SLOTS}) * #ARGV[1], ARGV[1])
    if type(blank) == 'table' and blank.err then
      whole = 0
    else
      redis.call('HDEL', KEYS[1], id)
      redis.call('HDEL', KEYS[2], slot)
      redis.pcall('RPUSH', KEYS[5], slot)
    end
  end
end
return whole
`);

const DROP_USER_SCRIPT: RedisScript = createRedisScript(`${CHUNK_OF_LUA}
local slots = tonumber(redis.call('GET', KEYS[6]) or '0')
for slot = 0, slots, ${CHUNK_SLOTS} do redis.call('DEL', chunk_of(slot)) end
for i = 1, 6 do redis.call('DEL', KEYS[i]) end
return 1
`);

/**
 * A vector as 8-bit codes, with a bound of the error: enough to rule out safely nearly all vectors that are not among the nearest.
 * Layout, little-endian: the step (32-bit float), the length of the error vector (32-bit float), then a signed byte for each part.
 * All zeros is an empty slot.
 */
const CODE_HEADER_BYTES = 8;
const MAX_CODE = 127;

const getCodeLength = (dimensions: number): number => CODE_HEADER_BYTES + dimensions;

function encodeVectorCode(vector: Float32Array): Buffer {
  let most = 0;
  for (const part of vector) most = Math.max(most, Math.abs(part));
  const step = Math.fround(most / MAX_CODE) || 1;
  const code = Buffer.alloc(getCodeLength(vector.length));
  let rest = 0;
  for (let i = 0; i < vector.length; i += 1) {
    const part = vector[i] as number;
    const rounded = Math.max(-MAX_CODE, Math.min(MAX_CODE, Math.round(part / step)));
    code.writeInt8(rounded, CODE_HEADER_BYTES + i);
    rest += (part - rounded * step) ** 2;
  }
  code.writeFloatLE(step, 0);
  // Rounded up: a bound that is slightly too wide never excludes a candidate.
  code.writeFloatLE(Math.sqrt(rest) * 1.000_01 + 1e-7, 4);
  return code;
}

/** By slot: the bounds of the cosine with a query. For empty slots, both are below every cosine. */
interface CosineBounds {
  readonly least: Float32Array;
  readonly most: Float32Array;
}

const EMPTY_BOUND = -2;

function createCosineBounds(slots: number): CosineBounds {
  return {
    least: new Float32Array(slots).fill(EMPTY_BOUND),
    most: new Float32Array(slots).fill(EMPTY_BOUND),
  };
}

/** Adds the bounds from a chunk of codes; `first` is the slot of its first code. */
function addCosineBounds(
  { least, most }: CosineBounds,
  chunk: Buffer,
  query: Float32Array,
  first: number,
): void {
  const { length: dimensions } = query;
  const length = getCodeLength(dimensions);
  const codes = new Int8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (
    let at = 0, slot = first;
    at + length <= chunk.length && slot < least.length;
    at += length, slot += 1
  ) {
    const step = chunk.readFloatLE(at);
    if (step === 0) continue;
    const off = chunk.readFloatLE(at + 4);
    let sum = 0;
    for (let i = 0, from = at + CODE_HEADER_BYTES; i < dimensions; i += 1, from += 1) {
      sum += (query[i] as number) * (codes[from] as number);
    }
    // |q·(v - v')| is at most |v - v'|, because |q| is 1 (Cauchy-Schwarz).
    least[slot] = sum * step - off - ROUNDING;
    most[slot] = sum * step + off + ROUNDING;
  }
}

/** Tolerance, because the bounds are stored as 32-bit floats. */
const ROUNDING = 1e-6;

/** The slots that may be among the `limit` nearest; no other slot can be. */
function selectCandidateSlots({ least, most }: CosineBounds, limit: number): number[] {
  const threshold =
    least.length <= limit ? EMPTY_BOUND : (least.slice().sort()[least.length - limit] as number);
  const found: number[] = [];
  for (let slot = 0; slot < most.length; slot += 1) {
    const bound = most[slot] as number;
    if (bound > EMPTY_BOUND && bound >= threshold) found.push(slot);
  }
  return found;
}
