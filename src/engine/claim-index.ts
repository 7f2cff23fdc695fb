import { claimKey } from "../domain/claim.ts";
import type { Claim, Memory } from "../domain/memory.ts";

/** Finds a user's memories by what they claim, without looking at all of them. */
export interface ClaimIndex {
  /** Takes a memory in, in place of what it was. */
  put(memory: Memory): void;
  remove(id: string): void;
  /** Ids of memories that claim the same. */
  same(claim: Claim): ReadonlySet<string>;
  /** Ids of memories that say who or what is called how. */
  namings(): ReadonlySet<string>;
  /** Ids of memories with the same subject and relation. */
  slot(claim: Claim): ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

export function claimIndex(): ClaimIndex {
  const bySame = new Map<string, Set<string>>();
  const bySlot = new Map<string, Set<string>>();
  const namings = new Set<string>();
  const keys = new Map<string, readonly [same: string, slot: string]>();

  const remove = (id: string): void => {
    const held = keys.get(id);
    if (!held) return;
    drop(bySame, held[0], id);
    drop(bySlot, held[1], id);
    keys.delete(id);
    namings.delete(id);
  };

  return {
    put({ id, claim }) {
      const held = keys.get(id);
      if (!claim) return remove(id);
      const same = claimKey(claim);
      const slot = slotKey(claim);
      if (held?.[0] === same && held[1] === slot) return;
      remove(id);
      add(bySame, same, id);
      add(bySlot, slot, id);
      keys.set(id, [same, slot]);
      if (claim.relation === "be called") namings.add(id);
    },
    remove,
    namings: () => namings,
    same: (claim) => bySame.get(claimKey(claim)) ?? NONE,
    slot: (claim) => bySlot.get(slotKey(claim)) ?? NONE,
  };
}

function slotKey({ subject, relation }: Claim): string {
  return `${relation}\n${subject.toLowerCase()}`;
}

function add(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  if (ids) ids.add(id);
  else index.set(key, new Set([id]));
}

function drop(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(key);
}
