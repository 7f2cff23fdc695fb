import type { MemoryLink, Tombstone } from "../../domain/change-set.ts";
import { type Claim, type Memory, toClaimKey } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { forEachInSlices, yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { Delta } from "../../ports/memory-store.ts";

/** All data of a user except the search index; see `UserState`. */
export interface UserData {
  revision: number;
  messages: Map<string, Message>;
  memories: Map<string, Memory>;
  current: Map<string, Memory>;
  claims: ClaimIndex;
  tombstones: Map<string, Tombstone>;
  links: readonly MemoryLink[];
  /**
   * Ids of messages and memories whose rows were changed since they were written. Their text is not returned.
   */
  damaged: Set<string>;
  /** Ids of messages that wait for extraction. */
  pending: Set<string>;
  /** When the newest message or memory was stored (ISO 8601, UTC); empty if there is none. */
  storedUntil: string;
  /** Approximate memory use. */
  bytes: number;
}

/** Approximate size of a message or memory without its text: the object, its map entries, its strings. */
const OBJECT_BYTES = 700;

export function createUserData(): UserData {
  return {
    revision: 0,
    messages: new Map(),
    memories: new Map(),
    current: new Map(),
    claims: createClaimIndex(),
    tombstones: new Map(),
    links: [],
    damaged: new Set(),
    pending: new Set(),
    storedUntil: "",
    bytes: 0,
  };
}

/** Rows between two yields to the event loop: about five milliseconds of work. */
const SLICE = 500;

/** Applies a delta in slices, so that a large history does not block other users. */
export async function applyUserDelta(whole: UserData, delta: Delta): Promise<void> {
  await forEachInSlices(delta.gone.memories, (id) => {
    whole.memories.delete(id);
    whole.current.delete(id);
    whole.claims.remove(id);
  });
  noteDamaged(whole.damaged, delta);
  for (const [i, message] of delta.messages.entries()) {
    if (i % SLICE === SLICE - 1) await yieldToEventLoop();
    whole.bytes += message.content.length * 2 + OBJECT_BYTES;
    whole.messages.set(message.id, message);
    whole.storedUntil = laterOf(whole.storedUntil, message.storedAt);
    if (message.digest === "pending" && !message.undone) whole.pending.add(message.id);
    else whole.pending.delete(message.id);
  }
  for (const [i, memory] of delta.memories.entries()) {
    if (i % SLICE === SLICE - 1) await yieldToEventLoop();
    whole.bytes += memory.text.length * 4 + OBJECT_BYTES;
    whole.memories.set(memory.id, memory);
    whole.storedUntil = laterOf(whole.storedUntil, memory.storedAt);
    if (memory.status === "current") whole.current.set(memory.id, memory);
    else whole.current.delete(memory.id);
    whole.claims.put(memory);
  }
  whole.tombstones = new Map(delta.tombstones.map((tombstone) => [tombstone.hash, tombstone]));
  whole.links = delta.links;
  whole.revision = delta.revision;
}

function noteDamaged(known: Set<string>, { messages, memories, damaged }: Delta): void {
  if (known.size > 0) for (const { id } of [...messages, ...memories]) known.delete(id);
  for (const id of [...(damaged?.messages ?? []), ...(damaged?.memories ?? [])]) known.add(id);
}

function laterOf(one: string, other: string): string {
  return one > other ? one : other;
}

/** Finds a user's memories by their claims without a scan. */
export interface ClaimIndex {
  /** Adds a memory and replaces its previous version. */
  put(memory: Memory): void;
  remove(id: string): void;
  /** Ids of memories with the same claim. */
  findSame(claim: Claim): ReadonlySet<string>;
  /** Ids of memories that name a person or thing. */
  findNamings(): ReadonlySet<string>;
  /** Ids of memories with the same subject and relation. */
  findInSlot(claim: Claim): ReadonlySet<string>;
}

const NO_IDS: ReadonlySet<string> = new Set();

/** Most keys have one id. A set for each would take a third of a user's memory. */
type IdsByKey = Map<string, string | Set<string>>;

export function createClaimIndex(): ClaimIndex {
  const bySlot: IdsByKey = new Map();
  // Filled only for slots that were queried: keys for all slots would take as long as reading them.
  const byKey = new Map<string, IdsByKey>();
  const namings = new Set<string>();
  const entries = new Map<string, { readonly claim: Claim; readonly slot: string }>();

  const remove = (id: string): void => {
    const one = entries.get(id);
    if (!one) return;
    removeId(bySlot, one.slot, id);
    const keys = byKey.get(one.slot);
    if (keys) removeId(keys, toClaimKey(one.claim), id);
    if (keys?.size === 0) byKey.delete(one.slot);
    entries.delete(id);
    namings.delete(id);
  };

  const keysOf = (slot: string): IdsByKey => {
    const known = byKey.get(slot);
    if (known) return known;
    const keys: IdsByKey = new Map();
    for (const id of getIds(bySlot, slot)) {
      const one = entries.get(id);
      if (one) addId(keys, toClaimKey(one.claim), id);
    }
    if (keys.size > 0) byKey.set(slot, keys);
    return keys;
  };

  return {
    put({ id, claim }) {
      const before = entries.get(id);
      if (!claim) return remove(id);
      const slot = slotKey(claim);
      if (before?.slot === slot && before.claim.value === claim.value) return;
      remove(id);
      addId(bySlot, slot, id);
      const keys = byKey.get(slot);
      if (keys) addId(keys, toClaimKey(claim), id);
      entries.set(id, { claim, slot });
      if (claim.relation === "be called") namings.add(id);
    },
    remove,
    findNamings: () => namings,
    // Equal claims share a slot.
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
