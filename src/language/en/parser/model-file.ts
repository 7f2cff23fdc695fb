import { MemoryError } from "../../../errors.ts";

/** A table of numbers, row by row: 8- or 16-bit codes with a scale for each row, or plain floats with scales of 1. */
export interface Tensor {
  readonly rows: number;
  readonly columns: number;
  readonly codes: Int8Array | Int16Array | Float32Array;
  readonly scales: Float32Array;
}

/** A word that the tokenizer gives for an exception: its text, and its norm where that is not the usual one. */
export type ExceptionWord = readonly [text: string, norm?: string];

/** `S`hift, re`D`uce, `L`eft arc, `R`ight arc, `B`reak. */
export type MoveKind = "S" | "D" | "L" | "R" | "B";

/** The content of the file that `scripts/parser/export.py` writes; the format is described there. */
export interface ParserModel {
  /** Penn Treebank tags (XPOS), in the order of their scores. */
  readonly tags: readonly string[];
  /** Universal parts of speech, in the order of their scores. */
  readonly parts: readonly string[];
  readonly moves: readonly (readonly [kind: MoveKind, label: string])[];
  readonly exceptions: ReadonlyMap<string, readonly ExceptionWord[]>;
  /** Strings that spaCy knows by a number instead of a hash. */
  readonly symbols: ReadonlyMap<string, number>;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

const MAGIC = "KSPARSE1";
const HEADER_AT = 12;

interface TensorEntry {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly bits: number;
  readonly at: number;
}

interface FileHeader {
  readonly tags: string[];
  readonly parts: string[];
  readonly moves: [MoveKind, string][];
  readonly exceptions: { [text: string]: ExceptionWord[] };
  readonly symbols: { [text: string]: number };
  readonly tensors: TensorEntry[];
}

/** Reads a model file. Throws `corrupt` if it is not one or is cut off. The bytes are copied. */
export function readParserModel(bytes: Uint8Array): ParserModel {
  const whole = new Uint8Array(bytes);
  const magic = new TextDecoder("latin1").decode(whole.subarray(0, MAGIC.length));
  if (magic !== MAGIC || whole.length < HEADER_AT) throw createDamageError();
  const length = new DataView(whole.buffer).getUint32(MAGIC.length, true);
  const start = HEADER_AT + length;
  if (start > whole.length) throw createDamageError();
  const header = readHeader(whole.subarray(HEADER_AT, start));
  const tensors = new Map<string, Tensor>();
  for (const entry of header.tensors) tensors.set(entry.name, readTensor(whole, start, entry));
  const { tags, parts, moves } = header;
  const exceptions = new Map(Object.entries(header.exceptions));
  return { tags, parts, moves, exceptions, symbols: new Map(Object.entries(header.symbols)), tensors };
}

/** The tensor of a name. Throws `corrupt` if the file has none. */
export function findTensor(model: ParserModel, name: string): Tensor {
  const tensor = model.tensors.get(name);
  if (!tensor) throw createDamageError();
  return tensor;
}

function readHeader(bytes: Uint8Array): FileHeader {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as FileHeader;
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
  const codes =
    bits === 8 ? new Int8Array(whole.buffer, from, count) : new Int16Array(whole.buffer, from, count);
  return { rows, columns, codes, scales };
}

const padTo8 = (bytes: number): number => Math.ceil(bytes / 8) * 8;

function createDamageError(): MemoryError {
  return new MemoryError(
    "corrupt",
    "The parser's model file is damaged or of another version. Install the package again.",
  );
}
