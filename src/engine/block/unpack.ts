import type { BlockParts } from "../../ports/record.ts";
import { type Block, emptyBlock, noteRow, type Space } from "./block.ts";
import { type Columns, type Numbers, namesOf } from "./columns.ts";
import { aligned, CODES, FORMAT, type Header, IS_LITTLE, MAGIC, SCALES } from "./format.ts";
import { type Ids, idsOf } from "./ids.ts";
import { type Narrow, widen } from "./narrow.ts";
import { strideOf, type Vectors, vectorsOf } from "./vectors.ts";
import { type PackedWords, wordsOf } from "./words.ts";

/** A block that is being taken out of the bytes that `packBlock` gave, as they come. */
export interface Unpacking extends BlockParts {
  /** The block, when all is there; nothing where the bytes are of another format or space, or damaged. */
  block(): Block | undefined;
  /** Lets go of what was begun. */
  release(): void;
}

export function unpacking(space: Space): Unpacking {
  let now = nothingYet(0);
  const release = (): void => {
    now.vectors?.release();
    now = nothingYet(0);
  };
  return {
    begin(_revision, size) {
      release();
      now = nothingYet(size);
    },
    take(bytes) {
      if (now.isBroken) return;
      // Whatever is wrong with a cache, the record has the last word.
      try {
        takeIn(now, space, bytes);
      } catch {
        now.isBroken = true;
      }
    },
    block() {
      const { built, isBroken, seen, size } = now;
      if (built && !isBroken && now.runs.length === 0 && seen === size) return built;
      release();
      return undefined;
    },
    release,
  };
}

/** The block of all of the bytes that `packBlock` gave. */
export function unpackBlock(bytes: Uint8Array, space: Space): Block | undefined {
  const parts = unpacking(space);
  parts.begin(0, bytes.length);
  parts.take(bytes);
  return parts.block();
}

/** What is known so far. */
interface Taking {
  readonly size: number;
  /** Bytes that came. */
  seen: number;
  isBroken: boolean;
  /** The beginning, until the header is whole. */
  head: Buffer;
  header?: Header;
  /** What is still to come, in order. */
  runs: Run[];
  readonly arrays: Map<string, Numbers>;
  vectors?: Vectors;
  built?: Block;
}

/** Bytes that belong together, by where they stand, and what becomes of them. */
interface Run {
  readonly from: number;
  readonly to: number;
  readonly isCodes: boolean;
  put(at: number, bytes: Uint8Array): void;
  done(): void;
}

function nothingYet(size: number): Taking {
  return { size, seen: 0, isBroken: false, head: Buffer.alloc(0), runs: [], arrays: new Map() };
}

function takeIn(now: Taking, space: Space, bytes: Uint8Array): void {
  if (now.header) putInto(now, bytes);
  else {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const head = now.head.length === 0 ? part : Buffer.concat([now.head, part]);
    if (!readHeader(now, space, head)) {
      now.head = Buffer.from(head);
      return;
    }
    now.head = Buffer.alloc(0);
    putInto(now, head);
  }
  const { header, vectors } = now;
  // While the last of the bytes are on their way, which are the most.
  if (!now.built && header && vectors && now.runs.every(({ isCodes }) => isCodes)) {
    now.built = blockFrom(header, now.arrays, vectors, space);
  }
}

/** Whether the header is whole. */
function readHeader(now: Taking, space: Space, head: Buffer): boolean {
  if (head.length < 16) return false;
  if (head.toString("latin1", 0, MAGIC.length) !== MAGIC || !IS_LITTLE) throw new Error("this is no block");
  const from = 16 + head.readUInt32LE(8);
  if (from > now.size) throw new Error("the block ends too early");
  if (head.length < from) return false;
  const header = JSON.parse(head.toString("utf8", 16, from)) as Header;
  const isSame = header.format === FORMAT && header.space === space.fingerprint;
  if (!isSame || header.dimensions !== space.dimensions) throw new Error("the block is of another kind");
  const places = placesOf(header, aligned(from));
  if (aligned(places.at(-1)?.to ?? from) !== now.size) throw new Error("the block has another size");
  const lengths = new Map(header.arrays.map(([name, , length]) => [name, length]));
  const isWhole =
    lengths.get(CODES) === header.units * strideOf(space.dimensions) && lengths.get(SCALES) === header.units;
  if (!isWhole) throw new Error("the block has not a vector for each unit");
  const vectors = vectorsOf(space.dimensions, header.units);
  now.vectors = vectors;
  now.runs = runsOf(places, now.arrays, vectors);
  now.header = header;
  return true;
}

