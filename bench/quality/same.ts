import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { QualityReport } from "./report.ts";

/** So much a figure may differ, in points of per cent. */
const WITHIN = 0.5;
/** Of the recalls, an index must have answered so many: else nothing was compared. */
const LEAST_ANSWERED = 95;

/**
 * Figures of one set that differ by more than half a point where it ran on another record, or with an index beside it. Times are
 * no figures of quality; what only one of them has is a difference.
 */
export function differences(base: QualityReport, other: QualityReport): string[] {
  const { index_answered: answered, ...metrics } = other.metrics;
  const names = new Set([...Object.keys(base.metrics), ...Object.keys(metrics)]);
  const far = [...names].flatMap((name) => {
    const [one, two] = [base.metrics[name], metrics[name]];
    if (/(?:^|_)ms$/.test(name)) return [];
    if (one !== undefined && two !== undefined && Math.abs(one - two) <= WITHIN) return [];
    return [`${name}: ${one} and ${two}`];
  });
  return [
    ...(base.set === other.set && base.n === other.n ? [] : ["not the same questions"]),
    ...far,
    ...(answered === undefined || answered >= LEAST_ANSWERED
      ? []
      : [`the index answered ${answered} of 100`]),
  ];
}

const read = (path: string): QualityReport => JSON.parse(readFileSync(path, "utf8")) as QualityReport;

if (import.meta.main) {
  const [base = "", ...others] = parseArgs({ allowPositionals: true }).positionals;
  for (const other of others) {
    const found = differences(read(base), read(other));
    console.log(found.length === 0 ? `${other}: the same` : `${other}: ${found.join("; ")}`);
    if (found.length > 0) process.exitCode = 1;
  }
}
