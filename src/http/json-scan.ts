import { refuseBody } from "./problem.ts";

/** Limits of the JSON of one request. Parsing it must not delay other requests. */
export const JSON_LIMITS = {
  /** Levels of arrays and objects. Tool schemas of OpenAI need about forty. */
  depth: 64,
  /** Arrays and objects. */
  containers: 30_000,
  /** Field names. */
  members: 30_000,
  /** Strings, including field names. */
  strings: 60_000,
  /** Values of all kinds. Token arrays contain many numbers. */
  values: 400_000,
} as const;

/** A long string: the byte range in the text, without its quotes. */
export interface LongString {
  readonly start: number;
  readonly end: number;
}

/** Scans JSON while it is received, before it is parsed. */
interface JsonScan {
  /** Scans the next bytes. Throws 400 if the JSON is nested too deeply or contains too many values. */
  take(bytes: Uint8Array): void;
  /** Strings of at least `LONG_BYTES`, in order. */
  readonly long: readonly LongString[];
}

/** Shorter strings are not reported. */
export const LONG_BYTES = 1024;
/** The number of bytes scanned one by one: most strings end before, and a native search would cost more. */
const NEAR_BYTES = 24;

const QUOTE = 0x22;
const SLASH = 0x5c;

/** The kind of a byte outside strings; 0 for an insignificant one. */
const OTHER_BYTE = 0;
const STRING = 1;
const NEXT = 2;
const MEMBER = 3;
const OPEN = 4;
const CLOSE = 5;
const BYTE_KINDS = new Uint8Array(256);
for (const [byte, kind] of Object.entries({
  '"': STRING,
  ",": NEXT,
  ":": MEMBER,
  "[": OPEN,
  "{": OPEN,
  "]": CLOSE,
  "}": CLOSE,
}))
  BYTE_KINDS[byte.charCodeAt(0)] = kind;

/**
 * Creates a scan that keeps only its position, so each chunk takes a fraction of a millisecond. It does not validate the
 * JSON; the parser does.
 */
export function createJsonScan(): JsonScan {
  const long: LongString[] = [];
  /** The count of each kind. */
  const met = new Uint32Array(CLOSE + 1);
  let depth = 0;
  /** Bytes before this chunk; the start of the open string, or -1; whether the last byte is a backslash. */
  let before = 0;
  let opened = -1;
  let isEscaped = false;

  /** Gives the end of the string that is open at `from`, or the end of the chunk. */
  const stringEnd = (bytes: Buffer, from: number): number => {
    let i = isEscaped ? from + 1 : from;
    isEscaped = false;
    for (;;) {
      const quote = findQuote(bytes, i);
      const isWhole = countSlashes(bytes, i, quote) % 2 === 0;
      if (quote === bytes.length) {
        isEscaped = !isWhole;
        return quote;
      }
      if (isWhole) return closed(quote);
      i = quote + 1;
    }
  };
  const closed = (quote: number): number => {
    const end = before + quote;
    if (end - opened >= LONG_BYTES) long.push({ start: opened, end });
    opened = -1;
    return quote + 1;
  };
  const count = (kind: number): void => {
    met[kind] = (met[kind] ?? 0) + 1;
    if (kind === CLOSE) depth -= 1;
    if (kind === OPEN) depth += 1;
    if (depth > JSON_LIMITS.depth) throw refuseBody(`is nested deeper than ${JSON_LIMITS.depth} levels`);
  };
  return {
    long,
    take(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      let i = opened < 0 ? 0 : stringEnd(bytes, 0);
      while (i < bytes.length) {
        const kind = BYTE_KINDS[bytes[i] ?? 0] ?? OTHER_BYTE;
        i += 1;
        if (kind === OTHER_BYTE) continue;
        count(kind);
        if (kind !== STRING) continue;
        opened = before + i;
        i = stringEnd(bytes, i);
      }
      before += bytes.length;
      checkCounts(met);
    },
  };
}

function checkCounts(met: Uint32Array): void {
  const [, strings = 0, nexts = 0, members = 0, containers = 0] = met;
  if (containers > JSON_LIMITS.containers)
    throw createTooManyValuesError(JSON_LIMITS.containers, "arrays and objects");
  if (members > JSON_LIMITS.members) throw createTooManyValuesError(JSON_LIMITS.members, "fields");
  if (strings > JSON_LIMITS.strings) throw createTooManyValuesError(JSON_LIMITS.strings, "strings");
  if (nexts + containers > JSON_LIMITS.values) throw createTooManyValuesError(JSON_LIMITS.values, "values");
}

/** Gives the position of the next quote, or the end. */
function findQuote(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + NEAR_BYTES);
  for (let i = from; i < near; i += 1) if (bytes[i] === QUOTE) return i;
  const quote = near < bytes.length ? bytes.indexOf(QUOTE, near) : -1;
  return quote < 0 ? bytes.length : quote;
}

function createTooManyValuesError(most: number, what: string): Error {
  return refuseBody(`contains too much: at most ${most.toLocaleString("en")} ${what}`);
}

/** Counts the consecutive backslashes before `end`, back to `from` at most. */
function countSlashes(bytes: Buffer, from: number, end: number): number {
  let count = 0;
  while (end - count > from && bytes[end - count - 1] === SLASH) count += 1;
  return count;
}
