import type { Claim, Memory } from "../domain/memory.ts";
import { type ClaimIndex, createClaimIndex } from "./claim-index.ts";

/** A user's memories while a change is thought out: the stored ones, with the new versions over them. */
export interface MemoryDraft {
  get(id: string): Memory | undefined;
  /** The memories that are current, in the order in which they were first stored. */
  current(): readonly Memory[];
  /** Current memories that claim the same. */
  findSame(claim: Claim): Memory[];
  /** Current memories with the same subject and relation. */
  findInSlot(claim: Claim): Memory[];
  /** Makes the next version of a memory, or the first; `version`, `revision` and `storedAt` are set here. */
  put(memory: Omit<Memory, "version" | "revision" | "storedAt">): Memory;
  /** The versions made, in order. */
  readonly versions: readonly Memory[];
}

/** What a draft is laid over. */
export interface StoredMemories {
  readonly memories: ReadonlyMap<string, Memory>;
  readonly current: ReadonlyMap<string, Memory>;
  readonly claims: Pick<ClaimIndex, "findSame" | "findInSlot">;
  readonly revision: number;
}

export function createMemoryDraft(stored: StoredMemories, at: string): MemoryDraft {
  const newest = new Map<string, Memory>();
  const claims = createClaimIndex();
  const made: Memory[] = [];
  let known: readonly Memory[] | undefined;
  const get = (id: string): Memory | undefined => newest.get(id) ?? stored.memories.get(id);
  const currentOf = (held: ReadonlySet<string>, drafted: ReadonlySet<string>): Memory[] => {
    const ids = drafted.size === 0 ? held : new Set([...held, ...drafted]);
    return [...ids].flatMap((id) => {
      const memory = get(id);
      return memory?.status === "current" ? [memory] : [];
    });
  };
  return {
    versions: made,
    get,
    current() {
      known ??= overlayCurrent(stored.current, newest);
      return known;
    },
    findSame: (claim) => currentOf(stored.claims.findSame(claim), claims.findSame(claim)),
    findInSlot: (claim) => currentOf(stored.claims.findInSlot(claim), claims.findInSlot(claim)),
    put(memory) {
      const before = get(memory.id);
      const next: Memory = {
        ...memory,
        version: (before?.version ?? 0) + 1,
        revision: stored.revision + 1,
        storedAt: at,
      };
      newest.set(next.id, next);
      claims.put(next);
      known = undefined;
      made.push(next);
      return next;
    },
  };
}

/** Most writes change nothing that is current before they ask what is: then the stored ones are the answer. */
function overlayCurrent(
  current: ReadonlyMap<string, Memory>,
  newest: ReadonlyMap<string, Memory>,
): readonly Memory[] {
  if (newest.size === 0) return [...current.values()];
  return [...new Map([...current, ...newest]).values()].filter(({ status }) => status === "current");
}
