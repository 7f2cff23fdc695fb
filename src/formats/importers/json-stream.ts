import { open } from "node:fs/promises";
import { invalid, MemoryError } from "../../errors.ts";
import { BYTE_ORDER_MARK, type ImportSource, readBytes } from "./import-source.ts";

/** Maximum bytes of one value of a file, which is held in memory. */
const MOST_VALUE_BYTES = 64 * 1024 * 1024;
/** The same of a stream that a server receives. */
const MOST_STREAMED_VALUE_BYTES = 4 * 1024 * 1024;
/** Levels of containers that may be entered. Formats need four. */
const MOST_ENTERED = 16;

/**
 * What to do with the value at a path of a document: enter the array or object, parse the value and give it, or pass over it.
 * A value that is no container cannot be entered and is given.
 */
export type PathChoice = "enter" | "give" | "pass";

/** A value of a document, with its path: "" for the document, "messages[]" for an element, "name" for a field. */
interface JsonItem {
  readonly path: string;
  readonly value: unknown;
  /** The number of the element in its array, from 1; 0 for a field. */
  readonly number: number;
  /** Where its bytes begin in the document, without a byte order mark. */
  readonly start: number;
  /** Where they end, exclusive. */
  readonly end: number;
}

/** Enters the document, and gives its elements or fields. */
export function chooseElements(path: string): PathChoice {
  return path === "" ? "enter" : "give";
}

/** An element of a list in a file, by its place. */
interface PlacedElement {
  readonly start: number;
  readonly end: number;
  readonly number: number;
  readonly time: string;
}

/**
 * Gives the elements of a list with the oldest first, by the time (ISO 8601) that `toTime` finds; those without one come
 * last. It notes where each element of a file is, and reads them again one at a time. A stream, and a compressed file, is read
 * in its own order.
 */
export async function* readItemsByTime(
  source: ImportSource,
  toTime: (value: unknown) => string | undefined,
): AsyncGenerator<Pick<JsonItem, "value" | "number">, void, void> {
  if (typeof source !== "string" || source.endsWith(".gz")) {
    yield* readJsonItems(source, chooseElements);
    return;
  }
  const places: PlacedElement[] = [];
  for await (const { value, ...place } of readJsonItems(source, chooseElements))
    places.push({ ...place, time: toTime(value) ?? "\uffff" });
  // Sorting keeps the order of those with the same time.
  places.sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
  const file = await open(source);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(3), 0, 3, 0);
    const offset = bytesRead === 3 && buffer.equals(BYTE_ORDER_MARK) ? 3 : 0;
    for (const { start, end, number } of places) {
      const bytes = Buffer.alloc(end - start);
      await file.read(bytes, 0, bytes.length, start + offset);
      yield { number, value: parseValue(bytes) };
    }
  } finally {
    await file.close();
  }
}

/**
 * Gives the values of a JSON document one at a time, as they arrive. It holds one value in memory, not the document. Throws
 * `invalid_input` if the document is not JSON, ends early, or has a value that is too large.
 */
export async function* readJsonItems(
  source: ImportSource,
  choose: (path: string) => PathChoice,
): AsyncGenerator<JsonItem, void, void> {
  const most = typeof source === "string" ? MOST_VALUE_BYTES : MOST_STREAMED_VALUE_BYTES;
  const scan = scanDocument(choose, most);
  scan.next();
  for await (const bytes of readBytes(source)) {
    for (const item of feed(scan, bytes)) yield item;
  }
  for (const item of feed(scan, undefined)) yield item;
}

/** A scan waits for bytes at each `undefined`. */
type Scan = Generator<JsonItem | undefined, void, Buffer | undefined>;

