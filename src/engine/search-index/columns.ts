/** A typed array of numbers. */
export type NumberArray =
  | Float64Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>;

/** Parallel arrays: equal positions belong together. */
export type ColumnSet = { [name: string]: NumberArray };

const MIN_CAPACITY = 16;

/**
 * Makes room for `length` positions in each column. Grows by half at a time, so that an addition rarely
 * copies. New columns share one allocation, because each may trigger a garbage collection in V8.
 */
export function ensureCapacity(columns: ColumnSet, length: number): void {
  if (hasRoom(columns, length)) return;
  const growing = Object.entries(columns).filter(([, column]) => column.length < length);
  const sizes = growing.map(([, column]) => computeCapacity(column, length) * column.BYTES_PER_ELEMENT);
  const memory = new ArrayBuffer(sizes.reduce((sum, size) => sum + alignOffset(size), 0));
  let at = 0;
  for (const [i, [name, column]] of growing.entries()) {
    const larger = new (constructorOf(column))(memory, at, computeCapacity(column, length));
    larger.set(column as never);
    columns[name] = larger;
    at += alignOffset(sizes[i] ?? 0);
  }
}

/** Called for each new row, and mostly true. */
function hasRoom(columns: ColumnSet, length: number): boolean {
  for (const name in columns) {
    if ((columns[name] as NumberArray).length < length) return false;
  }
  return true;
}

/** A column with room for `length` positions: itself, if it is large enough. */
export function growColumn<Column extends NumberArray>(column: Column, length: number): Column {
  if (column.length >= length) return column;
  const room = computeCapacity(column, length);
  const larger = new (constructorOf(column))(new ArrayBuffer(room * column.BYTES_PER_ELEMENT), 0, room);
  larger.set(column as never);
  return larger;
}

function computeCapacity(column: NumberArray, length: number): number {
  return Math.max(MIN_CAPACITY, length, Math.ceil(column.length * 1.5));
}

function constructorOf<Column extends NumberArray>(
  column: Column,
): new (
  memory: ArrayBuffer,
  at: number,
  length: number,
) => Column {
  return column.constructor as new (
    memory: ArrayBuffer,
    at: number,
    length: number,
  ) => Column;
}

/** The bytes used by columns. */
export function bytesOfColumns(columns: ColumnSet): number {
  return Object.values(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The distinct name numbers in these columns, in rising order. */
export function collectNumbers(names: number, ...columns: readonly Int32Array[]): Set<number> {
  const isThere = new Uint8Array(names);
  for (const column of columns) {
    for (const number of column) if (number >= 0) isThere[number] = 1;
  }
  const numbers = new Set<number>();
  for (let number = 0; number < names; number += 1) if (isThere[number] === 1) numbers.add(number);
  return numbers;
}

/** Numbers for names, from 0, in order of first use. */
export interface NameTable {
  readonly all: readonly string[];
  /** The number of a name, assigned if new; -1 for no name. */
  numberOf(name: string | undefined): number;
  /** The number of a known name. */
  find(name: string): number | undefined;
  /** Forgets all names except those with these numbers; the others keep their numbers. */
  retain(numbers: ReadonlySet<number>): void;
}

export function createNameTable(known: readonly string[] = []): NameTable {
  const all = [...known];
  const numbers = new Map(all.map((name, number) => [name, number]));
  return {
    all,
    numberOf(name) {
      if (name === undefined) return -1;
      const number = numbers.get(name) ?? all.length;
      if (number === all.length) {
        all.push(name);
        numbers.set(name, number);
      }
      return number;
    },
    find: (name) => numbers.get(name),
    retain(used) {
      for (const [name, number] of numbers) {
        if (used.has(number)) continue;
        numbers.delete(name);
        all[number] = "";
      }
    },
  };
}

/** Ids as consecutive bytes (UTF-8), and the end of each. */
interface PackedIds {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Int32Array<ArrayBuffer>;
}

/**
 * Ids by position, from 0. Loaded ids stay bytes until they are read: creating all strings takes as long as a
 * search, and a search reads a few.
 */
export interface IdColumn {
  readonly count: number;
  /** Undefined if there is no such position. */
  at(place: number): string | undefined;
  /** Appends an id. */
  add(id: string): void;
  /** Removes an id; its position remains, with an empty id. */
  clear(place: number): void;
  /** All ids, in order. Read-only: it is the same array each time. */
  all(): readonly string[];
  pack(): PackedIds;
}

export function createIdColumn(packed?: PackedIds): IdColumn {
  let bytes = packed && Buffer.from(packed.bytes.buffer, packed.bytes.byteOffset, packed.bytes.byteLength);
  const ends = packed?.ends ?? new Int32Array(0);
  let list: string[] | undefined = bytes ? undefined : [];
  /** Ids added while the others are bytes. */
  let added: string[] = [];
  const read = (place: number): string | undefined =>
    bytes?.toString("utf8", place === 0 ? 0 : ends[place - 1], ends[place]);
  const whole = (): string[] => {
    if (list) return list;
    list = Array.from(ends, (_, place) => read(place) ?? "").concat(added);
    added = [];
    bytes = undefined;
    return list;
  };
  return {
    get count() {
      return list?.length ?? ends.length + added.length;
    },
    at(place) {
      if (list) return list[place];
      return place >= 0 && place < ends.length ? read(place) : added[place - ends.length];
    },
    add: (id) => void (list ?? added).push(id),
    clear(place) {
      whole()[place] = "";
    },
    all: whole,
    pack: () => toPackedIds(whole()),
  };
}

/** One by one, because two adjacent ids may form a letter that neither has alone. */
function toPackedIds(list: readonly string[]): PackedIds {
  const bytes = new Uint8Array(list.reduce((sum, id) => sum + Buffer.byteLength(id, "utf8"), 0));
  const buffer = Buffer.from(bytes.buffer);
  const ends = new Int32Array(list.length);
  let end = 0;
  for (const [place, id] of list.entries()) {
    end += buffer.write(id, end, "utf8");
    ends[place] = end;
  }
  return { bytes, ends };
}

/** Raise it with each change of the layout: an index of another format is rebuilt from the store. */
export const INDEX_FORMAT = 6;
export const MAGIC = "KSBLOCK";
export const SCALES_ARRAY = "vectors.scales";
/** The vectors: most of the bytes. They come last, so that the rest is decoded while they arrive. */
export const CODES_ARRAY = "vectors.codes";
/** Whether this machine is little-endian, as nearly all are. */
export const IS_LITTLE_ENDIAN: boolean = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

export interface IndexHeader {
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
   * Name, type and length of each array, in order. A delta-encoded one also has the type of its deltas and
   * the length of the rest. If its deltas are run-length encoded, it also has their number; the repeat counts
   * follow the deltas, and the rest follows them.
   */
  readonly arrays: readonly (readonly [string, string, number, string?, number?, number?])[];
}

/** The next aligned offset for 64-bit numbers. */
export function alignOffset(at: number): number {
  return Math.ceil(at / 8) * 8;
}
