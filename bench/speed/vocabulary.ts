import { readFileSync } from "node:fs";

const FILE = new URL("../../assets/static-minilm.vocab.txt", import.meta.url);
/** The words at the head of the list are "the", "of", "and": the sentences bring those themselves. */
const SKIPPED = 500;
const POOL = 12_000;
const OWN = 4000;
/** Zipf's law with Mandelbrot's shift: the most frequent word that tells something stands in one message of twenty. */
const SHIFT = 20;

/** A generator of numbers from 0 to 1 (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<One>(random: Random, from: readonly One[]): One {
  return from[Math.floor(random() * from.length)] as One;
}

/** A copy in an order by chance. */
export function shuffle<One>(random: Random, all: readonly One[]): One[] {
  return all
    .map((one) => ({ one, by: random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ one }) => one);
}

let pool: readonly string[] | undefined;

/** English words, most frequent first, from the list that ships with the embedder. */
function poolOf(): readonly string[] {
  pool ??= readFileSync(FILE, "utf8")
    .split("\n")
    .slice(SKIPPED)
    .filter((word) => /^[a-z]{4,}$/.test(word))
    .slice(0, POOL);
  return pool;
}

const shares = sharesOf(OWN);

function sharesOf(count: number): Float64Array {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank += 1) {
    sum += 1 / (rank + 1 + SHIFT);
    sums[rank] = sum;
  }
  return sums.map((part) => part / sum);
}

/** One user's words: 4,000 of 12,000, in an order of frequency of their own. Draws one, the frequent ones often. */
export function vocabulary(user: number): (random: Random) => string {
  const random = seeded(user * 7919);
  const words = [...poolOf()];
  for (let i = 0; i < OWN; i += 1) {
    const other = i + Math.floor(random() * (words.length - i));
    [words[i], words[other]] = [words[other] as string, words[i] as string];
  }
  return (draw) => words[rankAt(draw())] as string;
}

/** The first rank whose share reaches a number from 0 to 1. */
function rankAt(share: number): number {
  let low = 0;
  let high = shares.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shares[middle] as number) < share) low = middle + 1;
    else high = middle;
  }
  return low;
}