function putInto(now: Taking, bytes: Uint8Array): void {
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

/** An array of the header, or one of the two that stand for it, by where its bytes stand. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly array: Header["arrays"][number];
  readonly part: "whole" | "steps" | "rest";
}

function placesOf({ arrays }: Header, first: number): Place[] {
  let at = first;
  const next = (array: Place["array"], part: Place["part"], kind: string, count: number): Place => {
    const from = at;
    const to = from + count * kindOf(kind).BYTES_PER_ELEMENT;
    at = aligned(to);
    return { from, to, array, part };
  };
  return arrays.flatMap((array) => {
    const [, kind, count, steps, rest = 0] = array;
    if (steps === undefined) return [next(array, "whole", kind, count)];
    return [next(array, "steps", steps, count), next(array, "rest", restKind(kind), rest)];
  });
}

/**
 * What becomes of each run. The columns lie in one stretch of memory, and what they are worked out from in another, which goes:
 * to V8 each piece of memory beside its heap may be the one that has it collect garbage at once, ten milliseconds apiece, and
 * a block has forty.
 */
function runsOf(places: readonly Place[], arrays: Map<string, Numbers>, vectors: Vectors): Run[] {
  const own = places.filter(({ array: [name] }) => name !== CODES);
  const isPassing = ({ part }: Place): boolean => part !== "whole";
  const passing = stretch(own.filter(isPassing).map(({ from, to }) => to - from));
  const lasting = stretch(
    own.flatMap(({ array: [, kind, count], part }) =>
      part === "steps" ? [] : count * kindOf(kind).BYTES_PER_ELEMENT,
    ),
  );
  return places.map((place) => {
    if (place.array[0] === CODES) return codesRun(place, vectors);
    return isPassing(place) ? narrowRun(place, arrays, passing, lasting) : wholeRun(place, arrays, lasting);
  });
}

/** Gives arrays that lie one after the other. */
type Stretch = (kind: string, count: number) => Numbers;

function stretch(sizes: readonly number[]): Stretch {
  const memory = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + aligned(size), 0)).buffer;
  let at = 0;
  return (kind, count) => {
    const taken = new (kindOf(kind))(memory, at, count);
    at += aligned(taken.byteLength);
    return taken;
  };
}

function codesRun({ from, to }: Place, vectors: Vectors): Run {
  return { from, to, isCodes: true, put: (at, bytes) => vectors.load(at, bytes), done: () => {} };
}

function wholeRun({ from, to, array }: Place, arrays: Map<string, Numbers>, lasting: Stretch): Run {
  const [name, kind, count] = array;
  const column = lasting(kind, count);
  return { from, to, isCodes: false, put: into(column), done: () => void arrays.set(name, column) };
}

/** The steps of a column, or the rest of its numbers, which come after them. */
function narrowRun(
  { from, to, array, part }: Place,
  arrays: Map<string, Numbers>,
  passing: Stretch,
  lasting: Stretch,
): Run {
  const [name, kind, count, stepKind = "", restCount = 0] = array;
  if (part === "steps") {
    const steps = passing(stepKind, count);
    return { from, to, isCodes: false, put: into(steps), done: () => void arrays.set(name, steps) };
  }
  const rest = passing(restKind(kind), restCount);
  const column = lasting(kind, count);
  const done = (): void => {
    widen({ steps: arrays.get(name), rest } as Narrow, column);
    arrays.set(name, column);
  };
  return { from, to, isCodes: false, put: into(rest), done };
}

function into({ buffer, byteOffset, byteLength }: Numbers): Run["put"] {
  const all = new Uint8Array(buffer, byteOffset, byteLength);
  return (at, bytes) => all.set(bytes, at);
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

function kindOf(name: string): (typeof KINDS)[keyof typeof KINDS] {
  const Kind = KINDS[name as keyof typeof KINDS];
  if (!Kind) throw new Error("the block has numbers of an unknown kind");
  return Kind;
}

function restKind(kind: string): string {
  return kind === "Float64Array" ? kind : "Int32Array";
}

function blockFrom(
  header: Header,
  arrays: ReadonlyMap<string, Numbers>,
  vectors: Vectors,
  space: Space,
): Block {
  const empty = emptyBlock(space);
  const get = (name: string): Numbers => {
    const array = arrays.get(name);
    if (!array) throw new Error(`the block has no ${name}`);
    return array;
  };
  const fill = (prefix: string, columns: Columns): void => {
    for (const name of Object.keys(columns)) columns[name] = get(`${prefix}.${name}`);
  };
  const ids = (list: number, count: number): Ids => {
    const ends = get(`ids.${list}.ends`) as Int32Array<ArrayBuffer>;
    if (ends.length !== count) throw new Error("the block has not an id for each");
    return idsOf({ bytes: get(`ids.${list}`) as Uint8Array<ArrayBuffer>, ends });
  };
  const { turns, memories, units } = empty;
  fill("turn", turns.columns);
  fill("session", turns.sessions);
  fill("memory", memories.columns);
  fill("source", memories.sources);
  fill("unit", units.columns);
  turns.count = header.turns;
  turns.seen = allBits(turns.columns.flags);
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
  vectors.scale(get(SCALES) as Float32Array);
  return {
    ...empty,
    revision: header.revision,
    names: namesOf(header.names),
    turns: { ...turns, ids: ids(0, header.turns) },
    memoryIds: ids(1, header.memories),
    slotOfRow: listOf(get("slotOfRow")),
    words: wordsOf(words, header.dead),
    vectors,
    dead: [...header.dead],
    kept: {
      mean: get("mean") as Float32Array,
      along: get("along") as Float32Array<ArrayBuffer>,
      count: header.units,
    },
    newest: header.newest,
    speakers: numbersIn(turns.columns.speaker, header.names.length),
    subjects: numbersIn(memories.columns.subject, header.names.length),
    relations: rowsByRelation(memories.columns.relation),
  };
}

/** By a loop: to spread an array of numbers takes fifteen times as long. */
function listOf(column: Numbers): number[] {
  const list: number[] = [];
  for (let i = 0; i < column.length; i += 1) list.push(column[i] as number);
  return list;
}

function allBits(column: Numbers): number {
  let seen = 0;
  for (let i = 0; i < column.length; i += 1) seen |= column[i] as number;
  return seen;
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
