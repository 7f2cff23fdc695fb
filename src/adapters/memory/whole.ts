import { MemoryError } from "../../errors.ts";
import {
  type Filling,
  PAGE_BYTES,
  WHOLE_PARTS,
  type Whole,
  type WholePart,
  type WholeParts,
  type WholeRow,
} from "../../ports/whole.ts";
import { putRow, type Room } from "./whole-put.ts";
import { rowsOf } from "./whole-rows.ts";

/** The record as a whole: rows are made of what is held, and the cursor is how many of them were given. */
export function heldWhole(room: Room, check: () => void): Whole {
  let filling: Filling | undefined;
  const isFilled = (): void => {
    check();
    if (!filling) throw new MemoryError("conflict", "this record is not being filled from another.");
  };
  const all = <Part extends WholePart>(part: Part): readonly WholeRow<Part>[] => {
    check();
    return rowsOf(room)[part]();
  };
  return {
    parts: WHOLE_PARTS.filter((part) => part !== "calls" && part !== "turns"),

    async counts() {
      const counts = WHOLE_PARTS.map((part) => [part, all(part).length]);
      return Object.fromEntries(counts) as { [Part in WholePart]: number };
    },

    async page(part, { after = "0", limit }) {
      const rows = all(part);
      const most = Math.min(Number(after) + limit, rows.length);
      let end = Number(after);
      for (let bytes = 0; end < most && bytes < PAGE_BYTES; end += 1)
        bytes += JSON.stringify(rows[end]).length;
      return structuredClone({
        rows: rows.slice(Number(after), end),
        ...(end < rows.length ? { cursor: String(end) } : {}),
      });
    },

    async filling() {
      check();
      return structuredClone(filling);
    },

    async fill(begun) {
      check();
      if (!filling && WHOLE_PARTS.some((part) => all(part).length > 0)) {
        throw new MemoryError("conflict", "this record holds something already. Take an empty one.");
      }
      room.clear(begun.from);
      filling = structuredClone(begun);
    },

    async put(part, rows) {
      isFilled();
      for (const row of structuredClone(rows)) putRow(room, part, row as WholeParts[WholePart]);
    },

    async noteFilling(note) {
      isFilled();
      filling = structuredClone(note);
    },

    async filled() {
      isFilled();
      filling = undefined;
    },
  };
}
