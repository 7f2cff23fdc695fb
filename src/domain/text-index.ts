/** Ranked text search over one user's units: Okapi BM25 with the idf of Lucene (never negative). */
export interface TextIndex {
  readonly size: number;
  /** Adds a text by its terms, or replaces it. */
  put(id: string, terms: readonly string[]): void;
  remove(id: string): void;
  /** The score of every text that holds one of the terms; a term given twice counts twice. */
  scores(terms: readonly string[]): Map<string, number>;
  /** In how many texts a term stands. */
  frequency(term: string): number;
  /**
   * The number of a text: it stays the same while the text is there, and is given to another once it is gone.
   * Numbers are small, so that whoever ranks can keep arrays beside the index. Undefined for an unknown id.
   */
  slot(id: string): number | undefined;
  /** One more than the highest number in use. */
  readonly slots: number;
  /** Number -> how often the term stands in that text; undefined for a term that stands nowhere. */
  postings(term: string): ReadonlyMap<number, number> | undefined;
  /** How many terms the text of a number has, repeats included. */
  length(slot: number): number;
  readonly meanLength: number;
}

/** The constants of BM25, as Lucene sets them. */
export const BM25 = { k1: 1.2, b: 0.75 } as const;

/** What a term tells: `ln(1 + (n - df + 0.5) / (df + 0.5))`, with `df` of `n` texts that hold it. */
export function idf(texts: number, holding: number): number {
  return Math.log(1 + (texts - holding + 0.5) / (holding + 0.5));
}

/**
 * `score = sum over query terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`
 * (Robertson & Zaragoza 2009, with Lucene's idf). Exact after every change: nothing is estimated or left over.
 */
export function textIndex({ k1, b }: { k1: number; b: number } = BM25): TextIndex {
  const postings = new Map<string, Map<number, number>>();
  const numbers = numbering();
  const lengths: number[] = [];
  const termsOf: (readonly string[])[] = [];
  let total = 0;

  const unlist = (slot: number): void => {
    for (const term of termsOf[slot] ?? []) {
      const posting = postings.get(term);
      posting?.delete(slot);
      if (posting?.size === 0) postings.delete(term);
    }
    total -= lengths[slot] ?? 0;
    termsOf[slot] = [];
    lengths[slot] = 0;
  };
  const list = (slot: number, terms: readonly string[]): void => {
    const counts = new Map<string, number>();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      const posting = postings.get(term);
      if (posting) posting.set(slot, count);
      else postings.set(term, new Map([[slot, count]]));
    }
    termsOf[slot] = [...counts.keys()];
    lengths[slot] = terms.length;
    total += terms.length;
  };
  const meanLength = (): number => total / numbers.size() || 1;
  const score = (term: string, slot: number, count: number): number => {
    const norm = k1 * (1 - b + (b * (lengths[slot] ?? 0)) / meanLength());
    return (idf(numbers.size(), postings.get(term)?.size ?? 0) * count * (k1 + 1)) / (count + norm);
  };

  return {
    get size() {
      return numbers.size();
    },
    get slots() {
      return numbers.slots();
    },
    get meanLength() {
      return meanLength();
    },
    put(id, terms) {
      const slot = numbers.of(id) ?? numbers.add(id);
      unlist(slot);
      list(slot, terms);
    },
    remove(id) {
      const slot = numbers.of(id);
      if (slot === undefined) return;
      unlist(slot);
      numbers.remove(id);
    },
    scores(terms) {
      const scores = new Map<string, number>();
      for (const term of terms) {
        for (const [slot, count] of postings.get(term) ?? []) {
          const id = numbers.id(slot);
          scores.set(id, (scores.get(id) ?? 0) + score(term, slot, count));
        }
      }
      return scores;
    },
    frequency: (term) => postings.get(term)?.size ?? 0,
    slot: (id) => numbers.of(id),
    postings: (term) => postings.get(term),
    length: (slot) => lengths[slot] ?? 0,
  };
}

/** Small numbers for ids; that of an id that is gone is given out again. */
function numbering(): {
  size(): number;
  slots(): number;
  of(id: string): number | undefined;
  id(slot: number): string;
  add(id: string): number;
  remove(id: string): void;
} {
  const numbers = new Map<string, number>();
  const ids: string[] = [];
  const free: number[] = [];
  return {
    size: () => numbers.size,
    slots: () => ids.length,
    of: (id) => numbers.get(id),
    id: (slot) => ids[slot] ?? "",
    add(id) {
      const slot = free.pop() ?? ids.length;
      ids[slot] = id;
      numbers.set(id, slot);
      return slot;
    },
    remove(id) {
      const slot = numbers.get(id);
      if (slot === undefined) return;
      numbers.delete(id);
      ids[slot] = "";
      free.push(slot);
    },
  };
}
