import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { rounded } from "./measure.ts";

export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Of the last minute, before and after the run. */
  readonly load: { readonly before: number; readonly after: number };
}

/** To be called before a run; what it gives, after it. */
export function machineOf(): () => Machine {
  const before = loadavg()[0] ?? 0;
  return () => ({
    node: process.version,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    load: { before: rounded(before), after: rounded(loadavg()[0] ?? 0) },
  });
}

/** Gives, when it is called, what share of the processors the host has kept to itself since; 0 where nobody tells. */
export function stolenSince(): () => number {
  const before = ticks();
  return () => {
    const after = ticks();
    const all = after.all - before.all;
    return all > 0 ? (after.stolen - before.stolen) / all : 0;
  };
}

/** Of all processors since the machine was started: user, nice, system, idle, iowait, irq, softirq, steal (`man 5 proc_stat`). */
function ticks(): { readonly all: number; readonly stolen: number } {
  try {
    const [first = ""] = readFileSync("/proc/stat", "utf8").split("\n");
    const numbers = first.split(/ +/).slice(1, 9).map(Number);
    return { all: numbers.reduce((sum, one) => sum + one, 0), stolen: numbers[7] ?? 0 };
  } catch {
    return { all: 0, stolen: 0 };
  }
}
