import { type Block, emptyBlock, noteRow, type Space } from "./block.ts";
import { type Columns, type Numbers, namesOf } from "./columns.ts";
import { meanOf } from "./mean.ts";
import { type Narrow, narrowed, widen } from "./narrow.ts";
import { vectorsOf } from "./vectors.ts";
import { type PackedWords, wordsOf } from "./words.ts";

/** Raised whenever the layout changes: a block of another format is not read, but built anew from the record. */
const FORMAT = 3;
const MAGIC = "KSBLOCK";
const SEPARATOR = "\u0000";
const CODES = "vectors.codes";
/** With more dead slots than this share, a block is built anew rather than kept. */
const MOST_DEAD = 0.25;
/** Whether this machine's numbers begin with their smallest byte, as those of nearly all do. */
const IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

interface Header {
  readonly format: number;
  readonly space: string;
  readonly dimensions: number;
  readonly revision: number;
  readonly newest: number;
  readonly turns: number;
  readonly sessions: number;
  readonly memories: number;
  readonly sources: number;
  readonly units: number;
  readonly dead: readonly number[];
  readonly names: readonly string[];
  readonly open: readonly (readonly [number, number])[];
  /**
   * Name, type and length of each array, in the order in which they follow; of one that is narrowed also the type of its
   * steps, and the length of the rest, which follows them.
   */
  readonly arrays: readonly (readonly [string, string, number, string?, number?])[];
}

const KINDS = {
  Float64Array,
  Float32Array,
  Int32Array,
  Uint32Array,
  Uint16Array,
  Int16Array,
  Uint8Array,
  Int8Array,
} as const;

/**
 * A block as bytes, to be kept beside the record: a cache that can be rebuilt. Nothing where it is not worth keeping
 * (little in it, or much of it gone), or where this machine's numbers have another order of bytes.
 */
export function packBlock(block: Block): Uint8Array | undefined {
  const { turns, memories, units } = block;
  const ids = [turns.ids, block.memoryIds];
  if (!IS_LITTLE || block.dead.length > units.count * MOST_DEAD) return undefined;
  if (ids.flat().some((id) => id.includes(SEPARATOR))) return undefined;
  const arrays: [string, Numbers][] = [
    ...cut("turn", turns.columns, turns.count),
    ...cut("session", turns.sessions, turns.sessionCount),
    ...cut("memory", memories.columns, memories.count),
    ...cut("source", memories.sources, memories.sourceCount),
    ...cut("unit", units.columns, units.count),
    ["slotOfRow", Int32Array.from(block.slotOfRow)],
    ...Object.entries(block.words.pack(units.count)).map(([name, array]): [string, Numbers] => [
      `words.${name}`,
      array,
    ]),
    ...Object.entries(block.vectors.pack(units.count)).map(([name, array]): [string, Numbers] => [
      `vectors.${name}`,
      array as Numbers,
    ]),
    ["mean", meanOf(block)],
    ...ids.map((list, i): [string, Numbers] => [`ids.${i}`, bytesOfText(list.join(SEPARATOR))]),
  ];
  const kept = arrays.map(([name, array]) => asKept(name, array));
  const header: Header = {
    format: FORMAT,
    space: block.space,
    dimensions: block.vectors.dimensions,
    revision: block.revision,
    newest: block.newest,
    turns: turns.count,
    sessions: turns.sessionCount,
    memories: memories.count,
    sources: memories.sourceCount,
    units: units.count,
    dead: block.dead,
    names: block.names.all,
    open: [...turns.open],
    arrays: kept.map(({ as }) => as),
  };
  return joined(
    header,
    kept.flatMap(({ parts }) => parts),
  );
}

function asKept(name: string, array: Numbers): { as: Header["arrays"][number]; parts: readonly Numbers[] } {
  const narrow = narrowed(array);
  const as = [name, array.constructor.name, array.length] as const;
  if (!narrow) return { as, parts: [array] };
  const { steps, rest } = narrow;
  return { as: [...as, steps.constructor.name, rest.length], parts: [steps, rest] };
}

/** The block of bytes that `packBlock` gave; nothing where they are of another format or space, or damaged. */
export function unpackBlock(bytes: Uint8Array, space: Space): Block | undefined {
  try {
    return unpacked(bytes, space);
  } catch {
    // Whatever is wrong with a cache, the record has the last word.
    return undefined;
  }
}

