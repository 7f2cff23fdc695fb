import type { MemoryLink, Tombstone } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { Delta } from "../ports/record.ts";
import { type ClaimIndex, createClaimIndex } from "./claim-index.ts";
import { forEachInSlices } from "./in-slices.ts";
import { yieldToEventLoop } from "./others-turn.ts";

/** Everything of a user but what search needs; see `UserState`. */
export interface UserData {
  revision: number;
  messages: Map<string, Message>;
  memories: Map<string, Memory>;
  current: Map<string, Memory>;
  claims: ClaimIndex;
  tombstones: Map<string, Tombstone>;
  links: readonly MemoryLink[];
  /** Ids of messages and memories whose rows were changed since they were written: nobody is told what they say. */
  damaged: Set<string>;
  /** Ids of messages that wait to be understood. */
  pending: Set<string>;
  /** When the newest of the messages and memories was stored (ISO 8601, UTC); empty for none. */
  storedUntil: string;
  /** Memory that it takes, about. */
  bytes: number;
}

/** Of a message or memory beside its text: the object, its map entries, its strings. */
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

/** After so many others have their turn: about every five milliseconds. */
const SLICE = 500;

/** Takes in what came since, in slices: all that somebody ever said would hold everybody else up. */
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
