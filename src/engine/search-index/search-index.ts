import type { SearchUnit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Delta } from "../../ports/memory-store.ts";
import {
  bytesOfColumns,
  collectNumbers,
  createIdColumn,
  createNameTable,
  ensureCapacity,
  type IdColumn,
  type NameTable,
} from "./columns.ts";
import {
  addMemoryRow,
  bytesOfMemories,
  clearMemoryRow,
  createMemoryTable,
  type MemoryTable,
  newestTurnOf,
  putMemory,
} from "./memory-table.ts";
import {
  bytesOfTurns,
  createTurnTable,
  putTurn,
  TURN_FLAGS,
  type TurnPhrases,
  type TurnTable,
  turnOf,
} from "./turn-table.ts";
import { createVectorCodes, type VectorCodes } from "./vector-codes.ts";
import { createWordIndex, hashTerm, type WordIndex } from "./word-index.ts";

/**
 * The search data of one user, in columns: a few hundred bytes for each unit, no texts. It is updated in
 * place, revision by revision, and can be saved and loaded (`serializeIndex`). Results are read from the
 * store by id.
 */
export interface SearchIndex {
  /** The revision that it has reached. */
  revision: number;
  /** The embedder's space of its vectors. */
  readonly space: string;
  readonly names: NameTable;
  readonly turns: TurnTable;
  readonly memories: MemoryTable;
  readonly units: UnitTable;
  readonly words: WordIndex;
  readonly vectors: VectorCodes;
  /** By row. */
  readonly memoryIds: IdColumn;
  /** By row: the slot of its unit, or -1. */
  readonly slotOfRow: number[];
  /** Rows by memory id; built on first use. */
  rowById: Map<string, number> | undefined;
  /** Numbers of names that are speakers or subjects of memories. */
  readonly speakers: Set<number>;
  readonly subjects: Set<number>;
  /** By number of a relation, the rows of memories that have it, or had it. */
  readonly relations: Map<number, number[]>;
  /** Slots of deleted units. */
  readonly deadSlots: number[];
  /** Time of the newest statement, in milliseconds. */
  newest: number;
  /**
   * Count of vectors replaced, or removed by `scrubIndex`: values derived from all vectors are then
   * recomputed.
   */
  vectorsChanged: number;
  /**
   * The mean of its vectors (`meanVectorOf`) when it was saved, each unit's product with it, and the number
   * of units then.
   */
  storedMean: StoredMean | undefined;
  /** Units added since it was last saved. */
  unsavedUnits: number;
  /** True once its vectors have been freed; then it must not be searched. */
  isReleased: boolean;
}

export interface EmbeddingSpace {
  readonly fingerprint: string;
  readonly dimensions: number;
}

interface StoredMean {
  readonly mean: Float32Array;
  readonly along: Float32Array<ArrayBuffer>;
  readonly count: number;
}

export function createSearchIndex({ fingerprint, dimensions }: EmbeddingSpace): SearchIndex {
  return {
    revision: 0,
    space: fingerprint,
    names: createNameTable(),
    turns: createTurnTable(),
    memories: createMemoryTable(),
    units: createUnitTable(),
    words: createWordIndex(),
    vectors: createVectorCodes(dimensions),
    memoryIds: createIdColumn(),
    slotOfRow: [],
    rowById: undefined,
    speakers: new Set(),
    subjects: new Set(),
    relations: new Map(),
    deadSlots: [],
    newest: 0,
    vectorsChanged: 0,
    storedMean: undefined,
    unsavedUnits: 0,
    isReleased: false,
  };
}

/** Applies the changes since the index's revision. Applying the same delta twice changes nothing. */
export function applyIndexDelta(searchIndex: SearchIndex, delta: Delta, phrases: TurnPhrases): void {
  const steps = applyIndexDeltaSteps(searchIndex, delta, phrases);
  while (!steps.next().done);
}

