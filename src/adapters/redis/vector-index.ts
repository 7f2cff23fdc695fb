import { matchesFilter } from "../../domain/metadata-filter.ts";
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

/** Vectors in one chunk of codes. */
const CHUNK_SLOTS = 512;

/**
 * What a user's entries take. KEYS: 1 a hash of slots by id; 2 a hash of ids by slot; 3 a hash of vectors by id; 4 one of metadata
 * by id; 5 a list of slots that are free; 6 how many slots there are; 7 what the keys of the chunks begin with. A chunk holds the
 * codes of `CHUNK` slots, so that a search reads a few large values and not many small ones.
 */
const CHUNK_OF_LUA = `
local function chunk_of(slot)
  return KEYS[7] .. ':' .. math.floor(slot / ${CHUNK_SLOTS})
end
`;

/** ARGV: 1 the length of a code, then by turns id, code, vector and metadata. */
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
 * ARGV: 1 nothing but zeros, as long as a code; then ids. Codes are written over. Gives 0 where the server is too full for that:
 * what was freed has made room, so that it can be asked again.
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
 * A vector in 8 bits a part, with how far that is off at most: enough to leave out, without a doubt, nearly all that cannot be
 * among the nearest. Layout, little-endian: the step (a 32-bit float), the length of what the codes leave out (a 32-bit float),
 * then a signed byte for each part. All zeros is nothing.
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
  // Rounded up: a bound that is a little too wide leaves nothing out.
  code.writeFloatLE(Math.sqrt(rest) * 1.000_01 + 1e-7, 4);
  return code;
}

/** By slot: between which bounds the cosine with a query lies. Where nothing is, both are below every cosine. */
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

/** Notes what a chunk of codes tells of a query; `first` is the slot of its first code. */
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
    // |q·(v - v')| is at most |v - v'|, for |q| is 1 (Cauchy and Schwarz).
    least[slot] = sum * step - off - ROUNDING;
    most[slot] = sum * step + off + ROUNDING;
  }
}

/** The bounds are kept in 32 bits. */
const ROUNDING = 1e-6;

/** The slots of which one may be among the `limit` nearest: no other can be. */
function selectCandidateSlots({ least, most }: CosineBounds, limit: number): number[] {
  const sure = least.length <= limit ? EMPTY_BOUND : (least.slice().sort()[least.length - limit] as number);
  const found: number[] = [];
  for (let slot = 0; slot < most.length; slot += 1) {
    const bound = most[slot] as number;
    if (bound > EMPTY_BOUND && bound >= sure) found.push(slot);
  }
  return found;
}
