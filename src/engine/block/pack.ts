import { yieldToEventLoop } from "../others-turn.ts";
import type { SearchIndex } from "./block.ts";
import type { ColumnSet, NumberArray } from "./columns.ts";
import {
  alignOffset,
  CODES_ARRAY,
  INDEX_FORMAT,
  type IndexHeader,
  IS_LITTLE_ENDIAN,
  MAGIC,
  SCALES_ARRAY,
} from "./format.ts";
import { meanVectorOf } from "./mean.ts";
import { encodeDeltas } from "./narrow.ts";
import { scrubIndex } from "./scrub.ts";

/** With more dead slots than this share, a block is built anew rather than kept. */
const MAX_DEAD_SHARE = 0.25;
const SLICE_MS = 3;

/** Whether so much of it is gone that it is better built anew. */
export function isMostlyDead({ deadSlots: dead, units }: SearchIndex): boolean {
  return dead.length > units.count * MAX_DEAD_SHARE;
}

/**
 * A block as it is now, as bytes, to be kept beside the record: a cache that can be rebuilt, without a trace of what is gone. Nothing
 * where much of it is gone, or where this machine's numbers have another order of bytes. Nobody waits for it, and others have their
 * turn in between.
 */
export async function serializeIndex(block: SearchIndex): Promise<Uint8Array | undefined> {
  const { header, arrays } = takeSnapshot(block) ?? {};
  if (!header || !arrays) return undefined;
  const kept: ReturnType<typeof toStoredArray>[] = [];
  let begun = performance.now();
  for (const [name, array] of arrays) {
    kept.push(toStoredArray(name, array));
    if (performance.now() - begun < SLICE_MS) continue;
    await yieldToEventLoop();
    begun = performance.now();
  }
  return joinParts(
    { ...header, arrays: kept.map(({ as }) => as) },
    kept.flatMap(({ parts }) => parts),
  );
}

interface IndexSnapshot {
  readonly header: Omit<IndexHeader, "arrays">;
  readonly arrays: readonly (readonly [name: string, array: NumberArray])[];
}

/** All of a block as it is now, apart from it: it may follow the record while this is packed. */
function takeSnapshot(block: SearchIndex): IndexSnapshot | undefined {
  const { turns, memories, units } = block;
  if (!IS_LITTLE_ENDIAN || isMostlyDead(block)) return undefined;
  scrubIndex(block);
  const ids = [turns.ids, block.memoryIds].map((one) => one.pack());
  const { codes, scales } = block.vectors.pack(units.count);
  const mean = meanVectorOf(block);
  const along = new Float32Array(units.count);
  block.vectors.dot(mean, units.count, along);
  const arrays: [string, NumberArray][] = [
    ...sliceColumns("turn", turns.columns, turns.count),
    ...sliceColumns("session", turns.sessions, turns.sessionCount),
    ...sliceColumns("memory", memories.columns, memories.count),
    ...sliceColumns("source", memories.sources, memories.sourceCount),
    ...sliceColumns("unit", units.columns, units.count),
    ["slotOfRow", Int32Array.from(block.slotOfRow)],
    ...Object.entries(block.words.pack(units.count)).map(([name, array]): [string, NumberArray] => [
      `words.${name}`,
      array,
    ]),
    ["mean", mean],
    ["along", along],
    ...ids.flatMap(({ bytes, ends }, i): [string, NumberArray][] => [
      [`ids.${i}`, bytes],
      [`ids.${i}.ends`, ends],
    ]),
    [SCALES_ARRAY, scales as NumberArray],
    [CODES_ARRAY, codes as NumberArray],
  ];
  const header = {
    format: INDEX_FORMAT,
    space: block.space,
    dimensions: block.vectors.dimensions,
    revision: block.revision,
    newest: block.newest,
    turns: turns.count,
    sessions: turns.sessionCount,
    memories: memories.count,
    sources: memories.sourceCount,
    units: units.count,
    dead: [...block.deadSlots],
    names: [...block.names.all],
    open: [...turns.open],
  };
  return { header, arrays };
}

function toStoredArray(
  name: string,
  array: NumberArray,
): { as: IndexHeader["arrays"][number]; parts: readonly NumberArray[] } {
  const narrow = encodeDeltas(array);
  const as = [name, array.constructor.name, array.length] as const;
  if (!narrow) return { as, parts: [array] };
  const { steps, times, rest } = narrow;
  const asNarrow = [...as, steps.constructor.name, rest.length] as const;
  if (!times) return { as: asNarrow, parts: [steps, rest] };
  return { as: [...asNarrow, times.length], parts: [steps, times, rest] };
}

function sliceColumns(prefix: string, columns: ColumnSet, count: number): [string, NumberArray][] {
  return Object.entries(columns).map(([name, column]) => [
    `${prefix}.${name}`,
    column.slice(0, count) as NumberArray,
  ]);
}

function joinParts(header: IndexHeader, arrays: readonly NumberArray[]): Uint8Array {
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const first = alignOffset(16 + text.length);
  const size = arrays.reduce((end, { byteLength }) => alignOffset(end + byteLength), first);
  const bytes = new Uint8Array(size);
  bytes.set(Buffer.from(MAGIC, "latin1"));
  new DataView(bytes.buffer).setUint32(8, text.length, true);
  bytes.set(text, 16);
  let at = first;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at = alignOffset(at + array.byteLength);
  }
  return bytes;
}
