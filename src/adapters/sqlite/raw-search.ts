/** Texts are looked for as bytes; this many at least, for a shorter run stands in any file by chance. */
const MIN_NEEDLE_BYTES = 4;
const CHUNK_BYTES = 4 * 1024 * 1024;

/** One way in which a text can stand in bytes. */
interface SearchNeedle {
  /** Which text. */
  readonly text: number;
  /** UTF-8, ASCII letters in lower case. */
  readonly bytes: Uint8Array;
}

/** Looks for any number of texts at once: one pass over the bytes, whatever their number. */
export interface RawSearch {
  readonly isEmpty: boolean;
  /** The length of the longest text in bytes. */
  readonly longest: number;
  /** Adds to `counts` how often each text begins in the bytes before `end`. */
  count(bytes: Uint8Array, counts: number[], end?: number): void;
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

export function createRawSearch(texts: readonly string[]): RawSearch {
  const needles = texts.flatMap(buildNeedles);
  // The first four bytes lead to the needles that begin so; a table of bits turns nearly all places away at once.
  const byStart = new Map<number, SearchNeedle[]>();
  const table = new Uint8Array(65_536);
  for (const needle of needles) {
    const start = getStart(needle.bytes);
    byStart.set(start, [...(byStart.get(start) ?? []), needle]);
    table[toSlot(start)] = 1;
  }
  return {
    isEmpty: needles.length === 0,
    longest: needles.reduce((most, { bytes }) => Math.max(most, bytes.length), 0),
    count(bytes, counts, end = bytes.length) {
      const last = Math.min(bytes.length, end + MIN_NEEDLE_BYTES - 1);
      let start = 0;
      for (let i = 0; i < last; i += 1) {
        start = (start << 8) | (LOWER[bytes[i] ?? 0] ?? 0);
        if (i < MIN_NEEDLE_BYTES - 1 || table[toSlot(start)] === 0) continue;
        countAt(bytes, i - MIN_NEEDLE_BYTES + 1, byStart.get(start) ?? [], counts);
      }
    },
  };
}

/** As it stands and in either case, as plain text and inside JSON. */
function buildNeedles(text: string, number: number): SearchNeedle[] {
  const cased = [text, text.toLowerCase(), text.toUpperCase()];
  const forms = cased.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]);
  const folded = forms.map((form) => Buffer.from(form, "utf8").map((byte) => LOWER[byte] ?? 0));
  const distinct = new Map(folded.map((bytes) => [Buffer.from(bytes).toString("latin1"), bytes]));
  return [...distinct.values()]
    .filter(({ length }) => length >= MIN_NEEDLE_BYTES)
    .map((bytes) => ({ text: number, bytes }));
}

function getStart(bytes: Uint8Array): number {
  return bytes.subarray(0, MIN_NEEDLE_BYTES).reduce((start, byte) => (start << 8) | byte, 0);
}

function toSlot(start: number): number {
  return Math.imul(start, 0x9e3779b1) >>> 16;
}

function countAt(bytes: Uint8Array, at: number, needles: readonly SearchNeedle[], counts: number[]): void {
  for (const { text, bytes: wanted } of needles) {
    if (matchesAt(bytes, at, wanted)) counts[text] = (counts[text] ?? 0) + 1;
  }
}

function matchesAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > bytes.length) return false;
  for (let i = MIN_NEEDLE_BYTES; i < wanted.length; i += 1) {
    if (LOWER[bytes[at + i] ?? 0] !== wanted[i]) return false;
  }
  return true;
}

/**
 * Adds to `counts` how often each text occurs in what `read` gives, piece by piece. `read` fills the buffer from `at` with at
 * most `length` bytes and gives their number; 0 is the end.
 */
export function countInBytes(
  read: (buffer: Buffer, at: number, length: number) => number,
  search: RawSearch,
  counts: number[],
): void {
  const overlap = Math.max(0, search.longest - 1);
  const buffer = Buffer.alloc(CHUNK_BYTES + overlap);
  let held = 0;
  for (;;) {
    const bytesRead = read(buffer, held, CHUNK_BYTES);
    const filled = held + bytesRead;
    const isEnd = bytesRead === 0;
    // A text that begins in the last bytes may end in the next piece, and is counted there.
    const end = isEnd ? filled : Math.max(0, filled - overlap);
    search.count(buffer.subarray(0, filled), counts, end);
    if (isEnd) return;
    buffer.copyWithin(0, end, filled);
    held = filled - end;
  }
}