function unpacked(bytes: Uint8Array, space: Space): Block | undefined {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (all.toString("latin1", 0, MAGIC.length) !== MAGIC) return undefined;
  const length = all.readUInt32LE(8);
  const header = JSON.parse(all.toString("utf8", 16, 16 + length)) as Header;
  if (header.format !== FORMAT || header.space !== space.fingerprint) return undefined;
  if (header.dimensions !== space.dimensions || !IS_LITTLE) return undefined;
  const arrays = new Map<string, Numbers>();
  let at = aligned(16 + length);
  const next = (kind: string, count: number, isView: boolean): Numbers => {
    const Kind = KINDS[kind as keyof typeof KINDS];
    const end = at + count * Kind.BYTES_PER_ELEMENT;
    if (end > bytes.length) throw new Error("the block ends too early");
    // Copied, but for what goes to memory of its own anyway: views would hold on to all of the bytes.
    const mayView = isView && (bytes.byteOffset + at) % Kind.BYTES_PER_ELEMENT === 0;
    const own = mayView ? bytes.subarray(at, end) : bytes.slice(at, end);
    at = aligned(end);
    return new Kind(own.buffer as ArrayBuffer, own.byteOffset, count);
  };
  for (const [name, kind, count, steps, rest = 0] of header.arrays) {
    if (steps === undefined) arrays.set(name, next(kind, count, name === CODES));
    else {
      const column = new KINDS[kind as keyof typeof KINDS](count);
      const restKind = kind === "Float64Array" ? kind : "Int32Array";
      widen({ steps: next(steps, count, true), rest: next(restKind, rest, true) } as Narrow, column);
      arrays.set(name, column);
    }
  }
  return blockFrom(header, arrays, space);
}

function blockFrom(header: Header, arrays: ReadonlyMap<string, Numbers>, space: Space): Block {
  const empty = emptyBlock(space);
  const get = (name: string): Numbers => {
    const array = arrays.get(name);
    if (!array) throw new Error(`the block has no ${name}`);
    return array;
  };
  const fill = (prefix: string, columns: Columns): void => {
    for (const name of Object.keys(columns)) columns[name] = get(`${prefix}.${name}`);
  };
  const { turns, memories, units } = empty;
  fill("turn", turns.columns);
  fill("session", turns.sessions);
  fill("memory", memories.columns);
  fill("source", memories.sources);
  fill("unit", units.columns);
  turns.count = header.turns;
  turns.seen = turns.columns.flags.reduce((seen, bits) => seen | bits, 0);
  turns.sessionCount = header.sessions;
  memories.count = header.memories;
  memories.sourceCount = header.sources;
  units.count = header.units;
  for (const [id, session] of header.open) turns.open.set(id, session);
  const words: PackedWords = {
    hashes: get("words.hashes") as Float64Array<ArrayBuffer>,
    offsets: get("words.offsets") as Uint32Array<ArrayBuffer>,
    slots: get("words.slots") as Uint32Array<ArrayBuffer>,
    counts: get("words.counts") as Uint8Array<ArrayBuffer>,
    lengths: get("words.lengths") as Uint16Array<ArrayBuffer>,
  };
  const packed = {
    codes: get("vectors.codes") as Int8Array,
    scales: get("vectors.scales") as Float32Array,
  };
  return {
    ...empty,
    revision: header.revision,
    names: namesOf(header.names),
    turns: { ...turns, ids: idsOf(get("ids.0"), header.turns) },
    memoryIds: idsOf(get("ids.1"), header.memories),
    slotOfRow: [...get("slotOfRow")],
    words: wordsOf(words, header.dead),
    vectors: vectorsOf(space.dimensions, packed),
    dead: [...header.dead],
    kept: { mean: get("mean") as Float32Array, count: header.units },
    newest: header.newest,
    speakers: numbersIn(turns.columns.speaker, header.names.length),
    subjects: numbersIn(memories.columns.subject, header.names.length),
    relations: rowsByRelation(memories.columns.relation),
  };
}

function rowsByRelation(column: Int32Array): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < column.length; row += 1) noteRow(rows, column[row], row);
  return rows;
}

/** The different numbers of a column of names' numbers. */
function numbersIn(column: Int32Array, names: number): Set<number> {
  const isThere = new Uint8Array(names);
  for (const number of column) if (number >= 0) isThere[number] = 1;
  const numbers = new Set<number>();
  for (let number = 0; number < names; number += 1) if (isThere[number] === 1) numbers.add(number);
  return numbers;
}

function cut(prefix: string, columns: Columns, count: number): [string, Numbers][] {
  return Object.entries(columns).map(([name, column]) => [
    `${prefix}.${name}`,
    column.subarray(0, count) as Numbers,
  ]);
}

function joined(header: Header, arrays: readonly Numbers[]): Uint8Array {
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const first = aligned(16 + text.length);
  const size = arrays.reduce((end, { byteLength }) => aligned(end + byteLength), first);
  const bytes = new Uint8Array(size);
  bytes.set(Buffer.from(MAGIC, "latin1"));
  new DataView(bytes.buffer).setUint32(8, text.length, true);
  bytes.set(text, 16);
  let at = first;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at = aligned(at + array.byteLength);
  }
  return bytes;
}

/** Where an array of 64-bit numbers may begin. */
function aligned(at: number): number {
  return Math.ceil(at / 8) * 8;
}

function bytesOfText(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "utf8"));
}

function idsOf(bytes: Numbers, count: number): string[] {
  if (count === 0) return [];
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8").split(SEPARATOR);
}
