import { toCanonicalJson } from "../domain/canonical.ts";
import type { MemoryStore } from "../ports/record.ts";
import {
  DUMP_PARTS,
  type DumpPart,
  type DumpRow,
  ORDERED_DUMP_PARTS,
  type StoreDump,
} from "../ports/whole.ts";

type RowsByPart = { readonly [part: string]: readonly unknown[] };

/** Everything that a record holds, part by part; rows that have no order of their own are put in one. */
export async function readAllRows(whole: StoreDump, limit = 1000): Promise<RowsByPart> {
  const all: { [part: string]: readonly unknown[] } = {};
  for (const part of DUMP_PARTS) {
    const rows: unknown[] = [];
    for await (const page of iteratePages(whole, part, limit)) rows.push(...page.map(toPlainRow));
    all[part] = ORDERED_DUMP_PARTS.has(part) ? rows : rows.map(toCanonicalJson).toSorted();
  }
  return all;
}

/** Copies everything from one record into another, by pages of `limit` rows. */
export async function copyAll(from: StoreDump, to: StoreDump, limit = 1000): Promise<void> {
  await to.beginCopy({ from: "there", part: "users", done: 0, of: 0 });
  for (const part of DUMP_PARTS) {
    for await (const page of iteratePages(from, part, limit)) await to.putRows(part, page);
  }
  await to.finishCopy();
}

/** The whole of a record that has one. */
export function requireStoreDump({ dump: whole, name }: MemoryStore): StoreDump {
  if (!whole) throw new Error(`the record "${name}" cannot be read or written whole`);
  return whole;
}

async function* iteratePages<Part extends DumpPart>(
  whole: StoreDump,
  part: Part,
  limit: number,
): AsyncIterable<readonly DumpRow<Part>[]> {
  if (!whole.parts.includes(part)) return;
  let after: string | undefined;
  do {
    const page = await whole.page(part, { limit, ...(after === undefined ? {} : { after }) });
    if (page.rows.length > 0) yield page.rows;
    after = page.cursor;
  } while (after !== undefined);
}

/** As JSON has it, with the numbers of a vector. */
function toPlainRow(row: object): unknown {
  if (!("unit" in row)) return JSON.parse(JSON.stringify(row));
  const { unit, ...rest } = row as DumpRow<"units">;
  return { ...rest, unit: { ...unit, vector: [...unit.vector] } };
}
