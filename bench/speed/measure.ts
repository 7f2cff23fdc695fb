import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Times of one kind of call, in milliseconds, and how many calls there were. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly n: number;
  /** Time of the processor in the mean, where it was measured: on a busy machine it tells more than the clock. */
  readonly cpu?: number;
}

export function spreadOf(taken: readonly number[]): Spread {
  const sorted = [...taken].sort((one, other) => one - other);
  const at = (share: number): number =>
    rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), n: sorted.length };
}

/** How long a call takes, in milliseconds. */
export async function timeOf(call: () => unknown): Promise<number> {
  const began = performance.now();
  await call();
  return performance.now() - began;
}

/** Three digits tell more than the machine keeps. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

let collect: (() => void) | undefined;

/** Collects all garbage now, so that what was done before does not weigh on what is measured next. */
export function settle(): void {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}
