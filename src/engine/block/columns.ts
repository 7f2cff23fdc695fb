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

/** Makes room for `length` places in each column. Grows by half at a time, so that one more does not copy all others. */
export function makeRoom(columns: Columns, length: number): void {
  for (const [name, column] of Object.entries(columns)) {
    if (column.length < length) columns[name] = grown(column, length);
  }
}

/** A column with room for so many places: itself, where it has it. */
export function grown<Column extends Numbers>(column: Column, length: number): Column {
  if (column.length >= length) return column;
  const Kind = column.constructor as new (length: number) => Column;
  const larger = new Kind(Math.max(LEAST, length, Math.ceil(column.length * 1.5)));
  larger.set(column as never);
  return larger;
}

/** The bytes that columns take. */
export function bytesOf(columns: Columns): number {
  return Object.values(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Numbers for names, from 0, in the order in which they came. */
export interface Names {
  readonly all: readonly string[];
  /** The number of a name, which is given one where it has none; -1 for no name. */
  number(name: string | undefined): number;
  /** The number of a name that has one. */
  find(name: string): number | undefined;
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
  };
}
