import { computeIdf } from "../../domain/search/search-terms.ts";
import { growColumn } from "./columns.ts";

/** The postings of a term: slots and counts, from `from` to before `to`. */
export interface PostingRun {
  readonly slots: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
  readonly from: number;
  readonly to: number;
}

/**
 * The postings of a word index in stored form: by hash, in rising order; it contains no word in clear text.
 */
export interface PackedWordIndex {
  readonly hashes: Float64Array<ArrayBuffer>;
  /** The start of each hash's postings, and one more at the end. */
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly slots: Uint32Array<ArrayBuffer>;
  readonly counts: Uint8Array<ArrayBuffer>;
  /** Terms in each slot, repeats included. */
  readonly lengths: Uint16Array<ArrayBuffer>;
}

/**
 * An inverted index over one user's units, for BM25. It has an immutable packed part and recent postings. A
 * deleted unit stays in the lists, marked dead, until the next packing; all counts exclude it.
 */
export interface WordIndex {
  /** Number of live units. */
  readonly size: number;
  readonly meanLength: number;
  add(slot: number, terms: readonly string[]): void;
  /** Marks a slot as deleted. */
  markDead(slot: number): void;
  isAlive(slot: number): boolean;
  /** Terms in each slot, and whether it is live (1). Valid until the next change. */
  readonly lengths: Uint16Array;
  readonly alive: Uint8Array;
  /** The postings of a term, dead ones included: none, one or two runs. */
  postings(term: string): readonly PostingRun[];
  /** Number of units that contain a term. */
  frequency(term: string): number;
  readonly hasDead: boolean;
  readonly bytes: number;
  /** Moves everything into the packed part and drops deleted units completely; slots keep their numbers. */
  pack(slots: number): PackedWordIndex;
}

const MAX_COUNT = 255;
const MAX_LENGTH = 65_535;

export function createWordIndex(kept?: PackedWordIndex, dead: readonly number[] = []): WordIndex {
  let packed = kept ?? EMPTY_INDEX;
  const fresh = createRecentPostings();
  const slotLengths = createSlotLengths(packed.lengths, dead);

  const runs = (term: string): PostingRun[] => {
    const hash = hashTerm(term);
    const matching: PostingRun[] = [];
    const place = binarySearch(packed.hashes, hash);
    if (place >= 0) {
      const { slots, counts, offsets } = packed;
      matching.push({ slots, counts, from: offsets[place] as number, to: offsets[place + 1] as number });
    }
    const more = fresh.lists.get(hash);
    if (more) matching.push({ ...more, from: 0, to: more.slots.length });
    return matching;
  };

  return {
    get size() {
      return slotLengths.size;
    },
    get meanLength() {
      return slotLengths.total / slotLengths.size || 1;
    },
    get hasDead() {
      return slotLengths.dead > 0;
    },
    get lengths() {
      return slotLengths.lengths;
    },
    get alive() {
      return slotLengths.alive;
    },
    get bytes() {
      const { hashes, offsets, slots, counts } = packed;
      const arrays = [hashes, offsets, slots, counts, slotLengths.lengths, slotLengths.alive];
      return arrays.reduce((sum, { byteLength }) => sum + byteLength, fresh.bytes());
    },
    add(slot, terms) {
      slotLengths.add(slot, Math.min(MAX_LENGTH, terms.length));
      fresh.add(slot, terms);
    },
    markDead: (slot) => slotLengths.kill(slot),
    isAlive: (slot) => slotLengths.alive[slot] === 1,
    postings: runs,
    frequency(term) {
      let found = 0;
      for (const run of runs(term))
        found += slotLengths.dead > 0 ? countAlive(run, slotLengths.alive) : run.to - run.from;
      return found;
    },
    pack(slots) {
      packed = {
        ...mergePostings(packed, fresh.lists, slotLengths.alive),
        lengths: slotLengths.lengths.slice(0, slots),
      };
      fresh.clear();
      return packed;
    },
  };
}

interface GrowingPostings {
  readonly slots: number[];
  readonly counts: number[];
}

/** Postings since the last packing, by hash. */
function createRecentPostings() {
  const lists = new Map<number, GrowingPostings>();
  let postings = 0;
  const post = (hash: number, slot: number, count: number): void => {
    const list = lists.get(hash);
    if (list) {
      list.slots.push(slot);
      list.counts.push(count);
    } else lists.set(hash, { slots: [slot], counts: [count] });
    postings += 1;
  };
  return {
    lists: lists as ReadonlyMap<number, GrowingPostings>,
    add(slot: number, terms: readonly string[]): void {
      const counts = new Map<number, number>();
      for (const term of terms) {
        const hash = hashTerm(term);
        counts.set(hash, (counts.get(hash) ?? 0) + 1);
      }
      for (const [hash, count] of counts) post(hash, slot, Math.min(MAX_COUNT, count));
    },
    clear(): void {
      lists.clear();
      postings = 0;
    },
    // A map entry with two lists takes about 200 bytes, a number in a list 8.
    bytes: () => lists.size * 200 + postings * 16,
  };
}

