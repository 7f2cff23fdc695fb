import { splitWords, stem } from "../../domain/search/search-terms.ts";

/** Words of a name. */
const MAX_WORDS = 3;
/** A word that more of all texts have tells nothing: "the", "user". */
const MAX_SHARE = 0.8;
/** A word is telling if its share in the cluster is at least this many times its share in the others. */
const LEAST_RATIO = 2;

interface WordCount {
  /** Texts of the cluster with the word. */
  readonly inside: number;
  readonly outside: number;
}

/**
 * Words that tell each cluster of texts apart: in many of its texts, and in few others. The best first, at most three; none if
 * there is no such word.
 */
export function nameClusters(clusters: readonly (readonly string[])[]): string[][] {
  const counts = clusters.map(countWords);
  const totals = new Map<string, number>();
  for (const cluster of counts)
    for (const [word, { count }] of cluster) totals.set(word, (totals.get(word) ?? 0) + count);
  const texts = clusters.reduce((sum, { length }) => sum + length, 0);
  return counts.map((cluster, i) => {
    const size = clusters[i]?.length ?? 0;
    const scored = [...cluster].map(([word, { count, shown }]) => ({
      shown: mostFrequent(shown),
      score: scoreWord({ inside: count, outside: (totals.get(word) ?? 0) - count }, size, texts - size),
    }));
    return scored
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || (one.shown < other.shown ? -1 : 1))
      .slice(0, MAX_WORDS)
      .map(({ shown }) => shown);
  });
}

interface CountedWord {
  count: number;
  /** The forms of the word, as they are shown. */
  readonly shown: Map<string, number>;
}

/** By stem, in how many texts a word occurs. */
function countWords(texts: readonly string[]): Map<string, CountedWord> {
  const words = new Map<string, CountedWord>();
  for (const text of texts) {
    const seen = new Set<string>();
    for (const word of splitWords(text)) {
      if (word.length < 3 || /^\p{N}+$/u.test(word)) continue;
      const key = stem(word);
      const counted = words.get(key) ?? { count: 0, shown: new Map<string, number>() };
      if (!seen.has(key)) counted.count += 1;
      counted.shown.set(word, (counted.shown.get(word) ?? 0) + 1);
      seen.add(key);
      words.set(key, counted);
    }
  }
  return words;
}

/** Many texts of the cluster, and much rarer elsewhere. 0 for a word that does not tell the cluster apart. */
function scoreWord({ inside, outside }: WordCount, size: number, others: number): number {
  const share = inside / Math.max(1, size);
  if (inside + outside > MAX_SHARE * (size + others)) return 0;
  // A single cluster is named by what more than one of its texts have.
  if (others === 0) return inside > 1 ? share : 0;
  const elsewhere = (outside + 0.5) / (others + 1);
  const ratio = share / elsewhere;
  return ratio < LEAST_RATIO ? 0 : share * Math.log(ratio);
}

function mostFrequent(shown: ReadonlyMap<string, number>): string {
  const [first] = [...shown].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return first?.[0] ?? "";
}
