import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Reranker } from "../ports/language/reranker.ts";

/** What the suite needs of a reranker. */
export interface RerankerHarness {
  /** Shown in the test output. */
  readonly name: string;
  /** Opens a reranker as a program would. */
  open(): Promise<Reranker>;
  /** Stops what `open` started. */
  teardown?(): Promise<void>;
  /** Timeout of one case, in ms (default 20,000). */
  readonly timeoutMs?: number;
}

/** Runs the whole contract of `ports/language/reranker.ts` against one adapter. Call it at the top level of a test file. */
export function rerankerConformance(harness: RerankerHarness): void {
  const timeout = harness.timeoutMs ?? 20_000;
  describe(`Reranker: ${harness.name}`, () => {
    let reranker: Reranker;
    beforeAll(async () => {
      reranker = await harness.open();
    }, timeout);
    afterAll(() => harness.teardown?.());
    for (const [title, run] of Object.entries(RERANKER_CASES)) it(title, { timeout }, () => run(reranker));
  });
}

/** One rule of the contract in `ports/language/reranker.ts`. */
type RerankerCase = (reranker: Reranker) => Promise<void>;

const QUERY = "Where does my sister work?";
const TEXTS: readonly string[] = [
  "The cat sleeps on the warm windowsill.",
  "My sister works as a nurse in Ghent.",
  "We flew to Porto in March and ate grilled sardines.",
  "The invoice for the roof came to four thousand euros.",
];
const UNUSUAL: readonly string[] = [
  "",
  " ",
  "🦄🦄🦄",
  "\ud83e",
  "half \udd8a a pair",
  "a\u0000b",
  "我住在波尔图",
];

function expectScores(scores: readonly number[], count: number): void {
  expect(scores).toHaveLength(count);
  for (const score of scores) {
    expect(score).toBeGreaterThanOrEqual(0);
    expect(score).toBeLessThanOrEqual(1);
  }
}

/** Every rule of the contract, by title. */
export const RERANKER_CASES: { readonly [title: string]: RerankerCase } = {
  "has a name": async (reranker) => {
    expect(reranker.name).toMatch(/\S/);
  },

  "gives each text a score from 0 to 1, in the order of the texts": async (reranker) => {
    const scores = await reranker.score(QUERY, TEXTS);
    expectScores(scores, TEXTS.length);
    expect(scores.indexOf(Math.max(...scores))).toBe(1);
    const backwards = await reranker.score(QUERY, [...TEXTS].reverse());
    for (const [i, score] of backwards.reverse().entries()) expect(score).toBeCloseTo(scores[i] as number, 3);
  },

  "gives nothing for no texts": async (reranker) => {
    expect(await reranker.score(QUERY, [])).toEqual([]);
  },

  "gives one text twice its score twice": async (reranker) => {
    const [one, other] = await reranker.score(QUERY, [TEXTS[1] ?? "", TEXTS[1] ?? ""]);
    expect(one).toBeCloseTo(other as number, 3);
  },

  "takes more texts than fit into one request": async (reranker) => {
    const many = Array.from({ length: 150 }, (_, i) =>
      i === 140 ? (TEXTS[1] ?? "") : `Note ${i} on the garden.`,
    );
    const scores = await reranker.score(QUERY, many);
    expectScores(scores, 150);
    expect(scores.indexOf(Math.max(...scores))).toBe(140);
  },

  "takes texts that are too long, empty or not well-formed": async (reranker) => {
    expectScores(await reranker.score(QUERY, [...UNUSUAL, "long ".repeat(20_000)]), UNUSUAL.length + 1);
  },

  "takes a long query, and one without a word": async (reranker) => {
    expectScores(await reranker.score("Where? ".repeat(600), TEXTS), TEXTS.length);
    expectScores(await reranker.score("?", TEXTS), TEXTS.length);
  },

  "rejects with the reason of a signal that is aborted": async (reranker) => {
    const reason = new Error("the caller changed its mind");
    await expect(reranker.score(QUERY, TEXTS, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  },

  "scores two queries at once without mixing them": async (reranker) => {
    const [one, other] = await Promise.all([
      reranker.score(QUERY, TEXTS),
      reranker.score("Where did we fly and what did we eat in March?", TEXTS),
    ]);
    expect(one.indexOf(Math.max(...one))).toBe(1);
    expect(other.indexOf(Math.max(...other))).toBe(2);
  },
};
