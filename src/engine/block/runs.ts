import type { Numbers } from "./columns.ts";
import { aligned, CODES, type Header } from "./format.ts";
import { type Narrow, widen } from "./narrow.ts";
import type { Vectors } from "./vectors.ts";

/** Where an array of the header stands among the bytes of a block. */
export interface Place {
  readonly from: number;
  readonly to: number;
  readonly array: Header["arrays"][number];
}

/** Of all arrays of a header, of which the first begins at `first`. */
export function placesOf({ arrays }: Header, first: number): Place[] {
  let at = first;
  return arrays.map((array) => {
    const from = at;
    const to = from + (isNarrow(array) ? narrowBytes(array) : wideBytes(array));
    at = aligned(to);
    return { from, to, array };
  });
}

/** Bytes that belong together, by where they stand, and what becomes of them. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly isCodes: boolean;
  put(at: number, bytes: Uint8Array): void;
  /** When all have come. */
  done(): void;
}

/**
 * What becomes of each place: the codes go to `vectors`, all else into `arrays`. The columns lie in one stretch of memory, and what they
 * are worked out from in another, which goes: to V8 each piece of memory beside its heap may be the one that has it collect garbage
 * at once, ten milliseconds apiece, and a block has forty.
 */
export function runsOf(places: readonly Place[], arrays: Map<string, Numbers>, vectors: Vectors): Run[] {
  const own = places.map(({ array }) => array).filter(([name]) => name !== CODES);
  const lasting = stretch(own.map(wideBytes));
  const passing = stretch(own.filter(isNarrow).map(narrowBytes));
  return places.map(({ from, to, array }) => {
    const run = { from, to, isCodes: array[0] === CODES };
    if (run.isCodes) return { ...run, put: (at, bytes) => vectors.load(at, bytes), done: () => {} };
    const bytes = isNarrow(array) ? passing(narrowBytes(array)) : lasting(wideBytes(array));
    const done = (): void => void arrays.set(array[0], columnOf(array, bytes, lasting));
    return { ...run, put: (at, part) => bytes.set(part, at), done };
  });
}

type Kept = Header["arrays"][number];
type Bytes = Uint8Array<ArrayBuffer>;

/** Gives bytes that lie one after the other. */
type Stretch = (size: number) => Bytes;

function stretch(sizes: readonly number[]): Stretch {
  const memory = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + aligned(size), 0)).buffer;
  let at = 0;
  return (size) => {
    const taken = new Uint8Array(memory, at, size);
    at += aligned(size);
    return taken;
  };
}

/** The numbers of an array, of the bytes that are kept of it. */
function columnOf(array: Kept, bytes: Bytes, lasting: Stretch): Numbers {
  const [, kind, count] = array;
  if (!isNarrow(array)) return numbersIn(bytes, 0, kind, count);
  const column = numbersIn(lasting(wideBytes(array)), 0, kind, count);
  let at = 0;
  const [steps, times, rest] = narrowParts(array).map(([part, length]) => {
    const numbers = numbersIn(bytes, at, part, length);
    at += aligned(numbers.byteLength);
    return numbers;
  });
  const isRepeated = array[5] !== undefined;
  widen({ steps, times: isRepeated ? times : undefined, rest } as Narrow, column);
  return column;
}

function numbersIn({ buffer, byteOffset }: Bytes, at: number, kind: string, count: number): Numbers {
  return new (kindOf(kind))(buffer, byteOffset + at, count);
}

/** Whether an array is kept as steps: see `Narrow`. */
function isNarrow(array: Kept): boolean {
  return array[3] !== undefined;
}

/** Types and lengths of what follows each other of a narrow array. */
function narrowParts([, kind, count, steps = "", rest = 0, repeated]: Kept): [string, number][] {
  const restKind = kind === "Float64Array" ? kind : "Int32Array";
  return [
    [steps, repeated ?? count],
    ["Uint16Array", repeated ?? 0],
    [restKind, rest],
  ];
}

function wideBytes([, kind, count]: Kept): number {
  return bytesOf(kind, count);
}

function narrowBytes(array: Kept): number {
  return narrowParts(array).reduce((bytes, [kind, count]) => aligned(bytes) + bytesOf(kind, count), 0);
}

function bytesOf(kind: string, count: number): number {
  return count * kindOf(kind).BYTES_PER_ELEMENT;
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
