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
  /** 1 for a passage. */
  readonly isPassage: Uint8Array;
  /** The subject (in lower case) and the relation of a memory's claim, each as its place in `names`; or -1. */
  readonly subject: Int32Array;
  readonly relation: Int32Array;
  readonly names: ReadonlyMap<string, number>;
  /** By number; zeros where a unit has no vector of the embedder's space. */
  readonly vectors: VectorBlock;
  /** The memories of units by number, as they are now. */
  readonly memories: readonly (Memory | undefined)[];
  /** Which memories each message is a source of. */
  readonly said: Said;
  /** When the newest of all was said, in milliseconds. */
  readonly newest: number;
  /** The memories there are now; the same list as long as none changes. */
  readonly known: readonly Memory[];
  /**
   * A column of zeros to work in. The same memory serves under the same name at the next recall: fresh memory costs
   * more than the work that is done in it.
   */
  column(name: string, length: number): Float32Array;
}

interface Kept {
  space: string;
  revision: number;
  turns: GrowingTurns;
  units: (Unit | undefined)[];
  turn: Int32Array;
  isPassage: Uint8Array;
  subject: Int32Array;
  relation: Int32Array;
  names: Map<string, number>;
  vectors: VectorBlock;
  memories: (Memory | undefined)[];
  /** The units and memories in the order of the state's maps, as they were when last looked at. */
  seenUnits: Unit[];
  seenMemories: Memory[];
  said: Map<string, Set<string>>;
  newest: string;
  known: readonly Memory[];
  columns: Map<string, Float32Array>;
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
      isPassage: new Uint8Array(0),
      subject: new Int32Array(0),
      relation: new Int32Array(0),
      names: new Map(),
      vectors: vectorBlock(dimensions),
      memories: [],
      seenUnits: [],
      seenMemories: [],
      said: new Map(),
      newest: "",
      known: [],
      columns: new Map(),
    };
    kept.set(state, corpus);
  }
  if (corpus.revision !== state.revision) {
    follow(corpus, state);
    corpus.revision = state.revision;
  }
  const {
    space: _space,
    revision: _revision,
    seenUnits: _units,
    seenMemories: _memories,
    newest,
    columns,
    ...rest
  } = corpus;
  return {
    ...rest,
    text: state.text,
    slots: state.text.slots,
    newest: Date.parse(newest) || 0,
    column: (name, length) => columnOf(columns, name, length),
  };
}

function columnOf(columns: Map<string, Float32Array>, name: string, length: number): Float32Array {
  let column = columns.get(name);
  if (!column || column.length < length) {
    column = new Float32Array(Math.ceil(length * 1.5));
    columns.set(name, column);
  }
  return column.subarray(0, length).fill(0);
}

/**
 * Takes in what is new. States keep their maps in order and their values by identity, so one look along each map finds
 * what changed.
 */
function follow(corpus: Kept, state: UserState): void {
  corpus.turns.follow(state.messages);
  makeRoom(corpus, state.text.slots);
  const isSameOrder = followUnits(corpus, state);
  if (!isSameOrder) clearGone(corpus, state);
  let at = 0;
  for (const memory of state.memories.values()) {
    if (corpus.seenMemories[at] !== memory) {
      corpus.seenMemories[at] = memory;
      const slot = state.text.slot(memory.id);
      if (slot !== undefined && corpus.isPassage[slot] === 0) followMemory(corpus, slot, memory);
    }
    at += 1;
  }
  corpus.seenMemories.length = at;
  corpus.known = [...corpus.seenMemories];
}

/** Gives whether every unit seen before stands where it stood; then none is gone. */
function followUnits(corpus: Kept, state: UserState): boolean {
  let at = 0;
  let isSameOrder = true;
  for (const unit of state.units.values()) {
    const seen = corpus.seenUnits[at];
    if (seen !== unit) {
      if (seen && seen.id !== unit.id) isSameOrder = false;
      corpus.seenUnits[at] = unit;
      const slot = state.text.slot(unit.id);
      if (slot !== undefined && corpus.units[slot] !== unit) place(corpus, slot, unit, state);
    }
    at += 1;
  }
  if (corpus.seenUnits.length !== at) isSameOrder = false;
  corpus.seenUnits.length = at;
  return isSameOrder;
}

function clearGone(corpus: Kept, state: UserState): void {
  for (const [slot, unit] of corpus.units.entries()) {
    if (unit && state.text.slot(unit.id) !== slot) clear(corpus, slot);
  }
}

function place(corpus: Kept, slot: number, unit: Unit, state: UserState): void {
  corpus.units[slot] = unit;
  corpus.isPassage[slot] = unit.type === "passage" ? 1 : 0;
  const hasVector = unit.space === corpus.space && unit.vector.length === corpus.vectors.dimensions;
  corpus.vectors.set(slot, hasVector ? unit.vector : undefined);
  if (unit.type === "passage") followPassage(corpus, slot, state.messages.get(unit.owner));
  else followMemory(corpus, slot, state.memories.get(unit.owner));
}

function followPassage(corpus: Kept, slot: number, message: Message | undefined): void {
  setMemory(corpus, slot, undefined);
  corpus.turn[slot] = message ? (corpus.turns.place.get(message.id) ?? -1) : -1;
  if (message && message.at > corpus.newest) corpus.newest = message.at;
}

/** A merge gives a memory another source, and with it another turn, while its unit may stay as it is. */
function followMemory(corpus: Kept, slot: number, memory: Memory | undefined): void {
  if (corpus.memories[slot] === memory) return;
  setMemory(corpus, slot, memory);
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

function setMemory(corpus: Kept, slot: number, memory: Memory | undefined): void {
  corpus.memories[slot] = memory;
  corpus.subject[slot] = memory?.claim ? numberOf(corpus.names, memory.claim.subject.toLowerCase()) : -1;
  corpus.relation[slot] = memory?.claim ? numberOf(corpus.names, memory.claim.relation) : -1;
}

function numberOf(names: Map<string, number>, name: string): number {
  const number = names.get(name) ?? names.size;
  names.set(name, number);
  return number;
}

function clear(corpus: Kept, slot: number): void {
  if (!corpus.units[slot]) return;
  corpus.units[slot] = undefined;
  corpus.isPassage[slot] = 0;
  setMemory(corpus, slot, undefined);
  corpus.turn[slot] = -1;
  corpus.vectors.set(slot, undefined);
}

/** Grows the arrays by half at a time, so that a unit more does not copy all the others. */
function makeRoom(corpus: Kept, slots: number): void {
  if (corpus.turn.length >= slots) return;
  const room = Math.max(slots, Math.ceil(corpus.turn.length * 1.5), 64);
  const grown = (old: Int32Array): Int32Array => {
    const array = new Int32Array(room).fill(-1);
    array.set(old);
    return array;
  };
  corpus.turn = grown(corpus.turn);
  corpus.subject = grown(corpus.subject);
  corpus.relation = grown(corpus.relation);
  const isPassage = new Uint8Array(room);
  isPassage.set(corpus.isPassage);
  corpus.isPassage = isPassage;
}
