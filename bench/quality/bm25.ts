/**
 * The baseline beside every figure: plain Okapi BM25 with a small stop list and light suffix stripping. It is kept
 * apart from the product's own text index, so that a change there never moves the yardstick.
 */
const WORD = /[0-9a-zſı]+(?:'[a-zſı]+)?|[\u4e00-\u9fff]+/gu;

const STOP: ReadonlySet<string> = new Set(
  (
    "a an the and or but if of to in on at by for with from as is are was were be been being am do does did doing " +
    "have has had having i you he she it we they me him her us them my your his its our their this that these those " +
    "there here what which who whom whose when where why how not no nor so than too very can could will would " +
    "should may might just about into over after before up down out off then once again more most some any all each " +
    "s t don"
  ).split(" "),
);

/** Suffix, what replaces it, letters that must be left before it. */
const SUFFIXES: readonly (readonly [string, string, number])[] = [
  ["ational", "ate", 3],
  ["ization", "ize", 3],
  ["fulness", "ful", 3],
  ["iveness", "ive", 3],
  ["ingly", "", 4],
  ["edly", "", 4],
  ["sses", "ss", 2],
  ["ies", "y", 2],
  ["ing", "", 3],
  ["ied", "y", 2],
  ["ed", "", 3],
  ["ly", "", 4],
  ["es", "e", 3],
  ["s", "", 3],
];

function stem(word: string): string {
  let stemmed = word;
  for (const [suffix, replacement, least] of SUFFIXES) {
    if (!stemmed.endsWith(suffix) || stemmed.length - suffix.length < least) continue;
    if (suffix === "s" && /(?:ss|us|is)$/u.test(stemmed)) return stemmed;
    stemmed = stemmed.slice(0, stemmed.length - suffix.length) + replacement;
    if ((suffix === "ing" || suffix === "ed") && stemmed.length > 3) stemmed = undoubled(stemmed);
    break;
  }
  return stemmed.length > 4 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}

function undoubled(word: string): string {
  const last = word.at(-1) ?? "";
  return last === word.at(-2) && !"lsz".includes(last) ? word.slice(0, -1) : word;
}

export function tokens(text: string): string[] {
  const found: string[] = [];
  for (const [match] of text.toLowerCase().matchAll(WORD)) {
    if (match >= "\u4e00") {
      if (match.length === 1) found.push(match);
      for (let i = 0; i < match.length - 1; i += 1) found.push(match.slice(i, i + 2));
      continue;
    }
    const word = match.split("'")[0] ?? match;
    if (!STOP.has(word)) found.push(stem(word));
  }
  return found;
}

export interface Baseline {
  /** Numbers of the documents, best first; among equals the earlier one first. */
  rank(query: string): number[];
  /** The score of each document, in order. */
  scores(query: string): Float64Array;
}

export function bm25(documents: readonly string[], k1 = 1.2, b = 0.75): Baseline {
  const postings = new Map<string, [number, number][]>();
  const lengths = documents.map((document, i) => {
    const counts = new Map<string, number>();
    for (const token of tokens(document)) counts.set(token, (counts.get(token) ?? 0) + 1);
    let length = 0;
    for (const [token, count] of counts) {
      length += count;
      const posting = postings.get(token);
      if (posting) posting.push([i, count]);
      else postings.set(token, [[i, count]]);
    }
    return length;
  });
  const n = documents.length;
  const mean = lengths.reduce((sum, length) => sum + length, 0) / n || 1;
  const norms = lengths.map((length) => k1 * (1 - b + (b * length) / mean));
  const scoresOf = (query: string): Float64Array => {
    const scores = new Float64Array(n);
    for (const token of tokens(query)) {
      const posting = postings.get(token);
      if (!posting) continue;
      const idf = Math.log(1 + (n - posting.length + 0.5) / (posting.length + 0.5));
      for (const [i, count] of posting) {
        scores[i] = (scores[i] ?? 0) + (idf * count * (k1 + 1)) / (count + (norms[i] ?? 0));
      }
    }
    return scores;
  };
  return {
    scores: scoresOf,
    rank(query) {
      const scores = scoresOf(query);
      return documents
        .map((_, i) => i)
        .sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other);
    },
  };
}
