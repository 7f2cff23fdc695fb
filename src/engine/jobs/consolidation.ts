import type { Memory } from "../../domain/memory.ts";
import { statementKey } from "../../domain/same-statement.ts";
import { othersTurn } from "../others-turn.ts";
import { type Edit, HOUR_MS, type Task } from "./task.ts";

const AT_ONCE = 50;

/**
 * Memories that say the same of the same time become one, with the evidence and the sources of all. What differs in a
 * value, a number, a name or a negation stays apart.
 */
export const consolidation: Task = {
  name: "consolidation",
  about: "merges memories that say the same, with the evidence and the sources of all",
  everyMs: HOUR_MS,
  isCarriedOut: () => true,
  async think(_ports, { memories, at }) {
    const groups = new Map<string, Memory[]>();
    for (const [i, memory] of memories.entries()) {
      // Thousands of them are compared, and nothing here waits: others come in between.
      if (i % AT_ONCE === AT_ONCE - 1) await othersTurn();
      const key = mayMerge(memory, at) ? statementKey(memory) : undefined;
      if (key === undefined) continue;
      const group = groups.get(key);
      if (group) group.push(memory);
      else groups.set(key, [memory]);
    }
    return { edits: [...groups.values()].flatMap(merging) };
  },
};

/** What somebody brought back after a merge stays as it is. */
function mayMerge({ action, expiresAt }: Memory, at: string): boolean {
  return action !== "restored" && (expiresAt === undefined || expiresAt > at);
}

/** Into the one that was said most often, else the one that says it at greatest length, else the oldest. */
function merging(group: readonly Memory[]): Edit[] {
  const [first, ...rest] = group.toSorted(
    (one, other) => other.evidence - one.evidence || other.text.length - one.text.length,
  );
  if (!first) return [];
  const into = { id: first.id, version: first.version };
  return rest.map(({ id, version }) => ({
    id,
    version,
    deed: "merged",
    into,
    why: "it says the same as another memory",
  }));
}
