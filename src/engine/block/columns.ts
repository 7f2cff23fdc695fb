import { alignOffset } from "./format.ts";

/** An array of numbers of one size each. */
export type NumberArray =
  | Float64Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>;

/** Arrays that stand side by side: one place of each belongs together. */
export type ColumnSet = { [name: string]: NumberArray };

const MIN_CAPACITY = 16;

/**
 * Makes room for `length` places in each column. Grows by half at a time, so that one more does not copy all others. Those that
 * grow lie in one stretch of memory: V8 may collect garbage whenever it is asked for another.
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

/** Asked for each row that comes, and mostly so. */
function hasRoom(columns: ColumnSet, length: number): boolean {
  for (const name in columns) {
    if ((columns[name] as NumberArray).length < length) return false;
  }
  return true;
}

/** A column with room for so many places: itself, where it has it. */
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

/** The bytes that columns take. */
export function bytesOfColumns(columns: ColumnSet): number {
  return Object.values(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The different numbers of names in these columns, in rising order. */
export function collectNumbers(names: number, ...columns: readonly Int32Array[]): Set<number> {
  const isThere = new Uint8Array(names);
  for (const column of columns) {
    for (const number of column) if (number >= 0) isThere[number] = 1;
  }
  const numbers = new Set<number>();
  for (let number = 0; number < names; number += 1) if (isThere[number] === 1) numbers.add(number);
  return numbers;
}

/** Numbers for names, from 0, in the order in which they came. */
export interface NameTable {
  readonly all: readonly string[];
  /** The number of a name, which is given one where it has none; -1 for no name. */
  numberOf(name: string | undefined): number;
  /** The number of a name that has one. */
  find(name: string): number | undefined;
  /** Forgets all names but those of these numbers; the others keep their numbers. */
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
