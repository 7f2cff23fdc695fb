import { refuseBody } from "./problem.ts";

/** What the JSON of one request may hold. To read it into values must take no longer than others can wait. */
export const JSON_LIMITS = {
  /** Levels of arrays and objects. Schemas of tools, as OpenAI takes them, need some forty. */
  depth: 64,
  /** Arrays and objects. */
  containers: 30_000,
  /** Names of fields. */
  members: 30_000,
  /** Strings, names of fields among them. */
  strings: 60_000,
  /** Values of all kinds. Vectors of tokens are many numbers. */
  values: 400_000,
} as const;

/** A string that is long: from behind its first quote to before its last, in bytes of the whole text. */
export interface LongString {
  readonly start: number;
  readonly end: number;
}

/** Looks through JSON as it comes in, before it is read into values. */
export interface JsonScan {
  /** Takes the next bytes. Refuses (400) what is nested too deep or holds too many values. */
  take(bytes: Uint8Array): void;
  /** Strings of `LONG_BYTES` and more, in order. */
  readonly long: readonly LongString[];
}

/** Shorter strings are not told of. */
export const LONG_BYTES = 1024;
/** So far a string is looked through byte by byte; most end before, and a native search costs more than that. */
const NEAR_BYTES = 24;

const QUOTE = 0x22;
const SLASH = 0x5c;

/** What a byte outside of strings stands for; 0 for nothing that counts. */
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
 * A scan that never holds more than where it stands, so that it costs a fraction of a millisecond for each piece off the line.
 * It does not check that the text is JSON: that is for whoever parses it.
 */
export function createJsonScan(): JsonScan {
  const long: LongString[] = [];
  /** How often each kind was met. */
  const met = new Uint32Array(CLOSE + 1);
  let depth = 0;
  /** Bytes before this piece; where the string that is open began, or -1; whether a slash stands just before. */
  let before = 0;
  let opened = -1;
  let isEscaped = false;

  /** Behind the string that is open at `from`, or the end of the piece. */
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

/** The next quote, or the end. */
function findQuote(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + NEAR_BYTES);
  for (let i = from; i < near; i += 1) if (bytes[i] === QUOTE) return i;
  const quote = near < bytes.length ? bytes.indexOf(QUOTE, near) : -1;
  return quote < 0 ? bytes.length : quote;
}

function createTooManyValuesError(most: number, what: string): Error {
  return refuseBody(`holds too much: at most ${most.toLocaleString("en")} ${what}`);
}

/** How many slashes stand in a row before `end`, back to `from` at most. */
function countSlashes(bytes: Buffer, from: number, end: number): number {
  let count = 0;
  while (end - count > from && bytes[end - count - 1] === SLASH) count += 1;
  return count;
}
