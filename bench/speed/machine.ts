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
