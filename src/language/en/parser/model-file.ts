import { readModelFile, type Tensor } from "../model-file.ts";

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

interface FileHeader {
  readonly tags: string[];
  readonly parts: string[];
  readonly moves: [MoveKind, string][];
  readonly exceptions: { [text: string]: ExceptionWord[] };
  readonly symbols: { [text: string]: number };
}

/** Reads a model file. Throws `corrupt` if it is not one or is cut off. The bytes are copied. */
export function readParserModel(bytes: Uint8Array): ParserModel {
  const { header, tensors } = readModelFile<FileHeader>(bytes, "KSPARSE1");
  const { tags, parts, moves } = header;
  const exceptions = new Map(Object.entries(header.exceptions));
  return { tags, parts, moves, exceptions, symbols: new Map(Object.entries(header.symbols)), tensors };
}
