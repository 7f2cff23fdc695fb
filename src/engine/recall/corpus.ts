import type { Unit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { TextIndex } from "../../domain/text-index.ts";
import type { Embedder } from "../../ports/embedder.ts";
import type { UserState } from "../user-state.ts";
import type { Said } from "./standing.ts";
import { type GrowingTurns, type Turns, turnsOf } from "./turns.ts";
import { type VectorBlock, vectorBlock } from "./vector-block.ts";

/** All that can be found of one user, laid out for ranking: a place per unit, numbered as in the text index. */
export interface Corpus {
  readonly text: TextIndex;
  readonly turns: Turns;
  /** One more than the highest number of a unit. */
  readonly slots: number;
  /** By number; undefined where there is none. */
  readonly units: readonly (Unit | undefined)[];
  /** The turn that a unit is from, or -1: of a passage its message, of a memory the newest of its sources. */
  readonly turn: Int32Array;
  /** By number; zeros where a unit has no vector of the embedder's space. */
  readonly vectors: VectorBlock;
  /** Which memories each message is a source of. */
  readonly said: Said;
  /** When the newest of all was said, in milliseconds. */
  readonly newest: number;
}

interface Kept {
  space: string;
  revision: number;
  turns: GrowingTurns;
  units: (Unit | undefined)[];
  turn: Int32Array;
  vectors: VectorBlock;
  memories: (Memory | undefined)[];
  said: Map<string, Set<string>>;
  newest: string;
}

const kept = new WeakMap<UserState, Kept>();

/**
 * The corpus of a state, kept as long as the state lives and brought up to date where the state has a new revision:
 * that costs a look at each unit, and work only for those that changed.
 */
export function corpusOf(state: UserState, embedder: Pick<Embedder, "fingerprint" | "dimensions">): Corpus {
  const { fingerprint, dimensions } = embedder;
  let corpus = kept.get(state);
  if (!corpus || corpus.space !== fingerprint) {
    corpus = {
      space: fingerprint,
      revision: -1,
      turns: turnsOf(),
      units: [],
      turn: new Int32Array(0),
      vectors: vectorBlock(dimensions),
      memories: [],
      said: new Map(),
      newest: "",
    };
    kept.set(state, corpus);
  }
  if (corpus.revision !== state.revision) {
    follow(corpus, state);
    corpus.revision = state.revision;
  }
  const { turns, units, turn, vectors, said } = corpus;
  const newest = Date.parse(corpus.newest) || 0;
  return { text: state.text, turns, slots: state.text.slots, units, turn, vectors, said, newest };
}

function follow(corpus: Kept, state: UserState): void {
  corpus.turns.follow(state.messages);
  makeRoom(corpus, state.text.slots);
  const live = new Uint8Array(state.text.slots);
  for (const [id, unit] of state.units) {
    const slot = state.text.slot(id);
    if (slot === undefined) continue;
    live[slot] = 1;
    if (unit.type === "memory") followMemory(corpus, slot, state.memories.get(unit.owner));
    if (corpus.units[slot] === unit) continue;
    if (unit.type === "passage") followPassage(corpus, slot, state.messages.get(unit.owner));
    place(corpus, slot, unit);
  }
  for (let slot = 0; slot < corpus.units.length; slot += 1) {
    if (live[slot] !== 1) clear(corpus, slot);
  }
}

function place(corpus: Kept, slot: number, unit: Unit): void {
  corpus.units[slot] = unit;
  const hasVector = unit.space === corpus.space && unit.vector.length === corpus.vectors.dimensions;
  corpus.vectors.set(slot, hasVector ? unit.vector : undefined);
}

function followPassage(corpus: Kept, slot: number, message: Message | undefined): void {
  corpus.memories[slot] = undefined;
  corpus.turn[slot] = message ? (corpus.turns.place.get(message.id) ?? -1) : -1;
  if (message && message.at > corpus.newest) corpus.newest = message.at;
}

/** A merge gives a memory another source, and with it another turn, while its unit may stay as it is. */
function followMemory(corpus: Kept, slot: number, memory: Memory | undefined): void {
  if (corpus.memories[slot] === memory) return;
  corpus.memories[slot] = memory;
  corpus.turn[slot] = -1;
  if (!memory) return;
  if (memory.at > corpus.newest) corpus.newest = memory.at;
  for (const { message } of memory.sources) {
    const ids = corpus.said.get(message);
    if (ids) ids.add(memory.id);
    else corpus.said.set(message, new Set([memory.id]));
    corpus.turn[slot] = Math.max(corpus.turn[slot] ?? -1, corpus.turns.place.get(message) ?? -1);
  }
}

function clear(corpus: Kept, slot: number): void {
  if (!corpus.units[slot]) return;
  corpus.units[slot] = undefined;
  corpus.memories[slot] = undefined;
  corpus.turn[slot] = -1;
  corpus.vectors.set(slot, undefined);
}

/** Grows the arrays by half at a time, so that a unit more does not copy all the others. */
function makeRoom(corpus: Kept, slots: number): void {
  if (corpus.turn.length >= slots) return;
  const room = Math.max(slots, Math.ceil(corpus.turn.length * 1.5), 64);
  const turn = new Int32Array(room).fill(-1);
  turn.set(corpus.turn);
  corpus.turn = turn;
}
