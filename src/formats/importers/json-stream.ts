import { open } from "node:fs/promises";
import { invalid, MemoryError } from "../../errors.ts";
import { BYTE_ORDER_MARK, createByteCollector, type ImportSource, readBytes } from "./import-source.ts";

/** Maximum bytes of one value of a file, which is held in memory. */
const MOST_VALUE_BYTES = 64 * 1024 * 1024;
/** The same of a stream that a server receives. */
const MOST_STREAMED_VALUE_BYTES = 4 * 1024 * 1024;
/** Levels of containers that may be entered. Formats need four. */
const MOST_ENTERED = 16;

/**
 * What to do with the value at a path of a document: enter the array or object, parse the value and give it, or pass over it.
 * A value that is not a container cannot be entered and is given.
 */
export type PathChoice = "enter" | "give" | "pass";

/** A value of a document, with its path: "" for the document, "messages[]" for an element, "name" for a field. */
export interface JsonItem {
  readonly path: string;
  /** Absent for a value that is too large. */
  readonly value: unknown;
  /** True for a value that is too large to be held in memory, where such values are passed over. */
  readonly isTooLarge?: true;
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

/** Why an element is passed over that is larger than what is read into memory. */
export function describeTooLarge(source: ImportSource, what: string): string {
  const most = getMostBytes(source) / 1024 / 1024;
  const hint = typeof source === "string" ? "" : "; the command line and the library read larger ones";
  return `${what} of more than ${most} MB${hint}`;
}

function getMostBytes(source: ImportSource): number {
  return typeof source === "string" ? MOST_VALUE_BYTES : MOST_STREAMED_VALUE_BYTES;
}

/** An element of a list in a file, by its place. */
interface PlacedElement extends Pick<JsonItem, "isTooLarge"> {
  readonly start: number;
  readonly end: number;
  readonly number: number;
  readonly time: string;
}

/**
 * Gives the elements of a list with the oldest first, by the time (ISO 8601) that `toTime` finds; those without one come
 * last. It notes where each element of a file is, and reads them again one at a time. A stream, and a compressed file, is read
 * in its own order. An element that is too large comes without its value.
 */
export async function* readItemsByTime(
  source: ImportSource,
  toTime: (value: unknown) => string | undefined,
): AsyncGenerator<Pick<JsonItem, "value" | "number" | "isTooLarge">, void, void> {
  if (typeof source !== "string" || source.endsWith(".gz")) {
    yield* readJsonItems(source, chooseElements, PASS_TOO_LARGE);
    return;
  }
  const places: PlacedElement[] = [];
  for await (const { value, ...place } of readJsonItems(source, chooseElements, PASS_TOO_LARGE))
    places.push({ ...place, time: toTime(value) ?? "\uffff" });
  // Sorting keeps the order of those with the same time.
  places.sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
  const file = await open(source);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(3), 0, 3, 0);
    const offset = bytesRead === 3 && buffer.equals(BYTE_ORDER_MARK) ? 3 : 0;
    for (const { start, end, number, isTooLarge } of places) {
      if (isTooLarge) {
        yield { number, value: undefined, isTooLarge };
        continue;
      }
      const bytes = Buffer.alloc(end - start);
      await file.read(bytes, 0, bytes.length, start + offset);
      yield { number, value: parseValue(bytes) };
    }
  } finally {
    await file.close();
  }
}

/** What to do with values that are too large to be held in memory. */
interface TooLargeOptions {
  /** Whether such a value at a path is given without its value. Otherwise, and by default, the document is refused. */
  readonly passesTooLarge?: (path: string) => boolean;
}

/** For lists whose elements are independent: one that is too large does not keep the others out. */
export const PASS_TOO_LARGE: TooLargeOptions = { passesTooLarge: () => true };
/** The same for the lists of a document whose other fields are needed. */
export const PASS_LARGE_ELEMENTS: TooLargeOptions = { passesTooLarge: (path) => path.endsWith("[]") };

