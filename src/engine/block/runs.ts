import type { NumberArray } from "./columns.ts";
import { alignOffset, CODES_ARRAY, type IndexHeader } from "./format.ts";
import { type DeltaColumn, decodeDeltas } from "./narrow.ts";
import type { VectorCodes } from "./vectors.ts";

/** Where an array of the header stands among the bytes of a block. */
export interface ArrayLocation {
  readonly from: number;
  readonly to: number;
  readonly array: IndexHeader["arrays"][number];
}

/** Of all arrays of a header, of which the first begins at `first`. */
export function locateArrays({ arrays }: IndexHeader, first: number): ArrayLocation[] {
  let at = first;
  return arrays.map((array) => {
    const from = at;
    const to = from + (isDeltaEncoded(array) ? deltaBytesOf(array) : plainBytesOf(array));
    at = alignOffset(to);
    return { from, to, array };
  });
}

/** Bytes that belong together, by where they stand, and what becomes of them. */
export interface ByteRun {
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
export function createByteRuns(
  places: readonly ArrayLocation[],
  arrays: Map<string, NumberArray>,
  vectors: VectorCodes,
): ByteRun[] {
  const own = places.map(({ array }) => array).filter(([name]) => name !== CODES_ARRAY);
  const lasting = createByteAllocator(own.map(plainBytesOf));
  const passing = createByteAllocator(own.filter(isDeltaEncoded).map(deltaBytesOf));
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

/** Gives bytes that lie one after the other. */
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

/** The numbers of an array, of the bytes that are kept of it. */
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

/** Whether an array is kept as steps: see `Narrow`. */
function isDeltaEncoded(array: StoredArray): boolean {
  return array[3] !== undefined;
}

/** Types and lengths of what follows each other of a narrow array. */
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
  if (!Kind) throw new Error("the block has numbers of an unknown kind");
  return Kind;
}
