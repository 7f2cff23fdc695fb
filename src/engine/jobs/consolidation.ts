import type { Memory } from "../../domain/memory.ts";
import { toStatementKey } from "../../domain/same-statement.ts";
import { yieldToEventLoop } from "../others-turn.ts";
import { HOUR_MS, type MaintenanceEdit, type MaintenanceTask } from "./task.ts";

const COMPARED_AT_ONCE = 50;

/**
 * Memories that say the same of the same time become one, with the evidence and the sources of all. What differs in a
 * value, a number, a name or a negation stays apart.
 */
export const consolidationTask: MaintenanceTask = {
  name: "consolidation",
  about: "merges memories that say the same, with the evidence and the sources of all",
  everyMs: HOUR_MS,
  isAutomatic: () => true,
  async plan(_ports, { memories, at }) {
    const groups = new Map<string, Memory[]>();
    for (const [i, memory] of memories.entries()) {
      // Thousands of them are compared, and nothing here waits: others come in between.
      if (i % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) await yieldToEventLoop();
      const key = mayMerge(memory, at) ? toStatementKey(memory) : undefined;
      if (key === undefined) continue;
      const group = groups.get(key);
      if (group) group.push(memory);
      else groups.set(key, [memory]);
    }
    return { edits: [...groups.values()].flatMap(toMergeEdits) };
  },
};

/** What somebody brought back after a merge stays as it is. */
function mayMerge({ action, expiresAt }: Memory, at: string): boolean {
  return action !== "restored" && (expiresAt === undefined || expiresAt > at);
}

/** Into the one that was said most often, else the one that says it at greatest length, else the oldest. */
function toMergeEdits(group: readonly Memory[]): MaintenanceEdit[] {
  const [first, ...rest] = group.toSorted(
    (one, other) => other.evidence - one.evidence || other.text.length - one.text.length,
  );
  if (!first) return [];
  const into = { id: first.id, version: first.version };
  return rest.map(({ id, version }) => ({
    id,
    version,
    action: "merged",
    into,
    why: "it says the same as another memory",
  }));
}
