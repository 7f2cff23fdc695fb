import type { Memory } from "../../../domain/memory.ts";
import { runAtOnce, runInSlices } from "../../../domain/time-slicing.ts";
import { bag } from "./bags.ts";

/** What a question looks up, so that it need not look at every memory of a long memory. */
export interface AnswerIndex {
  /** Subject, relation, and the memories that claim something of the kind. */
  readonly slots: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<Memory>>>;
  /** By the words of a memory, in the form in which they are compared. */
  readonly words: ReadonlyMap<string, ReadonlySet<Memory>>;
  /** By the message that a memory came from. */
  readonly sources: ReadonlyMap<string, ReadonlySet<Memory>>;
  /** What the user wants of the assistant. */
  readonly instructions: ReadonlySet<Memory>;
  /** Those whose circumstance says by which means ("in Ledgerly") or that it is for a living. */
  readonly means: ReadonlySet<Memory>;
  /** The place of each in the order in which they were first stored. */
  readonly place: (memory: Memory) => number;
}

interface Kept extends AnswerIndex {
  readonly slots: Map<string, Map<string, Set<Memory>>>;
  readonly words: Map<string, Set<Memory>>;
  readonly sources: Map<string, Set<Memory>>;
  readonly means: Set<Memory>;
  readonly instructions: Set<Memory>;
  readonly places: Map<string, number>;
  readonly held: Map<string, Memory>;
  /** The revision of the memories that it was last brought up to. */
  revision: number | undefined;
}

const indexes = new WeakMap<ReadonlyMap<string, Memory>, Kept>();

/** The index over a user's memories, brought up to their present versions. It goes with the state that holds them. */
export function answerIndex(memories: ReadonlyMap<string, Memory>): AnswerIndex {
  return runAtOnce(broughtUp(memories));
}

/** The same in slices: the words of 100,000 memories take seconds. What is taken in meanwhile is in it, too. */
export async function answerIndexInSlices(
  memories: ReadonlyMap<string, Memory>,
  revision?: number,
): Promise<AnswerIndex> {
  const known = indexes.get(memories);
  const isNewest = revision !== undefined && known?.revision === revision;
  if (known && isNewest && known.held.size === memories.size) return known;
  await runInSlices(broughtUp(memories));
  // What changed behind the last slices is little.
  const index = runAtOnce(broughtUp(memories));
  index.revision = revision;
  return index;
}

function* broughtUp(memories: ReadonlyMap<string, Memory>): Generator<void, Kept, void> {
  let index = indexes.get(memories);
  if (!index) {
    index = emptyIndex();
    indexes.set(memories, index);
  }
  const { held } = index;
  for (const [id, memory] of memories) {
    if (held.get(id) === memory) continue;
    yield;
    // Somebody else may have brought it up meanwhile, or it is gone.
    if (memories.get(id) === memory) take(index, memory);
  }
  if (held.size > memories.size) {
    for (const [id, memory] of held) {
      if (memories.has(id)) continue;
      yield;
      if (held.get(id) === memory) takeOut(index, memory);
    }
  }
  return index;
}

function take(index: Kept, memory: Memory): void {
  const old = index.held.get(memory.id);
  if (old === memory) return;
  if (old) takeOut(index, old);
  else index.places.set(memory.id, index.places.size);
  putIn(index, memory);
}

function emptyIndex(): Kept {
  const places = new Map<string, number>();
  return {
    slots: new Map(),
    words: new Map(),
    sources: new Map(),
    means: new Set(),
    instructions: new Set(),
    places,
    held: new Map(),
    revision: undefined,
    place: ({ id }) => places.get(id) ?? 0,
  };
}

const MEANS = /^(?:in|with|on|via|through|using|by) |\b(?:for a living|for work|professionally)\b/;

function putIn(index: Kept, memory: Memory): void {
  index.held.set(memory.id, memory);
  for (const { message } of memory.sources) add(index.sources, message, memory);
  if (memory.kind === "instruction") index.instructions.add(memory);
  const { claim } = memory;
  if (!claim) return;
  const relations = index.slots.get(claim.subject) ?? new Map<string, Set<Memory>>();
  index.slots.set(claim.subject, relations);
  add(relations, claim.relation, memory);
  for (const word of bag(memory)) add(index.words, word, memory);
  if (MEANS.test(claim.qualifier ?? "")) index.means.add(memory);
}

function takeOut(index: Kept, memory: Memory): void {
  index.held.delete(memory.id);
  for (const { message } of memory.sources) drop(index.sources, message, memory);
  index.instructions.delete(memory);
  const { claim } = memory;
  if (!claim) return;
  const relations = index.slots.get(claim.subject);
  if (relations) drop(relations, claim.relation, memory);
  if (relations?.size === 0) index.slots.delete(claim.subject);
  for (const word of bag(memory)) drop(index.words, word, memory);
  index.means.delete(memory);
}

function add(index: Map<string, Set<Memory>>, key: string, memory: Memory): void {
  const held = index.get(key);
  if (held) held.add(memory);
  else index.set(key, new Set([memory]));
}

function drop(index: Map<string, Set<Memory>>, key: string, memory: Memory): void {
  const held = index.get(key);
  held?.delete(memory);
  if (held?.size === 0) index.delete(key);
}
