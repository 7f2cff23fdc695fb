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
}

/**
 * `score = sum over query terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`,
 * `idf = ln(1 + (n - df + 0.5) / (df + 0.5))` (Robertson & Zaragoza 2009, with Lucene's idf).
 */
export function textIndex({ k1 = 1.2, b = 0.75 }: { k1?: number; b?: number } = {}): TextIndex {
  const postings = new Map<string, Map<string, number>>();
  const lengths = new Map<string, number>();
  const termsOf = new Map<string, readonly string[]>();
  let total = 0;

  const remove = (id: string): void => {
    const terms = termsOf.get(id);
    if (!terms) return;
    for (const term of terms) {
      const posting = postings.get(term);
      posting?.delete(id);
      if (posting?.size === 0) postings.delete(term);
    }
    total -= lengths.get(id) ?? 0;
    lengths.delete(id);
    termsOf.delete(id);
  };

  return {
    get size() {
      return lengths.size;
    },
    put(id, terms) {
      remove(id);
      const counts = new Map<string, number>();
      for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
      for (const [term, count] of counts) {
        const posting = postings.get(term) ?? new Map<string, number>();
        posting.set(id, count);
        postings.set(term, posting);
      }
      termsOf.set(id, [...counts.keys()]);
      lengths.set(id, terms.length);
      total += terms.length;
    },
    remove,
    scores(terms) {
      const scores = new Map<string, number>();
      const n = lengths.size;
      const mean = total / n || 1;
      for (const term of terms) {
        const posting = postings.get(term);
        if (!posting) continue;
        const idf = Math.log(1 + (n - posting.size + 0.5) / (posting.size + 0.5));
        for (const [id, count] of posting) {
          const norm = k1 * (1 - b + (b * (lengths.get(id) ?? 0)) / mean);
          scores.set(id, (scores.get(id) ?? 0) + (idf * count * (k1 + 1)) / (count + norm));
        }
      }
      return scores;
    },
    frequency: (term) => postings.get(term)?.size ?? 0,
  };
}
