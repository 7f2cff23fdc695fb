import type { Memory } from "../domain/memory.ts";

/** A user's memories while a change is thought out: the stored ones, with the new versions over them. */
export interface MemoryDraft {
  get(id: string): Memory | undefined;
  /** The newest version of each, stored or new. */
  all(): Iterable<Memory>;
  /** Makes the next version of a memory, or the first; `version`, `revision` and `storedAt` are set here. */
  put(memory: Omit<Memory, "version" | "revision" | "storedAt">): Memory;
  /** The versions made, in order. */
  readonly made: readonly Memory[];
}

export function memoryDraft(stored: ReadonlyMap<string, Memory>, base: number, at: string): MemoryDraft {
  const newest = new Map<string, Memory>();
  const made: Memory[] = [];
  return {
    made,
    get: (id) => newest.get(id) ?? stored.get(id),
    *all() {
      for (const [id, memory] of stored) yield newest.get(id) ?? memory;
      for (const [id, memory] of newest) if (!stored.has(id)) yield memory;
    },
    put(memory) {
      const before = newest.get(memory.id) ?? stored.get(memory.id);
      const next: Memory = {
        ...memory,
        version: (before?.version ?? 0) + 1,
        revision: base + 1,
        storedAt: at,
      };
      newest.set(next.id, next);
      made.push(next);
      return next;
    },
  };
}
