import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { ownDatabase } from "./processes.ts";

const { KEEPSAKE_TEST_POSTGRES: server } = process.env;
const missing = server ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

const PROCESSES = 4;
const EVERY_MS = 600;
const TAKES_MS = 150;
const RUNS = 4;

interface Run {
  readonly process: number;
  readonly begun: number;
  readonly ended: number;
}

/** Has several processes run one job on a place, and gives its runs in their order. */
async function runsOn(place: string): Promise<readonly Run[]> {
  const runs: Run[] = [];
  const children = Array.from({ length: PROCESSES }, (_, number) => child(place, number, runs));
  const deadline = performance.now() + 60_000;
  while (runs.length < RUNS && performance.now() < deadline) await rest(20);
  const ended = children.map(
    (one) => new Promise((resolve) => (one.exitCode === null ? one.once("exit", resolve) : resolve(0))),
  );
  for (const one of children) one.kill("SIGTERM");
  await Promise.all(ended);
  return runs.toSorted((one, other) => one.begun - other.begun);
}

function child(place: string, number: number, runs: Run[]): ChildProcess {
  const program = join(import.meta.dirname, "period-child.ts");
  const one = spawn(process.execPath, [program, place, `${EVERY_MS}`, `${TAKES_MS}`], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {},
  });
  let text = "";
  let begun = 0;
  one.stdout?.on("data", (part: Buffer) => {
    text += part.toString();
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const [word, time] of lines.map((line) => line.split(" "))) {
      if (word === "begin") begun = Number(time);
      if (word === "end") runs.push({ process: number, begun, ended: Number(time) });
    }
  });
  return one;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Each run begins an interval after the end of the one before, whichever process runs it. Timers of Node may be a millisecond early. */
function gapsOf(runs: readonly Run[]): number[] {
  return runs.slice(1).map(({ begun }, i) => begun - (runs[i]?.ended ?? 0));
}

describe("processes on one record", () => {
  it("run a job once in its interval on one SQLite file, however many they are", {
    timeout: 90_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-period-"));
    try {
      const path = join(folder, "memory.db");
      await (await openSqliteStore({ path })).close();
      const runs = await runsOn(path);
      expect(runs.length).toBeGreaterThanOrEqual(RUNS);
      for (const gap of gapsOf(runs)) expect(gap).toBeGreaterThanOrEqual(EVERY_MS - 5);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.skipIf(!server)(
    `run a job once in its interval on one PostgreSQL, however many they are${missing}`,
    { timeout: 90_000 },
    async () => {
      const database = await ownDatabase(server ?? "");
      try {
        const runs = await runsOn(database.url);
        expect(runs.length).toBeGreaterThanOrEqual(RUNS);
        for (const gap of gapsOf(runs)) expect(gap).toBeGreaterThanOrEqual(EVERY_MS - 5);
      } finally {
        await database.drop();
      }
    },
  );
});
