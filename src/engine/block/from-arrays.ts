import { addRelationRow, createSearchIndex, type EmbeddingSpace, type SearchIndex } from "./block.ts";
import { type ColumnSet, collectNumbers, createNameTable, type NumberArray } from "./columns.ts";
import { type IndexHeader, SCALES_ARRAY } from "./format.ts";
import { createIdColumn, type IdColumn } from "./ids.ts";
import type { VectorCodes } from "./vectors.ts";
import { createWordIndex, type PackedWordIndex } from "./words.ts";

/** The block of the arrays that a header names, by name. Throws where one is missing, or says what cannot be. */
export function toSearchIndex(
  header: IndexHeader,
  arrays: ReadonlyMap<string, NumberArray>,
  vectors: VectorCodes,
  space: EmbeddingSpace,
): SearchIndex {
  const empty = createSearchIndex(space);
  const get = (name: string): NumberArray => {
    const array = arrays.get(name);
    if (!array) throw new Error(`the block has no ${name}`);
    return array;
  };
  const fill = (prefix: string, columns: ColumnSet): void => {
    for (const name of Object.keys(columns)) columns[name] = get(`${prefix}.${name}`);
  };
  const ids = (list: number, count: number): IdColumn => {
    const ends = get(`ids.${list}.ends`) as Int32Array<ArrayBuffer>;
    if (ends.length !== count) throw new Error("the block has not an id for each");
    return createIdColumn({ bytes: get(`ids.${list}`) as Uint8Array<ArrayBuffer>, ends });
  };
  const { turns, memories, units } = empty;
  fill("turn", turns.columns);
  fill("session", turns.sessions);
  fill("memory", memories.columns);
  fill("source", memories.sources);
  fill("unit", units.columns);
  turns.count = header.turns;
  turns.seen = combineBits(turns.columns.flags);
  turns.sessionCount = header.sessions;
  memories.count = header.memories;
  memories.sourceCount = header.sources;
  units.count = header.units;
  for (const [id, session] of header.open) turns.open.set(id, session);
  const words: PackedWordIndex = {
    hashes: get("words.hashes") as Float64Array<ArrayBuffer>,
    offsets: get("words.offsets") as Uint32Array<ArrayBuffer>,
    slots: get("words.slots") as Uint32Array<ArrayBuffer>,
    counts: get("words.counts") as Uint8Array<ArrayBuffer>,
    lengths: get("words.lengths") as Uint16Array<ArrayBuffer>,
  };
  vectors.setScales(get(SCALES_ARRAY) as Float32Array);
  return {
    ...empty,
    revision: header.revision,
    names: createNameTable(header.names),
    turns: { ...turns, ids: ids(0, header.turns) },
    memoryIds: ids(1, header.memories),
    slotOfRow: toList(get("slotOfRow")),
    words: createWordIndex(words, header.dead),
    vectors,
    deadSlots: [...header.dead],
    storedMean: {
      mean: get("mean") as Float32Array,
      along: get("along") as Float32Array<ArrayBuffer>,
      count: header.units,
    },
    newest: header.newest,
    speakers: collectNumbers(header.names.length, turns.columns.speaker),
    subjects: collectNumbers(header.names.length, memories.columns.subject),
    relations: groupRowsByRelation(memories.columns.relation),
  };
}

/** By a loop: to spread an array of numbers takes fifteen times as long. */
function toList(column: NumberArray): number[] {
  const list: number[] = [];
  for (let i = 0; i < column.length; i += 1) list.push(column[i] as number);
  return list;
}

function combineBits(column: NumberArray): number {
  let seen = 0;
  for (let i = 0; i < column.length; i += 1) seen |= column[i] as number;
  return seen;
}

function groupRowsByRelation(column: Int32Array): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < column.length; row += 1) addRelationRow(rows, column[row], row);
  return rows;
}
