import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { SearchIndexSink } from "../../ports/memory-store.ts";
import {
  alignOffset,
  CODES_ARRAY,
  type ColumnSet,
  collectNumbers,
  createIdColumn,
  createNameTable,
  type IdColumn,
  INDEX_FORMAT,
  type IndexHeader,
  IS_LITTLE_ENDIAN,
  MAGIC,
  type NumberArray,
  SCALES_ARRAY,
} from "./columns.ts";
import { type DeltaColumn, decodeDeltas, encodeDeltas } from "./delta-encoding.ts";
import {
  addRelationRow,
  createSearchIndex,
  type EmbeddingSpace,
  meanVectorOf,
  type SearchIndex,
  scrubIndex,
} from "./search-index.ts";
import { createVectorCodes, strideOf, type VectorCodes } from "./vector-codes.ts";
import { createWordIndex, type PackedWordIndex } from "./word-index.ts";

/** Above this share of dead slots, an index is rebuilt rather than saved. */
const MAX_DEAD_SHARE = 0.25;
const SLICE_MS = 3;

/** Whether enough units are deleted for a rebuild of the index to pay off. */
export function isMostlyDead({ deadSlots: dead, units }: SearchIndex): boolean {
  return dead.length > units.count * MAX_DEAD_SHARE;
}

/**
 * The index as bytes, to be saved in the store: a cache that can be rebuilt, without a trace of deleted
 * content. Undefined if many units are deleted, or if this machine's byte order differs. No caller waits for
 * it, and it yields to other work.
 */
export async function serializeIndex(searchIndex: SearchIndex): Promise<Uint8Array | undefined> {
  const { header, arrays } = takeSnapshot(searchIndex) ?? {};
  if (!header || !arrays) return undefined;
  const storedArrays: ReturnType<typeof toStoredArray>[] = [];
  let begun = performance.now();
  for (const [name, array] of arrays) {
    storedArrays.push(toStoredArray(name, array));
    if (performance.now() - begun < SLICE_MS) continue;
    await yieldToEventLoop();
    begun = performance.now();
  }
  return joinParts(
    { ...header, arrays: storedArrays.map(({ as }) => as) },
    storedArrays.flatMap(({ parts }) => parts),
  );
}

interface IndexSnapshot {
  readonly header: Omit<IndexHeader, "arrays">;
  readonly arrays: readonly (readonly [name: string, array: NumberArray])[];
}

/** Copies the current state of an index, which may be updated while the copy is encoded. */
function takeSnapshot(searchIndex: SearchIndex): IndexSnapshot | undefined {
  const { turns, memories, units } = searchIndex;
  if (!IS_LITTLE_ENDIAN || isMostlyDead(searchIndex)) return undefined;
  scrubIndex(searchIndex);
  const ids = [turns.ids, searchIndex.memoryIds].map((one) => one.pack());
  const { codes, scales } = searchIndex.vectors.pack(units.count);
  const mean = meanVectorOf(searchIndex);
  const along = new Float32Array(units.count);
  searchIndex.vectors.dot(mean, units.count, along);
  const arrays: [string, NumberArray][] = [
    ...sliceColumns("turn", turns.columns, turns.count),
    ...sliceColumns("session", turns.sessions, turns.sessionCount),
    ...sliceColumns("memory", memories.columns, memories.count),
    ...sliceColumns("source", memories.sources, memories.sourceCount),
    ...sliceColumns("unit", units.columns, units.count),
    ["slotOfRow", Int32Array.from(searchIndex.slotOfRow)],
    ...Object.entries(searchIndex.words.pack(units.count)).map(([name, array]): [string, NumberArray] => [
      `words.${name}`,
      array,
    ]),
    ["mean", mean],
    ["along", along],
    ...ids.flatMap(({ bytes, ends }, i): [string, NumberArray][] => [
      [`ids.${i}`, bytes],
      [`ids.${i}.ends`, ends],
    ]),
    [SCALES_ARRAY, scales as NumberArray],
    [CODES_ARRAY, codes as NumberArray],
  ];
  const header = {
    format: INDEX_FORMAT,
    space: searchIndex.space,
    dimensions: searchIndex.vectors.dimensions,
    revision: searchIndex.revision,
    newest: searchIndex.newest,
    turns: turns.count,
    sessions: turns.sessionCount,
    memories: memories.count,
    sources: memories.sourceCount,
    units: units.count,
    dead: [...searchIndex.deadSlots],
    names: [...searchIndex.names.all],
    open: [...turns.open],
  };
  return { header, arrays };
}

