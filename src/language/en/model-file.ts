import { MemoryError } from "../../errors.ts";

/** A table of numbers, row by row: codes of 4, 8 or 16 bits with a scale for each row, or plain floats with scales of 1. */
export interface Tensor {
  readonly rows: number;
  readonly columns: number;
  readonly codes: Int8Array | Int16Array | Float32Array;
  readonly scales: Float32Array;
}

/** The content of a model file: a header, and tensors by name. */
interface ModelFile<Header> {
  readonly header: Header;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

const MAGIC_LENGTH = 8;
const HEADER_AT = MAGIC_LENGTH + 4;

interface TensorEntry {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly bits: number;
  readonly at: number;
}

/**
 * Reads a model file: a magic of eight letters, the length of the header (uint32), the header (JSON with `tensors`), and the tensors,
 * little-endian. Throws `corrupt` if it is not one or is cut off. The bytes are copied.
 */
export function readModelFile<Header>(bytes: Uint8Array, magic: string): ModelFile<Header> {
  const whole = new Uint8Array(bytes);
  const found = new TextDecoder("latin1").decode(whole.subarray(0, MAGIC_LENGTH));
  if (found !== magic || whole.length < HEADER_AT) throw createDamageError();
  const length = new DataView(whole.buffer).getUint32(MAGIC_LENGTH, true);
  const start = HEADER_AT + length;
  if (start > whole.length) throw createDamageError();
  const header = readHeader<Header>(whole.subarray(HEADER_AT, start));
  const tensors = new Map<string, Tensor>();
  for (const entry of header.tensors) tensors.set(entry.name, readTensor(whole, start, entry));
  return { header, tensors };
}

/** The tensor of a name. Throws `corrupt` if there is none. */
export function findTensor(tensors: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const tensor = tensors.get(name);
  if (!tensor) throw createDamageError();
  return tensor;
}

/** The values of a tensor, row by row. */
export function toFloats({ rows, columns, codes, scales }: Tensor): Float32Array {
  const values = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const scale = scales[row] as number;
    for (let i = row * columns; i < (row + 1) * columns; i += 1) values[i] = (codes[i] as number) * scale;
  }
  return values;
}

function readHeader<Header>(bytes: Uint8Array): Header & { readonly tensors: readonly TensorEntry[] } {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Header & { readonly tensors: TensorEntry[] };
  } catch {
    throw createDamageError();
  }
}

function readTensor(whole: Uint8Array, start: number, entry: TensorEntry): Tensor {
  const { rows, columns, bits } = entry;
  const count = rows * columns;
  const at = start + entry.at;
  const scaleBytes = bits === 32 ? 0 : padTo8(rows * 4);
  if (at % 8 !== 0 || at + scaleBytes + (count * bits) / 8 > whole.length) throw createDamageError();
  const from = at + scaleBytes;
  if (bits === 32) {
    const codes = new Float32Array(whole.buffer, from, count);
    return { rows, columns, codes, scales: new Float32Array(rows).fill(1) };
  }
  const scales = new Float32Array(whole.buffer, at, rows);
  return { rows, columns, codes: readCodes(whole, from, count, bits), scales };
}

function readCodes(whole: Uint8Array, from: number, count: number, bits: number): Int8Array | Int16Array {
  if (bits === 8) return new Int8Array(whole.buffer, from, count);
  if (bits === 16) return new Int16Array(whole.buffer, from, count);
  // Two codes a byte, the first in the lower half, each 8 more than it stands for.
  const codes = new Int8Array(count);
  for (let i = 0; i < count; i += 2) {
    const pair = whole[from + i / 2] as number;
    codes[i] = (pair & 15) - 8;
    codes[i + 1] = (pair >> 4) - 8;
  }
  return codes;
}

const padTo8 = (bytes: number): number => Math.ceil(bytes / 8) * 8;

function createDamageError(): MemoryError {
  return new MemoryError(
    "corrupt",
    "A model file of the package is damaged or of another version. Install the package again.",
  );
}
