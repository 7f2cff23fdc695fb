import type { Keepsake } from "../../engine/surface.ts";
import type { Drift } from "../../engine/vector-indexes.ts";
import { isMemoryError } from "../../errors.ts";
import { type Printer, several } from "../print.ts";
import { progress } from "../progress.ts";

/** What was found of one index; or why it could not be looked at. */
type IndexHealth = Drift | { readonly name: string; readonly problem: string };

/** What was found of all. */
export interface IndexesHealth {
  readonly json: { readonly indexes?: readonly IndexHealth[] };
  /** Whether each is as the record is now. */
  readonly areInOrder: boolean;
  /** Tells it, a sentence each. */
  tell(): void;
}

/** Holds every index against the record, and puts right what is different. */
export async function lookAtIndexes({ indexes }: Keepsake, print: Printer): Promise<IndexesHealth> {
  const found: IndexHealth[] = [];
  for (const name of indexes.names) {
    const bar = progress(print.json);
    const onProgress = (done: number, of: number): void =>
      bar.show(done, of, `index "${name}": ${done} of ${several(of, "user")}`);
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
    areInOrder: found.every((one) => !("problem" in one) && one.isRepaired),
    tell() {
      for (const one of found) print.note(saidOf(one));
    },
  };
}

/** A sentence for people. */
function saidOf(health: IndexHealth): string {
  const { name } = health;
  if ("problem" in health) return `The index "${name}" could not be looked at: ${health.problem}`;
  const { units, missing, stray, stale, isRepaired } = health;
  if (missing + stray + stale === 0) return `The index "${name}" has all of ${several(units, "unit")}.`;
  const wrong = [
    `${missing} of ${several(units, "unit")} were missing`,
    `${several(stray, "entry was", "entries were")} not the record's`,
    `${several(stale, "vector was", "vectors were")} out of date`,
  ];
  const end = isRepaired ? "All of it is put right." : `Not all of it could be put right: try again.`;
  return `The index "${name}" had drifted: ${wrong.join(", ")}. ${end}`;
}
