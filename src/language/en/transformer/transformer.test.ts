import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runAtOnce } from "../../../domain/time-slicing.ts";
import { readModelFile } from "../model-file.ts";
import { multiply, readLayer } from "../word-encoder.ts";
import { createTopBlocks, createTransformer, type Transformer } from "./transformer.ts";

const { header, tensors } = readModelFile<{
  readonly check: { readonly tokens: number[]; readonly roles: number[]; readonly rows: number[][] };
}>(readFileSync(new URL("../../../../assets/reader-en.bin", import.meta.url)), "KSREADR2");
const transformer = createTransformer(tensors, { heads: 12 });

function rowsOf(one: Transformer, tokens: readonly number[], roles: readonly number[]): Float32Array[] {
  const rows = runAtOnce(one.read(tokens, roles));
  return tokens.map((_token, t) => rows.slice(t * one.width, (t + 1) * one.width));
}

describe("the transformer", () => {
  it("makes the rows that the training script made with the same weights", () => {
    const { tokens, roles, rows } = header.check;
    for (const [t, row] of rowsOf(transformer, tokens, roles).entries())
      for (const [i, value] of (rows[t] ?? []).entries()) expect(row[i]).toBeCloseTo(value, 1);
  });

  it("makes the same rows without WebAssembly", () => {
    const { tokens, roles } = header.check;
    const plain = createTransformer(tensors, { heads: 12, isPlain: true });
    const [one, other] = [rowsOf(transformer, tokens, roles), rowsOf(plain, tokens, roles)];
    for (const [t, row] of one.entries())
      for (let i = 0; i < row.length; i += 1) expect(row[i]).toBeCloseTo(other[t]?.[i] as number, 4);
  });

  it("reads a token by those beside it, and by its role", () => {
    const [alone, beside, asRequest] = [
      rowsOf(transformer, [1000], [7]),
      rowsOf(transformer, [1000, 2000], [7, 7]),
      rowsOf(transformer, [1000], [1]),
    ];
    expect(beside[0]).not.toEqual(alone[0]);
    expect(asRequest[0]).not.toEqual(alone[0]);
  });

  it("gives the same whatever was read between two steps of its work", () => {
    const tokens = Array.from({ length: 100 }, (_, i) => 400 + i);
    const roles = tokens.map(() => 7);
    const whole = runAtOnce(transformer.read(tokens, roles));
    const work = transformer.read(tokens, roles);
    let step = work.next();
    while (!step.done) {
      runAtOnce(transformer.read([1, 2, 3, 4], [7, 7, 7, 7]));
      step = work.next();
    }
    expect(step.value).toEqual(whole);
  });

  it("reads no more tokens than it has places for", () => {
    const tokens = Array.from({ length: transformer.mostTokens + 50 }, (_, i) => i);
    const rows = runAtOnce(
      transformer.read(
        tokens,
        tokens.map(() => 0),
      ),
    );
    expect(rows).toHaveLength(transformer.mostTokens * transformer.width);
  });
});

describe("blocks on top of the transformer's first ones", () => {
  const tops = readModelFile<{
    readonly check: {
      readonly tokens: number[];
      readonly roles: number[];
      readonly clause: [number, number];
      readonly scores: { readonly ends: number };
    };
  }>(readFileSync(new URL("../../../../assets/reader-tops-en.bin", import.meta.url)), "KSTOPS01");

  it("make the score that the training script made", () => {
    const { tokens, roles, clause, scores } = tops.header.check;
    const { width, mostTokens } = transformer;
    const blocks = createTopBlocks(tops.tensors, { heads: 12, width, mostTokens, prefix: "ends." });
    const lower = runAtOnce(transformer.read(tokens, roles, 4));
    const rows = runAtOnce(blocks.read(lower));
    const [from, to] = clause;
    const mean = new Float32Array(width);
    for (let t = from; t < to; t += 1)
      for (let i = 0; i < width; i += 1)
        mean[i] = (mean[i] as number) + (rows[t * width + i] as number) / (to - from);
    const [score] = multiply(readLayer(tops.tensors, "ends.head"), mean, 0, width, 1);
    expect(Math.abs((score as number) - scores.ends)).toBeLessThan(0.25);
  });
});