function toStoredArray(
  name: string,
  array: NumberArray,
): { as: IndexHeader["arrays"][number]; parts: readonly NumberArray[] } {
  const narrow = encodeDeltas(array);
  const as = [name, array.constructor.name, array.length] as const;
  if (!narrow) return { as, parts: [array] };
  const { steps, times, rest } = narrow;
  const asNarrow = [...as, steps.constructor.name, rest.length] as const;
  if (!times) return { as: asNarrow, parts: [steps, rest] };
  return { as: [...asNarrow, times.length], parts: [steps, times, rest] };
}

function sliceColumns(prefix: string, columns: ColumnSet, count: number): [string, NumberArray][] {
  return Object.entries(columns).map(([name, column]) => [
    `${prefix}.${name}`,
    column.slice(0, count) as NumberArray,
  ]);
}

function joinParts(header: IndexHeader, arrays: readonly NumberArray[]): Uint8Array {
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const first = alignOffset(16 + text.length);
  const size = arrays.reduce((end, { byteLength }) => alignOffset(end + byteLength), first);
  const bytes = new Uint8Array(size);
  bytes.set(Buffer.from(MAGIC, "latin1"));
  new DataView(bytes.buffer).setUint32(8, text.length, true);
  bytes.set(text, 16);
  let at = first;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at = alignOffset(at + array.byteLength);
  }
  return bytes;
}

/** Reads an index from the bytes of `serializeIndex` as they arrive. */
export interface IndexReader extends SearchIndexSink {
  /** The index, if all bytes have arrived; undefined if they have another format or space, or are damaged. */
  index(): SearchIndex | undefined;
  /** Frees what was read so far. */
  release(): void;
}

export function createIndexReader(space: EmbeddingSpace): IndexReader {
  let now = createReaderState(0);
  const release = (): void => {
    now.vectors?.release();
    now = createReaderState(0);
  };
  return {
    begin(_revision, size) {
      release();
      now = createReaderState(size);
    },
    take(bytes) {
      if (now.isBroken) return;
      // The store is the source of truth, whatever is wrong with a cache.
      try {
        readBytes(now, space, bytes);
      } catch {
        now.isBroken = true;
      }
    },
    index() {
      const { built, isBroken, seen, size } = now;
      if (built && !isBroken && now.runs.length === 0 && seen === size) return built;
      release();
      return undefined;
    },
    release,
  };
}

/** The index from all of the bytes of `serializeIndex`. */
export function deserializeIndex(bytes: Uint8Array, space: EmbeddingSpace): SearchIndex | undefined {
  const parts = createIndexReader(space);
  parts.begin(0, bytes.length);
  parts.take(bytes);
  return parts.index();
}

/** The state of the reader. */
interface ReaderState {
  readonly size: number;
  /** Bytes received. */
  seen: number;
  isBroken: boolean;
  /** The beginning, until the header is complete. */
  head: Buffer;
  header?: IndexHeader;
  /** The expected runs, in order. */
  runs: ByteRun[];
  readonly arrays: Map<string, NumberArray>;
  vectors?: VectorCodes;
  built?: SearchIndex;
}

function createReaderState(size: number): ReaderState {
  return { size, seen: 0, isBroken: false, head: Buffer.alloc(0), runs: [], arrays: new Map() };
}

function readBytes(now: ReaderState, space: EmbeddingSpace, bytes: Uint8Array): void {
  if (now.header) writeToRuns(now, bytes);
  else {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const head = now.head.length === 0 ? part : Buffer.concat([now.head, part]);
    if (!readHeader(now, space, head)) {
      now.head = Buffer.from(head);
      return;
    }
    now.head = Buffer.alloc(0);
    writeToRuns(now, head);
  }
  const { header, vectors } = now;
  // While the last bytes, which are the most, are still arriving.
  if (!now.built && header && vectors && now.runs.every(({ isCodes }) => isCodes)) {
    now.built = toSearchIndex(header, now.arrays, vectors, space);
  }
}

/** Whether the header is complete. */
function readHeader(now: ReaderState, space: EmbeddingSpace, head: Buffer): boolean {
  if (head.length < 16) return false;
  if (head.toString("latin1", 0, MAGIC.length) !== MAGIC || !IS_LITTLE_ENDIAN)
    throw new Error("this is not a search index");
  const from = 16 + head.readUInt32LE(8);
  if (from > now.size) throw new Error("the search index is cut off");
  if (head.length < from) return false;
  const header = JSON.parse(head.toString("utf8", 16, from)) as IndexHeader;
  const isSame = header.format === INDEX_FORMAT && header.space === space.fingerprint;
  if (!isSame || header.dimensions !== space.dimensions)
    throw new Error("the search index has another format or space");
  const places = locateArrays(header, alignOffset(from));
  if (alignOffset(places.at(-1)?.to ?? from) !== now.size)
    throw new Error("the search index has another size");
  const lengths = new Map(header.arrays.map(([name, , length]) => [name, length]));
  const isWhole =
    lengths.get(CODES_ARRAY) === header.units * strideOf(space.dimensions) &&
    lengths.get(SCALES_ARRAY) === header.units;
  if (!isWhole) throw new Error("the search index lacks a vector for some units");
  const vectors = createVectorCodes(space.dimensions, header.units);
  now.vectors = vectors;
  now.runs = createByteRuns(places, now.arrays, vectors);
  now.header = header;
  return true;
}

