import { DECAY_DAYS } from "../recall/take-options.ts";
import { computeFadeCutoff, countDaysBetween, DAY_MS, type MaintenanceTask } from "./task.ts";

/**
 * Decay is a rank: each recall weighs how new a memory is by its dates, and nothing is written for it. This counts what
 * has faded, so that it can be seen.
 */
export const decayTask: MaintenanceTask = {
  name: "decay",
  about: "counts what has faded; recalls weigh age by themselves, and nothing is written",
  everyMs: DAY_MS,
  isAutomatic: () => false,
  async plan(ports, { memories, at }) {
    const before = computeFadeCutoff(ports, at);
    const days = ports.decayDays ?? DECAY_DAYS;
    const next = memories
      .map((memory) => memory.at)
      .filter((said) => said >= before)
      .sort()[0];
    return {
      edits: memories
        .filter((memory) => memory.at < before)
        .map(({ id, version, at: said }) => ({
          id,
          version,
          action: "faded",
          why: `last said ${countDaysBetween(said, at)} days ago; being new halves every ${days} days`,
        })),
      ...(next === undefined ? {} : { due: computeFadeTime(next, before, at) }),
    };
  },
};

/** When what was said at a time will have faded. */
function computeFadeTime(said: string, before: string, at: string): string {
  return new Date(Date.parse(at) + Date.parse(said) - Date.parse(before) + 1).toISOString();
}
