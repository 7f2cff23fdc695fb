import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeReadme } from "./claims.ts";
import { filesOf } from "./page.ts";
import { phase } from "./progress.ts";
import { FOLDER, readResults, SIZES, type SpeedResults } from "./results.ts";
import type { Figures } from "./run.ts";

const PROGRAM = join(import.meta.dirname, "main.ts");

/** Measures all sizes, each in a process of its own, and writes results, page and plots. */
export function measureCurve(): void {
  mkdirSync(FOLDER, { recursive: true });
  const runs: Figures[] = [];
  for (const [users, perUser] of SIZES) {
    phase(`\n${runs.length + 1} of ${SIZES.length}: ${users} × ${perUser}`);
    runs.push(measured(users, perUser));
    // After each: it takes long, and what is measured is not lost if a later one fails.
    const results: SpeedResults = { measuredOn: new Date().toISOString().slice(0, 10), runs };
    writeFileSync(join(FOLDER, "speed.json"), `${JSON.stringify(results, undefined, 2)}\n`);
  }
  writePages();
}

function measured(users: number, perUser: number): Figures {
  const flags = ["--users", String(users), "--per-user", String(perUser), "--json"];
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The run of ${users} × ${perUser} failed.`);
  return JSON.parse(stdout) as Figures;
}

/** Writes the page, the plots, and what the README says of speed, from the results there are. */
export function writePages(): void {
  const results = readResults();
  for (const [name, text] of filesOf(results)) {
    writeFileSync(join(FOLDER, name), text);
    phase(`written: docs/results/${name}`);
  }
  writeReadme(results);
}