function writeToRuns(now: ReaderState, bytes: Uint8Array): void {
  const from = now.seen;
  now.seen += bytes.length;
  for (let run = now.runs[0]; run && run.from <= now.seen; run = now.runs[0]) {
    const first = Math.max(run.from, from);
    const last = Math.min(run.to, now.seen);
    if (last > first) run.put(first - run.from, bytes.subarray(first - from, last - from));
    if (last < run.to) return;
    run.done();
    now.runs.shift();
  }
}

/** Builds the index from the arrays that a header names. Throws if one is missing or invalid. */
function toSearchIndex(
  header: IndexHeader,
  arrays: ReadonlyMap<string, NumberArray>,
  vectors: VectorCodes,
  space: EmbeddingSpace,
): SearchIndex {
  const empty = createSearchIndex(space);
  const get = (name: string): NumberArray => {
    const array = arrays.get(name);
    if (!array) throw new Error(`the search index has no ${name}`);
    return array;
  };
  const fill = (prefix: string, columns: ColumnSet): void => {
    for (const name of Object.keys(columns)) columns[name] = get(`${prefix}.${name}`);
  };
  const ids = (list: number, count: number): IdColumn => {
    const ends = get(`ids.${list}.ends`) as Int32Array<ArrayBuffer>;
    if (ends.length !== count) throw new Error("the search index lacks some ids");
    return createIdColumn({ bytes: get(`ids.${list}`) as Uint8Array<ArrayBuffer>, ends });
  };
  const { turns, memories, units } = empty;
  fill("turn", turns.columns);
  fill("session", turns.sessions);
  fill("memory", memories.columns);
  fill("source", memories.sources);
  fill("unit", units.columns);
  turns.count = header.turns;
  turns.seen = combineBits(turns.columns.flags);
  turns.sessionCount = header.sessions;
  memories.count = header.memories;
  memories.sourceCount = header.sources;
  units.count = header.units;
  for (const [id, session] of header.open) turns.open.set(id, session);
  const words: PackedWordIndex = {
    hashes: get("words.hashes") as Float64Array<ArrayBuffer>,
    offsets: get("words.offsets") as Uint32Array<ArrayBuffer>,
    slots: get("words.slots") as Uint32Array<ArrayBuffer>,
    counts: get("words.counts") as Uint8Array<ArrayBuffer>,
    lengths: get("words.lengths") as Uint16Array<ArrayBuffer>,
  };
  vectors.setScales(get(SCALES_ARRAY) as Float32Array);
  return {
    ...empty,
    revision: header.revision,
    names: createNameTable(header.names),
    turns: { ...turns, ids: ids(0, header.turns) },
    memoryIds: ids(1, header.memories),
    slotOfRow: toList(get("slotOfRow")),
    words: createWordIndex(words, header.dead),
    vectors,
    deadSlots: [...header.dead],
    storedMean: {
      mean: get("mean") as Float32Array,
      along: get("along") as Float32Array<ArrayBuffer>,
      count: header.units,
    },
    newest: header.newest,
    speakers: collectNumbers(header.names.length, turns.columns.speaker),
    subjects: collectNumbers(header.names.length, memories.columns.subject),
    relations: groupRowsByRelation(memories.columns.relation),
  };
}

/** A loop, because spreading an array of numbers takes fifteen times as long. */
function toList(column: NumberArray): number[] {
  const list: number[] = [];
  for (let i = 0; i < column.length; i += 1) list.push(column[i] as number);
  return list;
}

function combineBits(column: NumberArray): number {
  let seen = 0;
  for (let i = 0; i < column.length; i += 1) seen |= column[i] as number;
  return seen;
}

function groupRowsByRelation(column: Int32Array): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < column.length; row += 1) addRelationRow(rows, column[row], row);
  return rows;
}

/** The position of a header's array among the bytes of an index. */
interface ArrayLocation {
  readonly from: number;
  readonly to: number;
  readonly array: IndexHeader["arrays"][number];
}

/** Locates all arrays of a header; the first begins at `first`. */
function locateArrays({ arrays }: IndexHeader, first: number): ArrayLocation[] {
  let at = first;
  return arrays.map((array) => {
    const from = at;
    const to = from + (isDeltaEncoded(array) ? deltaBytesOf(array) : plainBytesOf(array));
    at = alignOffset(to);
    return { from, to, array };
  });
}

