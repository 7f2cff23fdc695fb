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

/** A soak of an hour, a sample a minute, whose heap and anonymous memory have so many bytes at each minute. */
function samplesWith(
  heapUsed: (minute: number) => number,
  anonymous: (minute: number) => number = () => 3e8,
): SoakSample[] {
  const loop = { p50: 10, p99: 12, max: 20 };
  const server = Array.from({ length: 60 }, (_, minute): SoakSample => {
    const memory = {
      heapUsed: heapUsed(minute),
      rss: 4e8,
      anonymous: anonymous(minute),
      external: 1e7,
    };
    const opened = { files: 30, sockets: 0, opened: { "/dev/null": 3 } };
    const delays = { loop, loopSinceMark: loop, heldSinceMark: loop };
    return { role: "server", at: minute * 60_000, isMark: false, ...memory, ...opened, ...delays };
  });
  const start = { at: 0, minutes: 60, warmUpMinutes: 15, rate: 10, seed: 1, cacheMegabytes: 4 };
  return [{ role: "start", ...start }, ...server];
}

it("a heap that grows by 2 MB an hour leaks, and one that has levelled off after the warm-up does not", () => {
  const wave = (minute: number): number => 3e5 * Math.sin(minute);
  const leaking = evaluateSoak(samplesWith((minute) => 7e7 + (minute * 2e6) / 60 + wave(minute)));
  expect([leaking.isLeaking, leaking.faults.includes("the slope of the heap")]).toEqual([true, true]);
  const level = evaluateSoak(samplesWith((minute) => 6e7 + Math.min(minute, 14) * 1e6 + wave(minute)));
  expect([level.isLeaking, level.faults.includes("the slope of the heap")]).toEqual([false, false]);
});

it("anonymous memory that grows by 40 MB an hour leaks, and one that rises and falls does not", () => {
  const level = (): number => 7e7;
  const wave = (minute: number): number => 2e7 * Math.sin(minute);
  const leaking = evaluateSoak(samplesWith(level, (minute) => 3e8 + (minute * 4e7) / 60 + wave(minute)));
  const what = "the slope of the anonymous memory";
  expect([leaking.isLeaking, leaking.faults.includes(what)]).toEqual([true, true]);
  const steady = evaluateSoak(
    samplesWith(level, (minute) => 3e8 + Math.min(minute, 14) * 1e7 + wave(minute)),
  );
  expect([steady.isLeaking, steady.faults.includes(what)]).toEqual([false, false]);
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
    expect([figures.openedMore, figures.filesOpen <= 0]).toEqual([{}, true]);
    // Of seconds it says nothing yet, but that it is measured.
    expect(Object.values(figures.heapSlopeMBh).every(Number.isFinite)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