/** The same, step by step: until it is done, the index has no valid revision and must not be searched. */
export function* applyIndexDeltaSteps(
  searchIndex: SearchIndex,
  delta: Delta,
  phrases: TurnPhrases,
): Generator<undefined, void> {
  for (const id of delta.gone.units) {
    removeUnit(searchIndex, id);
    yield;
  }
  for (const id of delta.gone.memories) {
    removeMemory(searchIndex, id);
    yield;
  }
  for (const message of delta.messages) {
    putTurn(searchIndex.turns, searchIndex.names, message, phrases);
    addNumber(searchIndex.speakers, searchIndex.turns.columns.speaker[message.turn - 1]);
    searchIndex.newest = Math.max(searchIndex.newest, Date.parse(message.at));
    yield;
  }
  for (const unit of delta.units) {
    if (unit.type === "passage") indexPassage(searchIndex, unit);
    else
      putUnit(searchIndex, unit, slotOfMemory(searchIndex, unit.owner), getOrAddRow(searchIndex, unit.owner));
    yield;
  }
  for (const memory of delta.memories) {
    indexMemory(searchIndex, memory);
    yield;
  }
  searchIndex.unsavedUnits += delta.units.length;
  searchIndex.revision = delta.revision;
}

function removeMemory(searchIndex: SearchIndex, id: string): void {
  const row = rowOfMemory(searchIndex, id);
  if (row < 0) return;
  killSlot(searchIndex, searchIndex.slotOfRow[row] as number);
  clearMemoryRow(searchIndex.memories, row);
  searchIndex.memoryIds.clear(row);
  searchIndex.rowById?.delete(id);
}

/** The slot of a memory's unit, or -1. */
export function slotOfMemory(searchIndex: SearchIndex, id: string): number {
  const row = rowOfMemory(searchIndex, id);
  return row < 0 ? -1 : (searchIndex.slotOfRow[row] as number);
}

/** The slot of a unit, memory or passage; undefined if it does not exist. */
export function slotOfUnit(searchIndex: SearchIndex, id: string): number | undefined {
  const memory = slotOfMemory(searchIndex, id);
  if (memory >= 0) return memory;
  const turn = turnOf(searchIndex.turns, id.slice(0, Math.max(0, id.lastIndexOf("#"))));
  if (turn < 0) return undefined;
  const piece = pieceOf(id);
  return findPassageSlots(searchIndex, turn).find((slot) => searchIndex.units.columns.piece[slot] === piece);
}

/** The id of the unit in a slot. */
export function unitIdAt({ units, turns, memoryIds }: SearchIndex, slot: number): string {
  const { row, turn, piece } = units.columns;
  const memory = row[slot] as number;
  if (memory >= 0) return memoryIds.at(memory) as string;
  return `${turns.ids.at(turn[slot] as number)}#${piece[slot]}`;
}

/** Ids of the passages of a message. */
export function passageIdsOf(searchIndex: SearchIndex, message: string): string[] {
  const turn = turnOf(searchIndex.turns, message);
  return turn < 0 ? [] : findPassageSlots(searchIndex, turn).map((slot) => unitIdAt(searchIndex, slot));
}

export function isPassage({ units }: SearchIndex, slot: number): boolean {
  return (units.columns.piece[slot] as number) >= 0;
}

/** Approximate memory use. */
export function bytesOfIndex({ turns, memories, units, words, vectors, memoryIds }: SearchIndex): number {
  return (
    bytesOfTurns(turns) +
    bytesOfMemories(memories) +
    bytesOfUnits(units) +
    words.bytes +
    vectors.bytes +
    memoryIds.count * 72
  );
}

export function releaseIndex(searchIndex: SearchIndex): void {
  searchIndex.isReleased = true;
  searchIndex.vectors.release();
}

/** The row of a memory, or -1. */
export function rowOfMemory(searchIndex: SearchIndex, id: string): number {
  if (id === "") return -1;
  searchIndex.rowById ??= new Map(searchIndex.memoryIds.all().map((known, row) => [known, row]));
  return searchIndex.rowById.get(id) ?? -1;
}

function getOrAddRow(searchIndex: SearchIndex, id: string): number {
  const known = rowOfMemory(searchIndex, id);
  if (known >= 0) return known;
  const row = addMemoryRow(searchIndex.memories);
  searchIndex.memoryIds.add(id);
  searchIndex.slotOfRow[row] = -1;
  searchIndex.rowById?.set(id, row);
  return row;
}

function indexMemory(searchIndex: SearchIndex, memory: Memory): void {
  const row = getOrAddRow(searchIndex, memory.id);
  const before = searchIndex.memories.columns.relation[row];
  putMemory(searchIndex.memories, row, memory, searchIndex);
  const now = searchIndex.memories.columns.relation[row];
  if (now !== before) addRelationRow(searchIndex.relations, now, row);
  addNumber(searchIndex.subjects, searchIndex.memories.columns.subject[row]);
  const slot = searchIndex.slotOfRow[row] as number;
  // A merge gives a memory another source and so another turn, while its unit may stay the same.
  if (slot >= 0) searchIndex.units.columns.turn[slot] = newestTurnOf(searchIndex.memories, row);
  searchIndex.newest = Math.max(searchIndex.newest, Date.parse(memory.at));
}

