import { expect, it } from "vitest";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { calibrate, judge, readPairs } from "./calibrate.ts";

it("the threshold of the built-in embedder is the one that the labelled pairs give", async () => {
  const embedder = staticEmbedder();
  const { calibration, judging } = await readPairs(embedder);
  expect(calibration.length).toBeGreaterThanOrEqual(100);
  expect(judging.length).toBeGreaterThanOrEqual(100);
  expect(embedder.duplicateFloor).toBe(calibrate(calibration));
});

it("merges of pairs that the threshold has not seen are right in at least 97 of 100 cases, and find over half", async () => {
  const { judging } = await readPairs(staticEmbedder());
  const { precision, recall } = judge(judging, staticEmbedder().duplicateFloor ?? 1);
  expect(precision).toBeGreaterThanOrEqual(0.97);
  expect(recall).toBeGreaterThan(0.55);
});

it("a threshold alone, without the rules of the vocabulary, merges near misses", async () => {
  const { judging } = await readPairs(staticEmbedder());
  expect(judge(judging, 0.72, true).precision).toBeLessThan(0.7);
});
