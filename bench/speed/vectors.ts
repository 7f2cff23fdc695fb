import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { selectTopKOf } from "../../src/engine/recall/retrievers/top-k.ts";
import { dotProduct, findUncertain } from "../../src/engine/recall/retrievers/vector-retriever.ts";
import { createVectorCodes as blockVectors } from "../../src/engine/search-index/vector-codes.ts";
import type { MadeUpPerson } from "./made-up.ts";

/** The vectors of everything a user has stored, one after the other, and of questions that are asked about it. */
export interface Vectors {
  readonly dimensions: number;
  readonly count: number;
  readonly all: Float32Array;
  readonly queries: readonly Float32Array[];
}

/** A row and its dot product with the query. */
export interface Near {
  readonly row: number;
  readonly score: number;
}

/** The exact vectors of the texts, as the embedder gives them: of each message, and of the memory read from it. */
export async function vectorsOf(
  one: MadeUpPerson,
  perUser: number,
  questions: readonly string[],
): Promise<Vectors> {
  const embedder = staticEmbedder();
  const { dimensions } = embedder;
  const all = new Float32Array(2 * perUser * dimensions);
  for (let i = 0; i < perUser; i += 1) {
    const { content, memory } = one.said(i);
    const pair = await embedder.embed([content, memory.text]);
    for (const [which, vector] of pair.entries()) all.set(vector, (2 * i + which) * dimensions);
  }
  return { dimensions, count: 2 * perUser, all, queries: await embedder.embed(questions) };
}

/** What the vector arm of the engine finds nearest, asked by itself: by codes, and the best once more by their vectors. */
export function vectorTop10({ dimensions, count, all }: Vectors): (query: Float32Array) => Near[] {
  const block = blockVectors(dimensions);
  const own = (row: number): Float32Array => all.subarray(row * dimensions, (row + 1) * dimensions);
  for (let row = 0; row < count; row += 1) block.set(row, own(row));
  const scores = new Float32Array(count);
  return (query) => {
    block.dot(query, count, scores);
    const near = { near: scores, foremost: selectTopKOf(scores, 64) };
    for (const row of findUncertain(near, 10)) scores[row] = dotProduct(query, own(row));
    return topOf(scores);
  };
}

/** The share of the ten nearest that the vector arm finds, over all questions. Of equally near ones any will do. */
export function vectorRecall(vectors: Vectors): number {
  const { dimensions, count, all, queries } = vectors;
  const found = vectorTop10(vectors);
  const scores = new Float32Array(count);
  let hits = 0;
  let wanted = 0;
  for (const query of queries) {
    for (let row = 0; row < count; row += 1) scores[row] = dot(all, row * dimensions, query);
    const nearest = topOf(scores);
    const least = nearest.at(-1)?.score ?? 0;
    const given = new Set(found(query).map(({ row }) => row));
    wanted += nearest.length;
    hits += Math.min(
      nearest.length,
      [...given].filter((row) => (scores[row] as number) >= least - 1e-6).length,
    );
  }
  return hits / Math.max(1, wanted);
}

/** The ten highest of a column of scores, highest first. */
export function topOf(scores: Float32Array): Near[] {
  const top: Near[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < scores.length; row += 1) {
    const score = scores[row] as number;
    if (score <= least) continue;
    let at = top.length;
    while (at > 0 && (top[at - 1] as Near).score < score) at -= 1;
    top.splice(at, 0, { row, score });
    if (top.length > 10) top.pop();
    if (top.length === 10) least = (top[9] as Near).score;
  }
  return top;
}

/** Four sums at once keep the processor busy where one would wait for itself. */
export function dot(all: Float32Array, from: number, query: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < query.length; i += 4) {
    a += (all[from + i] as number) * (query[i] as number);
    b += (all[from + i + 1] as number) * (query[i + 1] as number);
    c += (all[from + i + 2] as number) * (query[i + 2] as number);
    d += (all[from + i + 3] as number) * (query[i + 3] as number);
  }
  return a + b + c + d;
}
