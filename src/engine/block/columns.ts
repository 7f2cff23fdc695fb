import { aligned } from "./format.ts";

/** An array of numbers of one size each. */
export type Numbers =
  | Float64Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>;

/** Arrays that stand side by side: one place of each belongs together. */
export type Columns = { [name: string]: Numbers };

const LEAST = 16;

/**
 * Makes room for `length` places in each column. Grows by half at a time, so that one more does not copy all others. Those that
 * grow lie in one stretch of memory: V8 may collect garbage whenever it is asked for another.
 */
export function makeRoom(columns: Columns, length: number): void {
  if (hasRoom(columns, length)) return;
  const growing = Object.entries(columns).filter(([, column]) => column.length < length);
  const sizes = growing.map(([, column]) => roomFor(column, length) * column.BYTES_PER_ELEMENT);
  const memory = new ArrayBuffer(sizes.reduce((sum, size) => sum + aligned(size), 0));
  let at = 0;
  for (const [i, [name, column]] of growing.entries()) {
    const larger = new (kindOf(column))(memory, at, roomFor(column, length));
    larger.set(column as never);
    columns[name] = larger;
    at += aligned(sizes[i] ?? 0);
  }
}

/** Asked for each row that comes, and mostly so. */
function hasRoom(columns: Columns, length: number): boolean {
  for (const name in columns) {
    if ((columns[name] as Numbers).length < length) return false;
  }
  return true;
}

/** A column with room for so many places: itself, where it has it. */
export function grown<Column extends Numbers>(column: Column, length: number): Column {
  if (column.length >= length) return column;
  const room = roomFor(column, length);
  const larger = new (kindOf(column))(new ArrayBuffer(room * column.BYTES_PER_ELEMENT), 0, room);
  larger.set(column as never);
  return larger;
}

function roomFor(column: Numbers, length: number): number {
  return Math.max(LEAST, length, Math.ceil(column.length * 1.5));
}

function kindOf<Column extends Numbers>(
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

/** The bytes that columns take. */
export function bytesOf(columns: Columns): number {
  return Object.values(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The different numbers of names in these columns, in rising order. */
export function numbersIn(names: number, ...columns: readonly Int32Array[]): Set<number> {
  const isThere = new Uint8Array(names);
  for (const column of columns) {
    for (const number of column) if (number >= 0) isThere[number] = 1;
  }
  const numbers = new Set<number>();
  for (let number = 0; number < names; number += 1) if (isThere[number] === 1) numbers.add(number);
  return numbers;
}

/** Numbers for names, from 0, in the order in which they came. */
export interface Names {
  readonly all: readonly string[];
  /** The number of a name, which is given one where it has none; -1 for no name. */
  number(name: string | undefined): number;
  /** The number of a name that has one. */
  find(name: string): number | undefined;
  /** Forgets all names but those of these numbers; the others keep their numbers. */
  keep(numbers: ReadonlySet<number>): void;
}

export function namesOf(known: readonly string[] = []): Names {
  const all = [...known];
  const numbers = new Map(all.map((name, number) => [name, number]));
  return {
    all,
    number(name) {
      if (name === undefined) return -1;
      const number = numbers.get(name) ?? all.length;
      if (number === all.length) {
        all.push(name);
        numbers.set(name, number);
      }
      return number;
    },
    find: (name) => numbers.get(name),
    keep(used) {
      for (const [name, number] of numbers) {
        if (used.has(number)) continue;
        numbers.delete(name);
        all[number] = "";
      }
    },
  };
}