/** Bytes that belong together, by position, and what to do with them. */
interface ByteRun {
  readonly from: number;
  readonly to: number;
  readonly isCodes: boolean;
  put(at: number, bytes: Uint8Array): void;
  /** Called when all have arrived. */
  done(): void;
}

/**
 * Assigns each position: the codes go to `vectors`, the rest into `arrays`. The columns share one allocation,
 * and their encoded form another, which is freed. Each allocation outside V8's heap may trigger a garbage
 * collection of ten milliseconds, and an index has forty arrays.
 */
function createByteRuns(
  places: readonly ArrayLocation[],
  arrays: Map<string, NumberArray>,
  vectors: VectorCodes,
): ByteRun[] {
  const columnArrays = places.map(({ array }) => array).filter(([name]) => name !== CODES_ARRAY);
  const lasting = createByteAllocator(columnArrays.map(plainBytesOf));
  const passing = createByteAllocator(columnArrays.filter(isDeltaEncoded).map(deltaBytesOf));
  return places.map(({ from, to, array }) => {
    const run = { from, to, isCodes: array[0] === CODES_ARRAY };
    if (run.isCodes) return { ...run, put: (at, bytes) => vectors.load(at, bytes), done: () => {} };
    const bytes = isDeltaEncoded(array) ? passing(deltaBytesOf(array)) : lasting(plainBytesOf(array));
    const done = (): void => void arrays.set(array[0], decodeColumn(array, bytes, lasting));
    return { ...run, put: (at, part) => bytes.set(part, at), done };
  });
}

type StoredArray = IndexHeader["arrays"][number];
type Bytes = Uint8Array<ArrayBuffer>;

/** Allocates consecutive bytes. */
type ByteAllocator = (size: number) => Bytes;

function createByteAllocator(sizes: readonly number[]): ByteAllocator {
  const memory = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + alignOffset(size), 0)).buffer;
  let at = 0;
  return (size) => {
    const taken = new Uint8Array(memory, at, size);
    at += alignOffset(size);
    return taken;
  };
}

/** Decodes an array from its stored bytes. */
function decodeColumn(array: StoredArray, bytes: Bytes, lasting: ByteAllocator): NumberArray {
  const [, kind, count] = array;
  if (!isDeltaEncoded(array)) return readNumbers(bytes, 0, kind, count);
  const column = readNumbers(lasting(plainBytesOf(array)), 0, kind, count);
  let at = 0;
  const [steps, times, rest] = deltaPartsOf(array).map(([part, length]) => {
    const numbers = readNumbers(bytes, at, part, length);
    at += alignOffset(numbers.byteLength);
    return numbers;
  });
  const isRepeated = array[5] !== undefined;
  decodeDeltas({ steps, times: isRepeated ? times : undefined, rest } as DeltaColumn, column);
  return column;
}

function readNumbers({ buffer, byteOffset }: Bytes, at: number, kind: string, count: number): NumberArray {
  return new (arrayTypeOf(kind))(buffer, byteOffset + at, count);
}

/** Whether an array is stored as deltas: see `DeltaColumn`. */
function isDeltaEncoded(array: StoredArray): boolean {
  return array[3] !== undefined;
}

/** Types and lengths of the consecutive parts of a delta-encoded array. */
function deltaPartsOf([, kind, count, steps = "", rest = 0, repeated]: StoredArray): [string, number][] {
  const restKind = kind === "Float64Array" ? kind : "Int32Array";
  return [
    [steps, repeated ?? count],
    ["Uint16Array", repeated ?? 0],
    [restKind, rest],
  ];
}

function plainBytesOf([, kind, count]: StoredArray): number {
  return byteLengthOf(kind, count);
}

function deltaBytesOf(array: StoredArray): number {
  return deltaPartsOf(array).reduce(
    (bytes, [kind, count]) => alignOffset(bytes) + byteLengthOf(kind, count),
    0,
  );
}

function byteLengthOf(kind: string, count: number): number {
  return count * arrayTypeOf(kind).BYTES_PER_ELEMENT;
}

const ARRAY_TYPES = {
  Float64Array,
  Float32Array,
  Int32Array,
  Uint32Array,
  Uint16Array,
  Int16Array,
  Uint8Array,
  Int8Array,
} as const;

function arrayTypeOf(name: string): (typeof ARRAY_TYPES)[keyof typeof ARRAY_TYPES] {
  const Kind = ARRAY_TYPES[name as keyof typeof ARRAY_TYPES];
  if (!Kind) throw new Error("the search index has numbers of an unknown type");
  return Kind;
}