/** Adds a row to those of a relation. */
export function addRelationRow(rows: Map<number, number[]>, relation: number | undefined, row: number): void {
  if (relation === undefined || relation < 0) return;
  const known = rows.get(relation);
  if (known) known.push(row);
  else rows.set(relation, [row]);
}

function addNumber(numbers: Set<number>, number: number | undefined): void {
  if (number !== undefined && number >= 0) numbers.add(number);
}

function indexPassage(searchIndex: SearchIndex, unit: SearchUnit): void {
  const turn = turnOf(searchIndex.turns, unit.owner);
  if (turn < 0) return;
  const piece = pieceOf(unit.id);
  const existing =
    findPassageSlots(searchIndex, turn).find((slot) => searchIndex.units.columns.piece[slot] === piece) ?? -1;
  const slot = putUnit(searchIndex, unit, existing, -1);
  const { columns } = searchIndex.units;
  columns.piece[slot] = piece;
  columns.start[slot] = unit.start;
  columns.end[slot] = unit.end;
  if (slot === existing) return;
  columns.turn[slot] = turn;
  const { passage, flags } = searchIndex.turns.columns;
  if ((passage[turn] as number) >= 0) flags[turn] = (flags[turn] as number) | TURN_FLAGS.pieces;
  columns.nextOfTurn[slot] = passage[turn] as number;
  passage[turn] = slot;
}

/** Puts a unit in place of the one in a slot, or in a new slot (-1); gives its slot. */
function putUnit(searchIndex: SearchIndex, unit: SearchUnit, slotInUse: number, row: number): number {
  const key = hashTerm(unit.terms) | 0;
  const vector =
    unit.space === searchIndex.space && unit.vector.length === searchIndex.vectors.dimensions
      ? unit.vector
      : undefined;
  // The same words with another vector: embedded again.
  if (slotInUse >= 0 && searchIndex.units.columns.key[slotInUse] === key) {
    searchIndex.vectors.set(slotInUse, vector);
    searchIndex.vectorsChanged += 1;
    return slotInUse;
  }
  if (slotInUse >= 0) killSlot(searchIndex, slotInUse);
  const slot = addUnitSlot(searchIndex.units);
  const { columns } = searchIndex.units;
  columns.key[slot] = key;
  columns.row[slot] = row;
  if (row >= 0) {
    searchIndex.slotOfRow[row] = slot;
    columns.turn[slot] = newestTurnOf(searchIndex.memories, row);
  }
  searchIndex.words.add(slot, unit.terms === "" ? [] : unit.terms.split(" "));
  searchIndex.vectors.set(slot, vector);
  return slot;
}

function removeUnit(searchIndex: SearchIndex, id: string): void {
  const slot = slotOfUnit(searchIndex, id);
  if (slot !== undefined) killSlot(searchIndex, slot);
}

function killSlot(searchIndex: SearchIndex, slot: number): void {
  if (slot < 0 || !searchIndex.words.isAlive(slot)) return;
  const { row, turn, piece, start, end, nextOfTurn, key } = searchIndex.units.columns;
  searchIndex.words.markDead(slot);
  searchIndex.vectors.set(slot, undefined);
  searchIndex.deadSlots.push(slot);
  if ((row[slot] as number) >= 0) searchIndex.slotOfRow[row[slot] as number] = -1;
  else {
    const { passage } = searchIndex.turns.columns;
    const at = turn[slot] as number;
    if (passage[at] === slot) passage[at] = nextOfTurn[slot] as number;
    else {
      const before = findPassageSlots(searchIndex, at).find((one) => nextOfTurn[one] === slot);
      if (before !== undefined) nextOfTurn[before] = nextOfTurn[slot] as number;
    }
  }
  for (const column of [row, turn, piece, nextOfTurn]) column[slot] = -1;
  for (const column of [start, end, key]) column[slot] = 0;
}

