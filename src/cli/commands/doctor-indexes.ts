import type { Keepsake } from "../../engine/surface.ts";
import type { Drift } from "../../engine/vector-indexes.ts";
import { isMemoryError } from "../../errors.ts";
import { formatCount, type Printer } from "../print.ts";
import { createProgressBar } from "../progress.ts";

/** What was found of one index; or why it could not be looked at. */
type IndexCheck = Drift | { readonly name: string; readonly problem: string };

/** What was found of all. */
export interface IndexCheckReport {
  readonly json: { readonly indexes?: readonly IndexCheck[] };
  /** Whether each is as the record is now. */
  readonly areHealthy: boolean;
  /** Tells it, a sentence each. */
  printNotes(): void;
}

/** Holds every index against the record, and puts right what is different. */
export async function checkIndexes({ indexes }: Keepsake, print: Printer): Promise<IndexCheckReport> {
  const found: IndexCheck[] = [];
  for (const name of indexes.names) {
    const bar = createProgressBar(print.json);
    const onProgress = (done: number, of: number): void =>
      bar.show(done, of, `index "${name}": ${done} of ${formatCount(of, "user")}`);
    try {
      found.push(await indexes.drift(name, { onProgress }));
    } catch (error) {
      if (!isMemoryError(error)) throw error;
      found.push({ name, problem: error.message });
    } finally {
      bar.end();
    }
  }
  return {
    json: found.length > 0 ? { indexes: found } : {},
    areHealthy: found.every((one) => !("problem" in one) && one.isRepaired),
    printNotes() {
      for (const one of found) print.note(describeIndexCheck(one));
    },
  };
}

/** A sentence for people. */
function describeIndexCheck(health: IndexCheck): string {
  const { name } = health;
  if ("problem" in health) return `The index "${name}" could not be looked at: ${health.problem}`;
  const { units, missing, stray, stale, isRepaired } = health;
  if (missing + stray + stale === 0) return `The index "${name}" has all of ${formatCount(units, "unit")}.`;
  const wrong = [
    `${missing} of ${formatCount(units, "unit")} were missing`,
    `${formatCount(stray, "entry was", "entries were")} not the record's`,
    `${formatCount(stale, "vector was", "vectors were")} out of date`,
  ];
  const end = isRepaired ? "All of it is put right." : `Not all of it could be put right: try again.`;
  return `The index "${name}" had drifted: ${wrong.join(", ")}. ${end}`;
}
