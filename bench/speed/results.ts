import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures } from "./run.ts";

/** What `docs/results/speed.json` holds. */
export interface SpeedResults {
  /** The day of the measurement, ISO 8601. */
  readonly measuredOn: string;
  readonly runs: readonly Figures[];
}

/** Where the results, the page and the plots lie. */
export const FOLDER: string = join(import.meta.dirname, "../../docs/results");

/** The sizes of the curve: over memories for one user, and over users. */
export const SIZES: readonly (readonly [users: number, perUser: number])[] = [
  [1, 1000],
  [1, 10_000],
  [1, 100_000],
  [100, 10_000],
];

export function readResults(): SpeedResults {
  return JSON.parse(readFileSync(join(FOLDER, "speed.json"), "utf8")) as SpeedResults;
}

/** The run of a size; an error where the results do not hold it. */
export function runOf({ runs }: SpeedResults, users: number, perUser: number): Figures {
  const found = runs.find((run) => run.users === users && run.perUser === perUser);
  if (!found) throw new Error(`The results hold no run of ${users} × ${perUser}.`);
  return found;
}
