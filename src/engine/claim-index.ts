import { toClaimKey } from "../domain/claim.ts";
import type { Claim, Memory } from "../domain/memory.ts";

/** Finds a user's memories by what they claim, without looking at all of them. */
export interface ClaimIndex {
  /** Takes a memory in, in place of what it was. */
  put(memory: Memory): void;
  remove(id: string): void;
  /** Ids of memories that claim the same. */
  findSame(claim: Claim): ReadonlySet<string>;
  /** Ids of memories that say who or what is called how. */
  findNamings(): ReadonlySet<string>;
  /** Ids of memories with the same subject and relation. */
  findInSlot(claim: Claim): ReadonlySet<string>;
}

const NO_IDS: ReadonlySet<string> = new Set();

/** Of most keys there is one id: a set for each would be a third of all that is kept of a user. */
type IdsByKey = Map<string, string | Set<string>>;

export function createClaimIndex(): ClaimIndex {
  const bySlot: IdsByKey = new Map();
  // Of the slots that somebody asked about: to make the keys of all would take as long as to read them.
  const byKey = new Map<string, IdsByKey>();
  const namings = new Set<string>();
  const held = new Map<string, { readonly claim: Claim; readonly slot: string }>();

  const remove = (id: string): void => {
    const one = held.get(id);
    if (!one) return;
    removeId(bySlot, one.slot, id);
    const keys = byKey.get(one.slot);
    if (keys) removeId(keys, toClaimKey(one.claim), id);
    if (keys?.size === 0) byKey.delete(one.slot);
    held.delete(id);
    namings.delete(id);
  };

  const keysOf = (slot: string): IdsByKey => {
    const known = byKey.get(slot);
    if (known) return known;
    const keys: IdsByKey = new Map();
    for (const id of getIds(bySlot, slot)) {
      const one = held.get(id);
      if (one) addId(keys, toClaimKey(one.claim), id);
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
      addId(bySlot, slot, id);
      const keys = byKey.get(slot);
      if (keys) addId(keys, toClaimKey(claim), id);
      held.set(id, { claim, slot });
      if (claim.relation === "be called") namings.add(id);
    },
    remove,
    findNamings: () => namings,
    // What is the same stands in one slot.
    findSame: (claim) => getIds(keysOf(slotKey(claim)), toClaimKey(claim)),
    findInSlot: (claim) => getIds(bySlot, slotKey(claim)),
  };
}

function slotKey({ subject, relation }: Claim): string {
  return `${relation}\n${subject.toLowerCase()}`;
}

function getIds(index: IdsByKey, key: string): ReadonlySet<string> {
  const ids = index.get(key);
  return typeof ids === "string" ? new Set([ids]) : (ids ?? NO_IDS);
}

function addId(index: IdsByKey, key: string, id: string): void {
  const ids = index.get(key);
  if (ids === undefined) index.set(key, id);
  else if (typeof ids === "string") index.set(key, new Set([ids, id]));
  else ids.add(id);
}

function removeId(index: IdsByKey, key: string, id: string): void {
  const ids = index.get(key);
  if (ids === id) index.delete(key);
  if (typeof ids !== "object") return;
  ids.delete(id);
  if (ids.size === 0) index.delete(key);
}