/** A loop, because a function call for each takes ten times as long, on the first request of a user. */
function sumOf(numbers: Uint16Array): number {
  let sum = 0;
  for (let i = 0; i < numbers.length; i += 1) sum += numbers[i] as number;
  return sum;
}

/** Which slots are live, and the number of terms in each. */
function createSlotLengths(known: Uint16Array<ArrayBuffer>, dead: readonly number[]) {
  const slots = {
    lengths: known.slice(),
    alive: new Uint8Array(known.length).fill(1),
    dead: 0,
    size: known.length,
    total: sumOf(known),
    add(slot: number, length: number): void {
      if (slot >= slots.lengths.length) {
        slots.lengths = growColumn(slots.lengths, slot + 1);
        slots.alive = growColumn(slots.alive, slots.lengths.length);
      }
      slots.lengths[slot] = length;
      slots.alive[slot] = 1;
      slots.size += 1;
      slots.total += length;
    },
    kill(slot: number): void {
      if (slots.alive[slot] !== 1) return;
      slots.alive[slot] = 0;
      slots.dead += 1;
      slots.size -= 1;
      slots.total -= slots.lengths[slot] ?? 0;
      slots.lengths[slot] = 0;
    },
  };
  for (const slot of dead) slots.kill(slot);
  return slots;
}

const EMPTY_INDEX: PackedWordIndex = {
  hashes: new Float64Array(0),
  offsets: new Uint32Array(1),
  slots: new Uint32Array(0),
  counts: new Uint8Array(0),
  lengths: new Uint16Array(0),
};

function countAlive({ slots, from, to }: PostingRun, alive: Uint8Array): number {
  let live = 0;
  for (let i = from; i < to; i += 1) live += alive[slots[i] as number] as number;
  return live;
}

/** Merges both parts without dead slots and words that occur nowhere else. */
function mergePostings(
  packed: PackedWordIndex,
  fresh: ReadonlyMap<number, GrowingPostings>,
  alive: Uint8Array,
): Omit<PackedWordIndex, "lengths"> {
  const hashes = Float64Array.from(new Set([...packed.hashes, ...fresh.keys()])).sort();
  const offsets = new Uint32Array(hashes.length + 1);
  const most = [...fresh.values()].reduce((sum, { slots }) => sum + slots.length, packed.slots.length);
  const slots = new Uint32Array(most);
  const counts = new Uint8Array(most);
  let end = 0;
  let old = 0;
  const copy = (run: Omit<PostingRun, "from" | "to">, from: number, to: number): void => {
    for (let i = from; i < to; i += 1) {
      const slot = run.slots[i] as number;
      if (alive[slot] !== 1) continue;
      slots[end] = slot;
      counts[end] = run.counts[i] as number;
      end += 1;
    }
  };
  let count = 0;
  for (const hash of hashes) {
    if (packed.hashes[old] === hash) {
      copy(packed, packed.offsets[old] as number, packed.offsets[old + 1] as number);
      old += 1;
    }
    const more = fresh.get(hash);
    if (more) copy(more, 0, more.slots.length);
    if (end === offsets[count]) continue;
    hashes[count] = hash;
    count += 1;
    offsets[count] = end;
  }
  return {
    hashes: hashes.slice(0, count),
    offsets: offsets.slice(0, count + 1),
    slots: slots.slice(0, end),
    counts: counts.slice(0, end),
  };
}

/** The position of a value in a rising list between two positions; or -1. */
function binarySearch(
  rising: ArrayLike<number>,
  value: number,
  from = 0,
  to: number = rising.length,
): number {
  let low = from;
  let high = to - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = rising[middle] as number;
    if (found === value) return middle;
    if (found < value) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/**
 * 53 bits from two 32-bit mixes (FNV-1a and a multiplicative one): two words of one user never collide in
 * practice.
 */
export function hashTerm(term: string): number {
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let i = 0; i < term.length; i += 1) {
    const code = term.charCodeAt(i);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
    other ^= other >>> 13;
  }
  one ^= one >>> 16;
  return ((Math.imul(other, 0xc2b2ae35) >>> 11) * 4_294_967_296 + (one >>> 0)) % Number.MAX_SAFE_INTEGER;
}

/** The idf of a term in this index: greatest if it occurs nowhere. */
export function termWeightOf(words: WordIndex, term: string): number {
  return computeIdf(words.size, words.frequency(term));
}

/** The count of a term in a slot, from one of its runs; slots rise in it. */
export function termFrequencyIn({ slots, counts, from, to }: PostingRun, slot: number): number {
  const place = binarySearch(slots, slot, from, to);
  return place < 0 ? 0 : (counts[place] as number);
}
