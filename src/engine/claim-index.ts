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

/** Of most keys there is one id: a set for each would be a third of all that is kept of a user. */
type Index = Map<string, string | Set<string>>;

export function claimIndex(): ClaimIndex {
  const bySlot: Index = new Map();
  // Of the slots that somebody asked about: to make the keys of all would take as long as to read them.
  const byKey = new Map<string, Index>();
  const namings = new Set<string>();
  const held = new Map<string, { readonly claim: Claim; readonly slot: string }>();

  const remove = (id: string): void => {
    const one = held.get(id);
    if (!one) return;
    drop(bySlot, one.slot, id);
    const keys = byKey.get(one.slot);
    if (keys) drop(keys, claimKey(one.claim), id);
    if (keys?.size === 0) byKey.delete(one.slot);
    held.delete(id);
    namings.delete(id);
  };

  const keysOf = (slot: string): Index => {
    const known = byKey.get(slot);
    if (known) return known;
    const keys: Index = new Map();
    for (const id of idsOf(bySlot, slot)) {
      const one = held.get(id);
      if (one) add(keys, claimKey(one.claim), id);
    }
    if (keys.size > 0) byKey.set(slot, keys);
    return keys;
  };

  return {
    put({ id, claim }) {
      const before = held.get(id);
      if (!claim) return remove(id);
      const slot = slotKey(claim);
      if (before?.slot === slot && before.claim.value === claim.value) return;
      remove(id);
      add(bySlot, slot, id);
      const keys = byKey.get(slot);
      if (keys) add(keys, claimKey(claim), id);
      held.set(id, { claim, slot });
      if (claim.relation === "be called") namings.add(id);
    },
    remove,
    namings: () => namings,
    // What is the same stands in one slot.
    same: (claim) => idsOf(keysOf(slotKey(claim)), claimKey(claim)),
    slot: (claim) => idsOf(bySlot, slotKey(claim)),
  };
}

function slotKey({ subject, relation }: Claim): string {
  return `${relation}\n${subject.toLowerCase()}`;
}

function idsOf(index: Index, key: string): ReadonlySet<string> {
  const ids = index.get(key);
  return typeof ids === "string" ? new Set([ids]) : (ids ?? NONE);
}

function add(index: Index, key: string, id: string): void {
  const ids = index.get(key);
  if (ids === undefined) index.set(key, id);
  else if (typeof ids === "string") index.set(key, new Set([ids, id]));
  else ids.add(id);
}

function drop(index: Index, key: string, id: string): void {
  const ids = index.get(key);
  if (ids === id) index.delete(key);
  if (typeof ids !== "object") return;
  ids.delete(id);
  if (ids.size === 0) index.delete(key);
}
