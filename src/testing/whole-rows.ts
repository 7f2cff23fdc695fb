import { canonical } from "../domain/canonical.ts";
import type { Record } from "../ports/record.ts";
import { ORDERED_PARTS, WHOLE_PARTS, type Whole, type WholePart, type WholeRow } from "../ports/whole.ts";

type Rows = { readonly [part: string]: readonly unknown[] };

/** Everything that a record holds, part by part; rows that have no order of their own are put in one. */
export async function wholeRows(whole: Whole, limit = 1000): Promise<Rows> {
  const all: { [part: string]: readonly unknown[] } = {};
  for (const part of WHOLE_PARTS) {
    const rows: unknown[] = [];
    for await (const page of pages(whole, part, limit)) rows.push(...page.map(plain));
    all[part] = ORDERED_PARTS.has(part) ? rows : rows.map(canonical).toSorted();
  }
  return all;
}

/** Copies everything from one record into another, by pages of `limit` rows. */
export async function pour(from: Whole, to: Whole, limit = 1000): Promise<void> {
  await to.fill({ from: "there", part: "users", done: 0, of: 0 });
  for (const part of WHOLE_PARTS) {
    for await (const page of pages(from, part, limit)) await to.put(part, page);
  }
  await to.filled();
}

/** The whole of a record that has one. */
export function wholeOf({ whole, name }: Record): Whole {
  if (!whole) throw new Error(`the record "${name}" cannot be read or written whole`);
  return whole;
}

async function* pages<Part extends WholePart>(
  whole: Whole,
  part: Part,
  limit: number,
): AsyncIterable<readonly WholeRow<Part>[]> {
  if (!whole.parts.includes(part)) return;
  let after: string | undefined;
  do {
    const page = await whole.page(part, { limit, ...(after === undefined ? {} : { after }) });
    if (page.rows.length > 0) yield page.rows;
    after = page.cursor;
  } while (after !== undefined);
}

/** As JSON has it, with the numbers of a vector. */
function plain(row: object): unknown {
  if (!("unit" in row)) return JSON.parse(JSON.stringify(row));
  const { unit, ...rest } = row as WholeRow<"units">;
  return { ...rest, unit: { ...unit, vector: [...unit.vector] } };
}
