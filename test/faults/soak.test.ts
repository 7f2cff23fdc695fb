import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { soak } from "./soak.ts";
import { evaluateSoak, type SoakSample, slopeOf } from "./soak-evaluate.ts";

const HOUR = 3_600_000;

it("a straight line has its slope, and bounds that hold it", () => {
  const exact = Array.from({ length: 60 }, (_, i) => [(i * HOUR) / 60, 5 + (3 * i) / 60] as const);
  expect(slopeOf(exact)).toEqual({ perHour: 3, lower: 3, upper: 3 });
  const noisy = exact.map(([x, y], i) => [x, y + (i % 2 === 0 ? 0.5 : -0.5)] as const);
  const { perHour, lower, upper } = slopeOf(noisy);
  expect(perHour).toBeCloseTo(3, 0);
  expect(lower).toBeLessThan(3);
  expect(upper).toBeGreaterThan(3);
});

// The long form takes two hours: `node test/faults/soak.ts`.
it("a server under mixed load keeps its facts, lets go of those erased, and closes what it opens", {
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-soak-test-"));
  const samples = join(folder, "samples.jsonl");
  try {
    await soak({ minutes: 0.2, rate: 10, seed: 3, samples, intervalMs: 2000 });
    const lines = readFileSync(samples, "utf8").trim().split("\n");
    const { end, figures } = evaluateSoak(lines.map((line) => JSON.parse(line) as SoakSample));
    expect(end).toMatchObject({ lost: 0, resurrected: 0, exit: 0, doctor: 0, unexpected: {} });
    expect(end?.acked).toBeGreaterThan(20);
    expect([figures.samples > 2, figures.sent > 50]).toEqual([true, true]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
