/** A text to search for, in any case, or bytes as they are (base64). */
export type ScanText = string | { readonly base64: string };

/** The fewest bytes of a text to search for, because a shorter run occurs in any file by chance. */
const MIN_NEEDLE_BYTES = 4;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** A byte that is in no UTF-8. It keeps records apart that are searched at once. */
export const SEPARATOR = 0xff;

/** One encoding of a text in bytes. */
interface SearchNeedle {
  /** The index of the text. */
  readonly text: number;
  /** UTF-8, with ASCII letters in lower case. */
  readonly bytes: Uint8Array;
}

/** Searches for any number of texts in one pass over the bytes. */
export interface RawSearch {
  readonly isEmpty: boolean;
  /** The length of the longest text in bytes. */
  readonly longest: number;
  /** Whether some text contains a byte that is in no UTF-8, as bytes of attachments can. */
  readonly isBinary: boolean;
  /** Adds to `counts` how often each text begins in the bytes before `end`. */
  count(bytes: Uint8Array, counts: number[], end?: number): void;
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** The longest window. A longer one saves little more. */
const MAX_WINDOW_BYTES = 64;
/** Texts under this length are searched apart, so that they do not shorten the window of the others. */
const SHORT_BYTES = 16;
/** With more short texts, pairs of bytes tell too little. */
const MAX_IN_PAIRS = 16;
/** Bit 5 of each byte. With it set, both cases of an ASCII letter are equal. */
const CASE_BITS = 0x20202020;

export function createRawSearch(texts: readonly ScanText[]): RawSearch {
  const needles = texts.flatMap(buildNeedles);
  const [short = [], long = []] = [true, false].map((isShort) =>
    needles.filter(({ bytes }) => bytes.length < SHORT_BYTES === isShort),
  );
  const passes = [createPass(short, short.length > MAX_IN_PAIRS ? 4 : 2), createPass(long, 4)];
  return {
    isEmpty: needles.length === 0,
    longest: needles.reduce((most, { bytes }) => Math.max(most, bytes.length), 0),
    isBinary: needles.some(({ bytes }) => bytes.includes(SEPARATOR)),
    count(bytes, counts, end = bytes.length) {
      for (const pass of passes) pass(bytes, counts, end);
    },
  };
}

type SearchPass = (bytes: Uint8Array, counts: number[], end: number) => void;

/**
 * The search of Wu and Manber ("A fast algorithm for multi-pattern searching", 1994). A window as long as the shortest needle moves
 * over the bytes. Its last two or four bytes tell how far it may move without missing a needle, mostly its whole length. They are
 * read without the bit that tells cases apart; where they end a needle's window, the needle is compared in full.
 */
function createPass(needles: readonly SearchNeedle[], blockBytes: 2 | 4): SearchPass {
  if (needles.length === 0) return () => undefined;
  const window = needles.reduce((least, { bytes }) => Math.min(least, bytes.length), MAX_WINDOW_BYTES);
  const tail = window - blockBytes;
  const isPair = blockBytes === 2;
  const readSlot = (view: DataView, at: number): number =>
    isPair ? view.getUint16(at) | (CASE_BITS & 0xffff) : toSlot(view.getInt32(at) | CASE_BITS);
  const shifts = new Uint8Array(65_536).fill(tail + 1);
  const bySlot = new Map<number, SearchNeedle[]>();
  for (const needle of needles) {
    const view = viewOf(needle.bytes);
    for (let at = 0; at <= tail; at += 1) {
      const slot = readSlot(view, at);
      shifts[slot] = Math.min(shifts[slot] ?? 0, tail - at);
    }
    const slot = readSlot(view, tail);
    const others = bySlot.get(slot);
    if (others) others.push(needle);
    else bySlot.set(slot, [needle]);
  }
  return (bytes, counts, end) => {
    const view = viewOf(bytes);
    const last = Math.min(bytes.length - window, end - 1);
    for (let at = 0; at <= last; ) {
      const slot = readSlot(view, at + tail);
      const shift = shifts[slot] ?? 0;
      if (shift === 0) countAt(bytes, at, bySlot.get(slot) ?? [], counts);
      at += shift || 1;
    }
  };
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** The text unchanged and in both cases, as plain text and inside JSON. Bytes are folded like what they are compared with. */
function buildNeedles(text: ScanText, number: number): SearchNeedle[] {
  if (typeof text !== "string") {
    const bytes = Buffer.from(text.base64, "base64").map((byte) => LOWER[byte] ?? 0);
    return bytes.length < MIN_NEEDLE_BYTES ? [] : [{ text: number, bytes }];
  }
  const cased = [text, text.toLowerCase(), text.toUpperCase()];
  const forms = cased.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]);
  const folded = forms.map((form) => Buffer.from(form, "utf8").map((byte) => LOWER[byte] ?? 0));
  const distinct = new Map(folded.map((bytes) => [Buffer.from(bytes).toString("latin1"), bytes]));
  return [...distinct.values()]
    .filter(({ length }) => length >= MIN_NEEDLE_BYTES)
    .map((bytes) => ({ text: number, bytes }));
}

function toSlot(block: number): number {
  return Math.imul(block, 0x9e3779b1) >>> 16;
}

function countAt(bytes: Uint8Array, at: number, needles: readonly SearchNeedle[], counts: number[]): void {
  for (const { text, bytes: wanted } of needles) {
    if (matchesAt(bytes, at, wanted)) counts[text] = (counts[text] ?? 0) + 1;
  }
}

function matchesAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > bytes.length) return false;
  for (let i = 0; i < wanted.length; i += 1) {
    if (LOWER[bytes[at + i] ?? 0] !== wanted[i]) return false;
  }
  return true;
}

/**
 * Adds to `counts` how often each text occurs in the pieces that `read` gives. `read` fills the buffer from `at` with at most
 * `length` bytes, and gives their number; 0 at the end.
 */
export function countInBytes(
  read: (buffer: Buffer, at: number, length: number) => number,
  search: RawSearch,
  counts: number[],
): void {
  const overlap = Math.max(0, search.longest - 1);
  const buffer = Buffer.alloc(CHUNK_BYTES + overlap);
  let kept = 0;
  for (;;) {
    const bytesRead = read(buffer, kept, CHUNK_BYTES);
    const filled = kept + bytesRead;
    const isEnd = bytesRead === 0;
    // A text that begins in the last bytes may end in the next piece, so it is counted there.
    const end = isEnd ? filled : Math.max(0, filled - overlap);
    search.count(buffer.subarray(0, filled), counts, end);
    if (isEnd) return;
    buffer.copyWithin(0, end, filled);
    kept = filled - end;
  }
}
