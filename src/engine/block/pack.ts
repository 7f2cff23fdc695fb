import { othersTurn } from "../others-turn.ts";
import type { Block } from "./block.ts";
import type { Columns, Numbers } from "./columns.ts";
import { aligned, CODES, FORMAT, type Header, IS_LITTLE, MAGIC, SCALES } from "./format.ts";
import { meanOf } from "./mean.ts";
import { narrowed } from "./narrow.ts";
import { scrub } from "./scrub.ts";

/** With more dead slots than this share, a block is built anew rather than kept. */
const MOST_DEAD = 0.25;
const SLICE_MS = 3;

/** Whether so much of it is gone that it is better built anew. */
export function isMostlyGone({ dead, units }: Block): boolean {
  return dead.length > units.count * MOST_DEAD;
}

/**
 * A block as it is now, as bytes, to be kept beside the record: a cache that can be rebuilt, without a trace of what is gone. Nothing
 * where much of it is gone, or where this machine's numbers have another order of bytes. Nobody waits for it, and others have their
 * turn in between.
 */
export async function packBlock(block: Block): Promise<Uint8Array | undefined> {
  const { header, arrays } = takenDown(block) ?? {};
  if (!header || !arrays) return undefined;
  const kept: ReturnType<typeof asKept>[] = [];
  let begun = performance.now();
  for (const [name, array] of arrays) {
    kept.push(asKept(name, array));
    if (performance.now() - begun < SLICE_MS) continue;
    await othersTurn();
    begun = performance.now();
  }
  return joined(
    { ...header, arrays: kept.map(({ as }) => as) },
    kept.flatMap(({ parts }) => parts),
  );
}

interface TakenDown {
  readonly header: Omit<Header, "arrays">;
  readonly arrays: readonly (readonly [name: string, array: Numbers])[];
}

/** All of a block as it is now, apart from it: it may follow the record while this is packed. */
function takenDown(block: Block): TakenDown | undefined {
  const { turns, memories, units } = block;
  if (!IS_LITTLE || isMostlyGone(block)) return undefined;
  scrub(block);
  const ids = [turns.ids, block.memoryIds].map((one) => one.pack());
  const { codes, scales } = block.vectors.pack(units.count);
  const mean = meanOf(block);
  const along = new Float32Array(units.count);
  block.vectors.dot(mean, units.count, along);
  const arrays: [string, Numbers][] = [
    ...cut("turn", turns.columns, turns.count),
    ...cut("session", turns.sessions, turns.sessionCount),
    ...cut("memory", memories.columns, memories.count),
    ...cut("source", memories.sources, memories.sourceCount),
    ...cut("unit", units.columns, units.count),
    ["slotOfRow", Int32Array.from(block.slotOfRow)],
    ...Object.entries(block.words.pack(units.count)).map(([name, array]): [string, Numbers] => [
      `words.${name}`,
      array,
    ]),
    ["mean", mean],
    ["along", along],
    ...ids.flatMap(({ bytes, ends }, i): [string, Numbers][] => [
      [`ids.${i}`, bytes],
      [`ids.${i}.ends`, ends],
    ]),
    [SCALES, scales as Numbers],
    [CODES, codes as Numbers],
  ];
  const header = {
    format: FORMAT,
    space: block.space,
    dimensions: block.vectors.dimensions,
    revision: block.revision,
    newest: block.newest,
    turns: turns.count,
    sessions: turns.sessionCount,
    memories: memories.count,
    sources: memories.sourceCount,
    units: units.count,
    dead: [...block.dead],
    names: [...block.names.all],
    open: [...turns.open],
  };
  return { header, arrays };
}

function asKept(name: string, array: Numbers): { as: Header["arrays"][number]; parts: readonly Numbers[] } {
  const narrow = narrowed(array);
  const as = [name, array.constructor.name, array.length] as const;
  if (!narrow) return { as, parts: [array] };
  const { steps, times, rest } = narrow;
  const asNarrow = [...as, steps.constructor.name, rest.length] as const;
  if (!times) return { as: asNarrow, parts: [steps, rest] };
  return { as: [...asNarrow, times.length], parts: [steps, times, rest] };
}

function cut(prefix: string, columns: Columns, count: number): [string, Numbers][] {
  return Object.entries(columns).map(([name, column]) => [
    `${prefix}.${name}`,
    column.slice(0, count) as Numbers,
  ]);
}

function joined(header: Header, arrays: readonly Numbers[]): Uint8Array {
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const first = aligned(16 + text.length);
  const size = arrays.reduce((end, { byteLength }) => aligned(end + byteLength), first);
  const bytes = new Uint8Array(size);
  bytes.set(Buffer.from(MAGIC, "latin1"));
  new DataView(bytes.buffer).setUint32(8, text.length, true);
  bytes.set(text, 16);
  let at = first;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at = aligned(at + array.byteLength);
  }
  return bytes;
}
