import { setImmediate } from "node:timers/promises";
import type { ChangeSet, ErasureChange, SearchUnit } from "../../../domain/change-set.ts";
import { createLogEntry } from "../../shared/stored-rows.ts";
import { decodeVector, encodeVector, type SqliteDatabase } from "../database.ts";

/** A row of a large erasure: a part that is applied by itself (from 1), or a row that completes it (below 0). */
export interface StagedErasureRow {
  readonly part: number;
  readonly body: string;
}

/** The row that begins the erasure. */
export const HEAD_PART = 0;
/** The rows that complete it; each is separate, because any of them may be long. */
export const LOG_ENTRY_PART: number = -1;
export const RECEIPT_PART: number = -2;
export const TRACE_PART: number = -3;

/**
 * The size of each part: ten to twenty milliseconds of work. The order matters: a memory is erased with its unit, so that no memory
 * is without one in between.
 */
const PART_SIZES = {
  digests: 125,
  memories: 125,
  dropUnits: 250,
  messages: 125,
  rewrites: 125,
  // Each may have megabytes to overwrite.
  attachments: 2,
  units: 100,
  tombstones: 250,
};

type StoredUnit = Omit<SearchUnit, "vector"> & { readonly vector: string };

/** A part in the form in which it is applied. */
type ErasurePart = Pick<ChangeSet, "digests" | "dropUnits" | "units" | "tombstones"> &
  Partial<Pick<ErasureChange, "messages" | "memories" | "rewrites" | "attachments">>;

/** The rows of an erasure, each created on demand. */
export async function* generateStagedRows(
  changes: ChangeSet & Required<Pick<ChangeSet, "erase">>,
): AsyncGenerator<StagedErasureRow> {
  const { erase, base, digests = [], dropUnits = [], units = [], tombstones = [] } = changes;
  const { messages, memories, rewrites, attachments = [], receipt, trace } = erase;
  let part = 0;
  const lists = { digests, dropUnits, messages, memories, rewrites, attachments, units, tombstones };
  for (const [name, size] of Object.entries(PART_SIZES) as [keyof typeof PART_SIZES, number][]) {
    const items: readonly unknown[] = lists[name];
    for (let from = 0; from < items.length; from += size) {
      part += 1;
      const slice = items.slice(from, from + size);
      yield {
        part,
        body: JSON.stringify({
          [name]: name === "units" ? (slice as SearchUnit[]).map(toStoredUnit) : slice,
        }),
      };
      await setImmediate();
    }
  }
  yield { part: LOG_ENTRY_PART, body: await stringifyInSlices(createLogEntry(base + 1, changes)) };
  yield { part: RECEIPT_PART, body: await stringifyInSlices(receipt) };
  if (trace) yield { part: TRACE_PART, body: await stringifyInSlices(trace) };
}

function toStoredUnit({ vector, ...unit }: SearchUnit): StoredUnit {
  return { ...unit, vector: Buffer.from(encodeVector(vector)).toString("base64") };
}

export function parseErasurePart(body: string): ErasurePart {
  const { units, ...part } = JSON.parse(body) as Omit<ErasurePart, "units"> & { units?: StoredUnit[] };
  if (!units) return part;
  return {
    ...part,
    units: units.map((unit) => ({ ...unit, vector: decodeVector(Buffer.from(unit.vector, "base64")) })),
  };
}

const SLICE_ITEMS = 500;

/** The same as `JSON.stringify` for an object with long lists, but in slices that do not block the event loop. */
export async function stringifyInSlices(value: object): Promise<string> {
  const fields: string[] = [];
  for (const [name, field] of Object.entries(value) as [string, unknown][]) {
    if (field === undefined) continue;
    const body = Array.isArray(field) ? await stringifyListInSlices(field) : JSON.stringify(field);
    fields.push(`${JSON.stringify(name)}:${body}`);
  }
  return `{${fields.join(",")}}`;
}

async function stringifyListInSlices(list: readonly unknown[]): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < list.length; from += SLICE_ITEMS) {
    if (from > 0) await setImmediate();
    parts.push(JSON.stringify(list.slice(from, from + SLICE_ITEMS)).slice(1, -1));
  }
  return `[${parts.join(",")}]`;
}

/** Whether an erasure of a user is in progress. */
export function isErasureUnderWay(database: SqliteDatabase, user: number): boolean {
  const sql = "SELECT 1 FROM erasing WHERE user = :user AND part = 0";
  return database.statement(sql).get({ user }) !== undefined;
}
