import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../speed/machine.ts";
import type { Spread } from "../speed/measure.ts";

/** Where memories are stored: one PostgreSQL server, or a Citus cluster of a coordinator and workers. */
export type ScaleServer = "one node" | "citus";

/** What one operation costs in the mean. Times of processors in ms, sizes in bytes. */
export interface OperationCost {
  readonly ms: Spread;
  /** Time of the processor in the database's processes, on all nodes. */
  readonly databaseMs: number;
  /** Time of the processor in the process that serves. */
  readonly serverMs: number;
  /** What the database read from files, out of the system's memory or from the disk. */
  readonly readBytes: number;
  /** Of these, what came from the disk. */
  readonly diskBytes: number;
  /** What was written to the write-ahead logs of all nodes. */
  readonly walBytes: number;
}

/** The operations: a recall of a user not in memory, of a user in memory, and a message to remember. */
export const OPERATIONS = ["cold", "hot", "remember"] as const;
export type OperationName = (typeof OPERATIONS)[number];

/** Times at a size as a multiple of the smallest size of the same server, measured in turn. */
export interface GrowthRatio {
  readonly p50: number;
  /** The smallest and the largest third of the ratios of the rounds begin here. */
  readonly p50Range: readonly [number, number];
  readonly p95: number;
}

/** One size on one server. */
export interface ScaleFigures {
  readonly server: ScaleServer;
  readonly users: number;
  readonly perUser: number;
  /** Bytes of all tables with their indexes for each user, and by table. */
  readonly bytesPerUser: number;
  readonly tables: readonly TableSize[];
  /** How long the copies took, in seconds. */
  readonly fillSeconds: number;
  readonly operations: { readonly [name in OperationName]: OperationCost };
  /** Only where a smaller number of users with as many memories was measured. */
  readonly growth?: { readonly [name in OperationName]: GrowthRatio };
}

export interface TableSize {
  readonly table: string;
  readonly rowsPerUser: number;
  readonly bytesPerUser: number;
}

/** What `docs/results/scale.json` holds. */
export interface ScaleResults {
  readonly measuredOn: string;
  readonly machine: Machine;
  readonly minutes: number;
  readonly rounds: number;
  /** The free bytes of the disk before and after filling. */
  readonly freeDisk: { readonly before: number; readonly after: number };
  readonly version: { readonly [server in ScaleServer]?: string };
  readonly figures: readonly ScaleFigures[];
}

export const RESULTS_FOLDER: string = join(import.meta.dirname, "../../docs/results");

export function readScaleResults(): ScaleResults {
  return JSON.parse(readFileSync(join(RESULTS_FOLDER, "scale.json"), "utf8")) as ScaleResults;
}

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/**
 * Compares two sizes that were measured in turn. Each round gives one ratio of medians, so that what else runs on the machine
 * weighs on both sides of it.
 */
export function compareRounds(
  rounds: readonly (readonly number[])[],
  smallest: readonly (readonly number[])[],
): GrowthRatio {
  const ratios = rounds.map((times, i) => quantile(times, 0.5) / quantile(smallest[i] ?? [], 0.5));
  const toShort = (value: number): number => Number(value.toFixed(2));
  return {
    p50: toShort(quantile(ratios, 0.5)),
    p50Range: [toShort(quantile(ratios, 1 / 3)), toShort(quantile(ratios, 2 / 3))],
    p95: toShort(quantile(rounds.flat(), 0.95) / quantile(smallest.flat(), 0.95)),
  };
}
