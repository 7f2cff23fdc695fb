import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../speed/machine.ts";
import { CASES } from "./cases.ts";
import type { CaseFigures, ExcessOf } from "./excess.ts";

/** What `docs/results/stalls.json` holds. Times in ms. */
export interface StallResults {
  /** The day of the measurement, ISO 8601. */
  readonly measuredOn: string;
  readonly machine: Machine;
  readonly minutes: number;
  readonly rounds: number;
  /** Memories of the large user. */
  readonly large: number;
  readonly cases: readonly CaseFigures[];
}

export const RESULTS_FOLDER: string = join(import.meta.dirname, "../../docs/results");

export function readStallResults(): StallResults {
  return JSON.parse(readFileSync(join(RESULTS_FOLDER, "stalls.json"), "utf8")) as StallResults;
}

/** A table for the terminal. */
export function linesOf({ cases, rounds }: StallResults): string[] {
  const rows = cases.map(({ name, before, after }) => [
    name,
    ...(before ? cellsOf(before) : []),
    ...cellsOf(after),
  ]);
  const isBoth = cases.some(({ before }) => before);
  const columns = ["stall", "p95", "worst"];
  const head = ["case", ...(isBoth ? columns.map((one) => `${one} before`) : []), ...columns];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ");
  return [
    `Excess over an idle control in ms, the median of ${rounds}`,
    line(head),
    ...rows.map((row) => line(row)),
  ];
}

/** Stall of the event loop, and the others' p95 and worst. */
export function cellsOf({ stall, p95, worst, lost }: ExcessOf): string[] {
  return [`${lost > 0 ? "≥ " : ""}${stall}`, String(p95), String(worst)];
}

export function titleOf(name: string): string {
  return CASES.find((one) => one.name === name)?.title ?? name;
}
