import { MemoryError } from "../../errors.ts";
import {
  type CopyProgress,
  DUMP_PAGE_BYTES,
  DUMP_PARTS,
  type DumpPart,
  type DumpParts,
  type DumpRow,
  type StoreDump,
} from "../../ports/whole.ts";
import { type InMemoryStoreData, insertDumpRow } from "./whole-put.ts";
import { createDumpRows } from "./whole-rows.ts";

/** The record as a whole: rows are made of what is held, and the cursor is how many of them were given. */
export function createMemoryStoreDump(room: InMemoryStoreData, check: () => void): StoreDump {
  let filling: CopyProgress | undefined;
  const isFilled = (): void => {
    check();
    if (!filling) throw new MemoryError("conflict", "this record is not being filled from another.");
  };
  const all = <Part extends DumpPart>(part: Part): readonly DumpRow<Part>[] => {
    check();
    return createDumpRows(room)[part]();
  };
  return {
    parts: DUMP_PARTS.filter((part) => part !== "calls" && part !== "turns"),

    async counts() {
      const counts = DUMP_PARTS.map((part) => [part, all(part).length]);
      return Object.fromEntries(counts) as { [Part in DumpPart]: number };
    },

    async page(part, { after = "0", limit }) {
      const rows = all(part);
      const most = Math.min(Number(after) + limit, rows.length);
      let end = Number(after);
      for (let bytes = 0; end < most && bytes < DUMP_PAGE_BYTES; end += 1)
        bytes += JSON.stringify(rows[end]).length;
      return structuredClone({
        rows: rows.slice(Number(after), end),
        ...(end < rows.length ? { cursor: String(end) } : {}),
      });
    },

    async copyProgress() {
      check();
      return structuredClone(filling);
    },

    async beginCopy(begun) {
      check();
      if (!filling && DUMP_PARTS.some((part) => all(part).length > 0)) {
        throw new MemoryError("conflict", "this record holds something already. Take an empty one.");
      }
      room.clear(begun.from);
      filling = structuredClone(begun);
    },

    async putRows(part, rows) {
      isFilled();
      for (const row of structuredClone(rows)) insertDumpRow(room, part, row as DumpParts[DumpPart]);
    },

    async saveCopyProgress(note) {
      isFilled();
      filling = structuredClone(note);
    },

    async finishCopy() {
      isFilled();
      filling = undefined;
    },
  };
}
