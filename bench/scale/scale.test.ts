import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pageOf } from "./page.ts";
import { compareRounds, RESULTS_FOLDER, readScaleResults, type ScaleFigures } from "./results.ts";
import { ASSUMPTIONS, planScale, simulateLoad } from "./simulate.ts";

const PER_SECOND =
  (1_000_000 * ASSUMPTIONS.activeShare * ASSUMPTIONS.visitsPerDay * ASSUMPTIONS.messagesPerVisit) / 86_400;

function makeFigures(perUser: number, more: Partial<ScaleFigures> = {}): ScaleFigures {
  const ms = { p50: 1, p95: 2, p99: 3, n: 10 };
  const cost = { ms, databaseMs: 2, serverMs: 3, readBytes: 0, diskBytes: 0, walBytes: 0 };
  return {
    server: "citus",
    users: 1000,
    perUser,
    bytesPerUser: 10_000 * perUser,
    tables: [],
    fillSeconds: 1,
    operations: { cold: cost, hot: cost, remember: cost },
    ...more,
  };
}

it("a million simulated users send as many messages in the busiest hour as the peak factor says", () => {
  const { messages, coldRecalls, hotRecalls } = simulateLoad(ASSUMPTIONS);
  expect(messages / (PER_SECOND * ASSUMPTIONS.peakFactor)).toBeCloseTo(1, 0);
  const recalls = (messages * ASSUMPTIONS.recallsPerVisit) / ASSUMPTIONS.messagesPerVisit;
  expect(coldRecalls + hotRecalls).toBeCloseTo(recalls, 6);
});

it("simulated users who stay in memory for longer have fewer cold recalls", () => {
  const [short, long] = [5, 720].map((hotMinutes) => simulateLoad({ ...ASSUMPTIONS, hotMinutes }));
  expect(long?.coldRecalls).toBeLessThan(short?.coldRecalls ?? 0);
  expect(long?.usersInMemory).toBeGreaterThan(short?.usersInMemory ?? 0);
});

it("a plan for ten times the users has ten times the cells, disks and money", () => {
  const inputs = { small: makeFigures(50), large: makeFigures(1000) };
  const [one, ten] = [1_000_000, 10_000_000].map((users) => planScale(users, inputs, ASSUMPTIONS));
  expect(ten?.cells).toBe(10 * (one?.cells ?? 0));
  expect((ten?.diskTb ?? 0) / (one?.diskTb ?? 1)).toBeCloseTo(10, 6);
  expect((ten?.dollarsAMonth ?? 0) / (one?.dollarsAMonth ?? 1)).toBeCloseTo(10, 6);
  expect(ten?.mostAway).toBeGreaterThanOrEqual(1_000_000);
});

it("a plan that processors decide grows with their cost, and one that disks decide does not", () => {
  const cost = makeFigures(50).operations.cold;
  const slow = { ...cost, databaseMs: 600 };
  const operations = { cold: slow, hot: slow, remember: slow };
  const plan = planScale(
    1_000_000,
    { small: makeFigures(50, { operations }), large: makeFigures(1000, { operations }) },
    ASSUMPTIONS,
  );
  const quick = planScale(1_000_000, { small: makeFigures(50), large: makeFigures(1000) }, ASSUMPTIONS);
  expect([plan.boundBy, quick.boundBy]).toEqual(["processors", "disks"]);
  expect(plan.nodes).toBeGreaterThan(quick.nodes);
});

it("rounds that ran while the machine was busy do not change the ratio of two sizes", () => {
  const smallest = [
    [1, 1, 1],
    [10, 10, 10],
    [1, 1, 1],
  ];
  const larger = [
    [1.1, 1.1, 1.1],
    [11, 11, 11],
    [1.1, 1.1, 1.1],
  ];
  expect(compareRounds(larger, smallest)).toMatchObject({ p50: 1.1, p50Range: [1.1, 1.1] });
});

it("the page of costs at scale says what the results say, and is there if they are", () => {
  const [results, page] = ["scale.json", "scale.md"].map((name) => join(RESULTS_FOLDER, name));
  const isThere = existsSync(results ?? "");
  expect(existsSync(page ?? "")).toBe(isThere);
  if (isThere) expect(readFileSync(page ?? "", "utf8")).toBe(pageOf(readScaleResults()));
});
