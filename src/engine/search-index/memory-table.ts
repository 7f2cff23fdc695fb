import { MEMORY_KINDS, type Memory } from "../../domain/memory.ts";
import { bytesOfColumns, ensureCapacity, type NameTable } from "./columns.ts";
import { type TurnTable, turnOf } from "./turn-table.ts";

/** Properties of a memory, as bits of `flags`. */
export const MEMORY_FLAGS = { quarantined: 1, succeeded: 2, sensitive: 4, archived: 8 } as const;

export const STATUSES = ["current", "superseded", "retracted"] as const;

type F64 = Float64Array<ArrayBuffer>;
type F32 = Float32Array<ArrayBuffer>;
type I32 = Int32Array<ArrayBuffer>;
type U8 = Uint8Array<ArrayBuffer>;

/** One row per memory. Times are milliseconds since 1970, or NaN. */
interface MemoryColumns {
  at: F64;
  storedAt: F64;
  validFrom: F64;
  validTo: F64;
  expiresAt: F64;
  when: F64;
  confidence: F32;
  importance: F32;
  evidence: F32;
  /** Numbers of names, or -1: the subject in lower case, the relation, session and agent. */
  subject: I32;
  relation: I32;
  session: I32;
  agent: I32;
  /** The first of its sources, or -1. */
  sources: I32;
  /** Positions in `STATUSES` and `KINDS`. */
  status: U8;
  kind: U8;
  flags: U8;
  [name: string]: F64 | F32 | I32 | U8;
}

/** Spans of messages that memories were read from. Row -1 marks an unused one. */
interface SourceColumns {
  row: I32;
  turn: I32;
  start: I32;
  end: I32;
  /** The next one of the same memory, and of the same turn; or -1. */
  nextOfRow: I32;
  nextOfTurn: I32;
  [name: string]: I32;
}

export interface MemoryTable {
  count: number;
  readonly columns: MemoryColumns;
  sourceCount: number;
  readonly sources: SourceColumns;
}

export function createMemoryTable(): MemoryTable {
  const f64 = (): F64 => new Float64Array(0);
  const f32 = (): F32 => new Float32Array(0);
  const i32 = (): I32 => new Int32Array(0);
  const u8 = (): U8 => new Uint8Array(0);
  return {
    count: 0,
    columns: {
      at: f64(),
      storedAt: f64(),
      validFrom: f64(),
      validTo: f64(),
      expiresAt: f64(),
      when: f64(),
      confidence: f32(),
      importance: f32(),
      evidence: f32(),
      subject: i32(),
      relation: i32(),
      session: i32(),
      agent: i32(),
      sources: i32(),
      status: u8(),
      kind: u8(),
      flags: u8(),
    },
    sourceCount: 0,
    sources: { row: i32(), turn: i32(), start: i32(), end: i32(), nextOfRow: i32(), nextOfTurn: i32() },
  };
}

/** Adds a row for one memory. */
export function addMemoryRow(memories: MemoryTable): number {
  const row = memories.count;
  memories.count = row + 1;
  ensureCapacity(memories.columns, memories.count);
  memories.columns.sources[row] = -1;
  memories.columns.subject[row] = -1;
  memories.columns.relation[row] = -1;
  return row;
}

/** Writes a version of a memory into its row and replaces the old content. */
export function putMemory(
  memories: MemoryTable,
  row: number,
  memory: Memory,
  { names, turns }: { names: NameTable; turns: TurnTable },
): void {
  const { columns } = memories;
  const time = (text: string | undefined): number => (text === undefined ? Number.NaN : Date.parse(text));
  columns.at[row] = time(memory.at);
  columns.storedAt[row] = time(memory.storedAt);
  columns.validFrom[row] = time(memory.validFrom);
  columns.validTo[row] = time(memory.validTo);
  columns.expiresAt[row] = time(memory.expiresAt);
  columns.when[row] = time(memory.when);
  columns.confidence[row] = memory.confidence;
  columns.importance[row] = memory.importance;
  columns.evidence[row] = memory.evidence;
  columns.subject[row] = names.numberOf(memory.claim?.subject.toLowerCase());
  columns.relation[row] = names.numberOf(memory.claim?.relation);
  columns.session[row] = names.numberOf(memory.session);
  columns.agent[row] = names.numberOf(memory.agent);
  columns.status[row] = STATUSES.indexOf(memory.status);
  columns.kind[row] = MEMORY_KINDS.indexOf(memory.kind);
  columns.flags[row] =
    (memory.quarantined ? MEMORY_FLAGS.quarantined : 0) |
    (memory.supersededBy === undefined ? 0 : MEMORY_FLAGS.succeeded) |
    (memory.sensitive ? MEMORY_FLAGS.sensitive : 0) |
    (memory.archived ? MEMORY_FLAGS.archived : 0);
  putSources(memories, row, memory, turns);
}

/** Clears a memory's row: only its position remains. */
export function clearMemoryRow({ columns, sources }: MemoryTable, row: number): void {
  for (let place = columns.sources[row] as number; place >= 0; place = sources.nextOfRow[place] as number) {
    sources.start[place] = 0;
    sources.end[place] = 0;
  }
  clearSources({ columns, sources }, row);
  for (const column of Object.values(columns)) column[row] = 0;
  const { subject, relation, session, agent } = columns;
  for (const column of [subject, relation, session, agent, columns.sources]) column[row] = -1;
}

function putSources(memories: MemoryTable, row: number, memory: Memory, turns: TurnTable): void {
  clearSources(memories, row);
  // Prepended, so that the last source comes first; readers that need the order reverse it.
  for (const { message, start, end } of memory.sources) {
    const turn = turnOf(turns, message);
    if (turn < 0) continue;
    const place = memories.sourceCount;
    memories.sourceCount = place + 1;
    ensureCapacity(memories.sources, memories.sourceCount);
    const { sources } = memories;
    sources.row[place] = row;
    sources.turn[place] = turn;
    sources.start[place] = start;
    sources.end[place] = end;
    sources.nextOfRow[place] = memories.columns.sources[row] as number;
    sources.nextOfTurn[place] = turns.columns.sources[turn] as number;
    memories.columns.sources[row] = place;
    turns.columns.sources[turn] = place;
  }
}

function clearSources({ columns, sources }: Pick<MemoryTable, "columns" | "sources">, row: number): void {
  let place = columns.sources[row] as number;
  while (place >= 0) {
    sources.row[place] = -1;
    place = sources.nextOfRow[place] as number;
  }
  columns.sources[row] = -1;
}

/** The newest turn that a memory was read from, or -1. */
export function newestTurnOf({ columns, sources }: MemoryTable, row: number): number {
  let newest = -1;
  for (let place = columns.sources[row] as number; place >= 0; place = sources.nextOfRow[place] as number) {
    newest = Math.max(newest, sources.turn[place] as number);
  }
  return newest;
}

export function bytesOfMemories({ columns, sources }: MemoryTable): number {
  return bytesOfColumns(columns) + bytesOfColumns(sources);
}