function* feed(scan: Scan, bytes: Buffer | undefined): Generator<JsonItem, void, void> {
  for (let step = scan.next(bytes); !step.done && step.value !== undefined; step = scan.next())
    yield step.value;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** A container that was entered. */
interface EnteredContainer {
  readonly path: string;
  readonly isList: boolean;
  count: number;
}

/** The position in the bytes that have arrived. */
interface Cursor {
  bytes: Buffer;
  at: number;
  /** Bytes before these. */
  before: number;
}

function* scanDocument(choose: (path: string) => PathChoice, most: number): Scan {
  const cursor: Cursor = { bytes: Buffer.alloc(0), at: 0, before: 0 };
  const first = yield* peekByte(cursor);
  if (first === undefined) throw invalid("the file is empty.");
  yield* scanValue(cursor, { path: "", number: 0 }, choose, most, 0);
  if ((yield* peekByte(cursor)) !== undefined) throw invalid("the file has more after its JSON document.");
}

function* scanValue(
  cursor: Cursor,
  { path, number }: Pick<JsonItem, "path" | "number">,
  choose: (path: string) => PathChoice,
  most: number,
  depth: number,
): Scan {
  const first = yield* peekByte(cursor);
  const choice = choose(path);
  const isContainer = first === OPEN_LIST || first === OPEN_OBJECT;
  if (isContainer && choice === "enter" && depth < MOST_ENTERED) {
    const entered: EnteredContainer = { path, isList: first === OPEN_LIST, count: 0 };
    yield* scanContainer(cursor, entered, choose, most, depth);
    return;
  }
  const start = cursor.before + cursor.at;
  const text = yield* takeValue(cursor, choice === "pass" ? undefined : most);
  const end = cursor.before + cursor.at;
  if (choice !== "pass") yield { path, number, start, end, value: parseValue(text) };
}

function* scanContainer(
  cursor: Cursor,
  entered: EnteredContainer,
  choose: (path: string) => PathChoice,
  most: number,
  depth: number,
): Scan {
  const { path, isList } = entered;
  const end = isList ? CLOSE_LIST : CLOSE_OBJECT;
  cursor.at += 1;
  if ((yield* peekByte(cursor)) === end) {
    cursor.at += 1;
    return;
  }
  for (;;) {
    entered.count += 1;
    let inner = `${path}[]`;
    if (!isList) {
      const key = yield* takeKey(cursor, most);
      inner = path === "" ? key : `${path}.${key}`;
    }
    yield* scanValue(cursor, { path: inner, number: isList ? entered.count : 0 }, choose, most, depth + 1);
    const next = yield* peekByte(cursor);
    cursor.at += 1;
    if (next === end) return;
    if (next !== COMMA) throw createJsonError();
  }
}

function* takeKey(cursor: Cursor, most: number): Generator<undefined, string, Buffer | undefined> {
  if ((yield* peekByte(cursor)) !== QUOTE) throw createJsonError();
  const key = parseValue(yield* takeValue(cursor, most));
  if ((yield* peekByte(cursor)) !== COLON) throw createJsonError();
  cursor.at += 1;
  return String(key);
}

/** Skips white space and gives the next byte without taking it; undefined at the end. */
function* peekByte(cursor: Cursor): Generator<undefined, number | undefined, Buffer | undefined> {
  for (;;) {
    while (cursor.at < cursor.bytes.length) {
      const byte = cursor.bytes[cursor.at] as number;
      if (!isSpace(byte)) return byte;
      cursor.at += 1;
    }
    const more = yield undefined;
    if (more === undefined) return undefined;
    moveTo(cursor, more);
  }
}

function moveTo(cursor: Cursor, bytes: Buffer): void {
  cursor.before += cursor.bytes.length;
  cursor.bytes = bytes;
  cursor.at = 0;
}

/** Takes the bytes of one value. Keeps none of them without `most`. */
function* takeValue(
  cursor: Cursor,
  most: number | undefined,
): Generator<undefined, Buffer, Buffer | undefined> {
  const pieces: Buffer[] = [];
  const scan: ValueScan = { depth: 0, isInString: false, isEscaped: false, isBare: false, hasBegun: false };
  for (;;) {
    const end = findValueEnd(scan, cursor.bytes, cursor.at);
    keepPiece(pieces, cursor.bytes.subarray(cursor.at, end < 0 ? undefined : end), most);
    cursor.at = end;
    if (end >= 0) return Buffer.concat(pieces);
    const more = yield undefined;
    if (more === undefined) break;
    moveTo(cursor, more);
  }
  cursor.at = cursor.bytes.length;
  if (scan.isBare) return Buffer.concat(pieces);
  throw invalid("the JSON ends in the middle: the file is truncated.");
}

function keepPiece(pieces: Buffer[], piece: Buffer, most: number | undefined): void {
  if (most === undefined) return;
  pieces.push(piece);
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  if (size > most) throw createTooLargeValueError(most);
}

/** How far the scan of one value has come. */
interface ValueScan {
  depth: number;
  isInString: boolean;
  isEscaped: boolean;
  /** Whether the value is a number or a word, which ends where something else begins. */
  isBare: boolean;
  hasBegun: boolean;
}

/** Gives the position after the value, or -1 if it goes on. */
function findValueEnd(scan: ValueScan, bytes: Buffer, from: number): number {
  let i = from;
  while (i < bytes.length) {
    if (!scan.isInString) {
      const end = stepOutside(scan, bytes[i] as number, i);
      if (end >= 0) return end;
      i += 1;
      continue;
    }
    i = skipString(scan, bytes, i);
    if (!scan.isInString && scan.depth === 0) return i;
  }
  return -1;
}

/** Gives the position after the string that is open, or the end of the bytes. */
function skipString(scan: ValueScan, bytes: Buffer, from: number): number {
  for (let i = from; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (scan.isEscaped) scan.isEscaped = false;
    else if (byte === BACKSLASH) scan.isEscaped = true;
    else if (byte === QUOTE) {
      scan.isInString = false;
      return i + 1;
    }
  }
  return bytes.length;
}

/** Takes a byte that is in no string. Gives the end of the value, or -1 if it goes on. */
function stepOutside(scan: ValueScan, byte: number, i: number): number {
  const closes = byte === CLOSE_LIST || byte === CLOSE_OBJECT;
  if (scan.isBare) return closes || byte === COMMA || isSpace(byte) ? i : -1;
  if (byte === QUOTE) scan.isInString = true;
  else if (byte === OPEN_LIST || byte === OPEN_OBJECT) scan.depth += 1;
  else if (closes) scan.depth -= 1;
  else if (!scan.hasBegun) scan.isBare = true;
  scan.hasBegun = true;
  return closes && scan.depth <= 0 ? i + 1 : -1;
}

function parseValue(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    const what = cause instanceof SyntaxError ? "valid JSON" : "UTF-8";
    throw new MemoryError("invalid_input", `the file is not ${what}.`, { cause });
  }
}

function createJsonError(): MemoryError {
  return invalid("the file is not valid JSON.");
}

function createTooLargeValueError(most: number): MemoryError {
  return invalid(`one value of the file is larger than ${most / 1024 / 1024} MB.`);
}