/**
 * Gives the values of a JSON document one at a time, as they arrive. It holds one value in memory, not the document. Throws
 * `invalid_input` if the document is not JSON, ends early, or has a value that is too large.
 */
export async function* readJsonItems(
  source: ImportSource,
  choose: (path: string) => PathChoice,
  options: TooLargeOptions = {},
): AsyncGenerator<JsonItem, void, void> {
  const scan = scanDocument({ choose, most: getMostBytes(source), ...options });
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

interface ScanOptions extends TooLargeOptions {
  readonly choose: (path: string) => PathChoice;
  /** The most bytes of a value. */
  readonly most: number;
}

function* scanDocument(options: ScanOptions): Scan {
  const cursor: Cursor = { bytes: Buffer.alloc(0), at: 0, before: 0 };
  const first = yield* peekByte(cursor);
  if (first === undefined) throw invalid("the file is empty.");
  yield* scanValue(cursor, { path: "", number: 0 }, options, 0);
  if ((yield* peekByte(cursor)) !== undefined) throw invalid("the file has more after its JSON document.");
}

function* scanValue(
  cursor: Cursor,
  { path, number }: Pick<JsonItem, "path" | "number">,
  options: ScanOptions,
  depth: number,
): Scan {
  const first = yield* peekByte(cursor);
  const choice = options.choose(path);
  const isContainer = first === OPEN_LIST || first === OPEN_OBJECT;
  if (isContainer && choice === "enter" && depth < MOST_ENTERED) {
    yield* scanContainer(cursor, { path, isList: first === OPEN_LIST, count: 0 }, options, depth);
    return;
  }
  const start = cursor.before + cursor.at;
  const text = yield* takeValue(cursor, choice === "pass" ? 0 : options.most);
  const end = cursor.before + cursor.at;
  if (choice === "pass") return;
  if (text) yield { path, number, start, end, value: parseValue(text) };
  else if (options.passesTooLarge?.(path))
    yield { path, number, start, end, value: undefined, isTooLarge: true };
  else throw createTooLargeValueError(options.most);
}

function* scanContainer(
  cursor: Cursor,
  entered: EnteredContainer,
  options: ScanOptions,
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
      const key = yield* takeKey(cursor, options.most);
      inner = path === "" ? key : `${path}.${key}`;
    }
    yield* scanValue(cursor, { path: inner, number: isList ? entered.count : 0 }, options, depth + 1);
    const next = yield* peekByte(cursor);
    cursor.at += 1;
    if (next === end) return;
    if (next !== COMMA) throw createJsonError();
  }
}

function* takeKey(cursor: Cursor, most: number): Generator<undefined, string, Buffer | undefined> {
  if ((yield* peekByte(cursor)) !== QUOTE) throw createJsonError();
  const text = yield* takeValue(cursor, most);
  if (!text) throw createTooLargeValueError(most);
  const key = parseValue(text);
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

/** Takes one value, and gives its bytes; undefined if they are more than `most`; then none is kept. */
function* takeValue(
  cursor: Cursor,
  most: number,
): Generator<undefined, Buffer | undefined, Buffer | undefined> {
  const bytes = createByteCollector(most);
  const scan: ValueScan = { depth: 0, isInString: false, isEscaped: false, isBare: false, hasBegun: false };
  for (;;) {
    const end = findValueEnd(scan, cursor.bytes, cursor.at);
    bytes.add(cursor.bytes.subarray(cursor.at, end < 0 ? undefined : end));
    cursor.at = end;
    if (end >= 0) return bytes.take();
    const more = yield undefined;
    if (more === undefined) break;
    moveTo(cursor, more);
  }
  cursor.at = cursor.bytes.length;
  if (scan.isBare) return bytes.take();
  throw invalid("the JSON ends in the middle: the file is truncated.");
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