function findPassageSlots({ turns, units }: SearchIndex, turn: number): number[] {
  const slots: number[] = [];
  for (
    let slot = turns.columns.passage[turn] as number;
    slot >= 0;
    slot = units.columns.nextOfTurn[slot] as number
  ) {
    slots.push(slot);
  }
  return slots;
}

/** "m1#2" -> 2 */
function pieceOf(id: string): number {
  return Number(id.slice(id.lastIndexOf("#") + 1)) || 0;
}

type I32 = Int32Array<ArrayBuffer>;

/** One position per search unit, by its slot. */
interface UnitColumns {
  /** The unit's turn, or -1: a passage has that of its message, a memory that of its newest source. */
  turn: I32;
  /** The row of its memory, or -1 for a passage and for a deleted unit. */
  row: I32;
  /**
   * For a passage: its number in the message, its span in characters, and the message's next passage or -1.
   */
  piece: I32;
  start: I32;
  end: I32;
  nextOfTurn: I32;
  /** Equal for two texts that say the same. */
  key: I32;
  [name: string]: I32;
}

interface UnitTable {
  /** One more than the highest slot. */
  count: number;
  readonly columns: UnitColumns;
}

function createUnitTable(): UnitTable {
  const i32 = (): I32 => new Int32Array(0);
  return {
    count: 0,
    columns: {
      turn: i32(),
      row: i32(),
      piece: i32(),
      start: i32(),
      end: i32(),
      nextOfTurn: i32(),
      key: i32(),
    },
  };
}

function addUnitSlot(units: UnitTable): number {
  const slot = units.count;
  units.count = slot + 1;
  ensureCapacity(units.columns, units.count);
  const { columns } = units;
  columns.turn[slot] = -1;
  columns.row[slot] = -1;
  columns.piece[slot] = -1;
  columns.nextOfTurn[slot] = -1;
  return slot;
}

function bytesOfUnits({ columns }: UnitTable): number {
  return bytesOfColumns(columns);
}

/**
 * Removes the traces of deleted units and memories from an index: the hashes of their words, names without
 * other uses, and their part of the vector mean. Other units keep their slots and rows, and searches give the
 * same results.
 */
export function scrubIndex(searchIndex: SearchIndex): void {
  const { turns, memories, units, names } = searchIndex;
  searchIndex.words.pack(units.count);
  const { speaker, agent, sessionId } = turns.columns;
  const { subject, relation, session, agent: by } = memories.columns;
  const ofTurns = [speaker, agent, sessionId].map((column) => column.subarray(0, turns.count));
  const ofMemories = [subject, relation, session, by].map((column) => column.subarray(0, memories.count));
  names.retain(collectNumbers(names.all.length, ...ofTurns, ...ofMemories));
  refillSet(searchIndex.speakers, collectNumbers(names.all.length, speaker.subarray(0, turns.count)));
  refillSet(searchIndex.subjects, collectNumbers(names.all.length, subject.subarray(0, memories.count)));
  searchIndex.relations.clear();
  for (let row = 0; row < memories.count; row += 1) addRelationRow(searchIndex.relations, relation[row], row);
  searchIndex.newest = Math.max(
    latestOf(turns.columns.at, turns.count),
    latestOf(memories.columns.at, memories.count),
  );
  searchIndex.storedMean = undefined;
  searchIndex.vectorsChanged += 1;
}

function refillSet(set: Set<number>, numbers: ReadonlySet<number>): void {
  set.clear();
  for (const number of numbers) set.add(number);
}

/** 0 if there is none, as in an empty index. */
function latestOf(times: Float64Array, count: number): number {
  let newest = 0;
  for (let i = 0; i < count; i += 1) newest = Math.max(newest, times[i] as number);
  return newest;
}

/**
 * The mean is computed from this many units at even distances, or filled up with zeros, because few units
 * have little in common.
 */
const MAX_SAMPLED = 1024;
const PRIOR_ZEROS = 4;

/** The mean of all vectors of an index. */
export function meanVectorOf({ vectors, units, words }: SearchIndex): Float32Array<ArrayBuffer> {
  const sum = new Float32Array(vectors.dimensions);
  const step = Math.max(1, units.count / MAX_SAMPLED);
  let sampled = PRIOR_ZEROS;
  for (let at = 0; at < units.count; at += step) {
    const slot = Math.floor(at);
    if (!words.isAlive(slot)) continue;
    vectors.addTo(sum, slot);
    sampled += 1;
  }
  return sum.map((part) => part / sampled);
}
