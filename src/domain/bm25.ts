/** The constants of BM25, as Lucene sets them. */
export const BM25 = { k1: 1.2, b: 0.75 } as const;

/** What a term tells (Lucene's idf, never negative): `ln(1 + (n - df + 0.5) / (df + 0.5))`, with `df` of `n` texts that hold it. */
export function computeIdf(texts: number, holding: number): number {
  return Math.log(1 + (texts - holding + 0.5) / (holding + 0.5));
}
