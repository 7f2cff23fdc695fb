import { bytesOfColumns, ensureCapacity } from "./columns.ts";

type I32 = Int32Array<ArrayBuffer>;

/** One place per search unit, by its slot. */
export interface UnitColumns {
  /** The turn that it is from, or -1: of a passage its message, of a memory the newest of its sources. */
  turn: I32;
  /** The row of its memory, or -1 for a passage and for what is gone. */
  row: I32;
  /** Of a passage: its number in the message, its span in characters, and the message's next passage or -1. */
  piece: I32;
  start: I32;
  end: I32;
  nextOfTurn: I32;
  /** What two texts that say the same have in common. */
  key: I32;
  [name: string]: I32;
}

export interface UnitTable {
  /** One more than the highest slot. */
  count: number;
  readonly columns: UnitColumns;
}

export function createUnitTable(): UnitTable {
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

export function addUnitSlot(units: UnitTable): number {
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

export function bytesOfUnits({ columns }: UnitTable): number {
  return bytesOfColumns(columns);
}
