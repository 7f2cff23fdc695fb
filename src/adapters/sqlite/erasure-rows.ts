import { setImmediate } from "node:timers/promises";
import type { ChangeSet, Erasure, Unit } from "../../domain/change-set.ts";
import { entryOf } from "../shared/log-entry.ts";
import { blobOf, vectorOf } from "./rows.ts";

/** Something of a large erasure, as a row: a part that is carried out by itself, from 1; or what ends it, below 0. */
export interface Staged {
  readonly part: number;
  readonly body: string;
}

/** With this row it begins. */
export const HEAD = 0;
/** What ends it; each is a row of its own, for any of them may be long. */
export const ENTRY: number = -1;
export const RECEIPT: number = -2;
export const TRACE: number = -3;

/**
 * What one part holds: as much as is done in about ten milliseconds. In this order: a memory goes with its unit, so that none is
 * without one in between.
 */
const SIZES = {
  digests: 500,
  memories: 500,
  dropUnits: 1000,
  messages: 500,
  rewrites: 500,
  units: 200,
  tombstones: 1000,
};

type StoredUnit = Omit<Unit, "vector"> & { readonly vector: string };

/** A part, as it is carried out. */
export type ErasurePart = Pick<ChangeSet, "digests" | "dropUnits" | "units" | "tombstones"> &
  Partial<Pick<Erasure, "messages" | "memories" | "rewrites">>;

/** The rows of an erasure, each made when it is asked for. */
export async function* stagedRows(
  changes: ChangeSet & Required<Pick<ChangeSet, "erase">>,
): AsyncGenerator<Staged> {
  const { erase, base, digests = [], dropUnits = [], units = [], tombstones = [] } = changes;
  const { messages, memories, rewrites, receipt, trace } = erase;
  let part = 0;
  const all = { digests, dropUnits, messages, memories, rewrites, units, tombstones };
  for (const [name, size] of Object.entries(SIZES) as [keyof typeof SIZES, number][]) {
    const some: readonly unknown[] = all[name];
    for (let from = 0; from < some.length; from += size) {
      part += 1;
      const held = some.slice(from, from + size);
      yield {
        part,
        body: JSON.stringify({ [name]: name === "units" ? (held as Unit[]).map(stored) : held }),
      };
      await setImmediate();
    }
  }
  yield { part: ENTRY, body: await jsonInSlices(entryOf(base + 1, changes)) };
  yield { part: RECEIPT, body: await jsonInSlices(receipt) };
  if (trace) yield { part: TRACE, body: await jsonInSlices(trace) };
}

function stored({ vector, ...unit }: Unit): StoredUnit {
  return { ...unit, vector: Buffer.from(blobOf(vector)).toString("base64") };
}

export function erasurePartOf(body: string): ErasurePart {
  const { units, ...part } = JSON.parse(body) as Omit<ErasurePart, "units"> & { units?: StoredUnit[] };
  if (!units) return part;
  return {
    ...part,
    units: units.map((unit) => ({ ...unit, vector: vectorOf(Buffer.from(unit.vector, "base64")) })),
  };
}

const SLICE = 500;

/** The JSON of an object with long lists in it, in slices; what `JSON.stringify` gives. */
export async function jsonInSlices(value: object): Promise<string> {
  const fields: string[] = [];
  for (const [name, held] of Object.entries(value) as [string, unknown][]) {
    if (held === undefined) continue;
    const body = Array.isArray(held) ? await listInSlices(held) : JSON.stringify(held);
    fields.push(`${JSON.stringify(name)}:${body}`);
  }
  return `{${fields.join(",")}}`;
}

async function listInSlices(list: readonly unknown[]): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < list.length; from += SLICE) {
    if (from > 0) await setImmediate();
    parts.push(JSON.stringify(list.slice(from, from + SLICE)).slice(1, -1));
  }
  return `[${parts.join(",")}]`;
}
