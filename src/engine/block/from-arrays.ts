import { type Block, emptyBlock, noteRow, type Space } from "./block.ts";
import { type Columns, type Numbers, namesOf, numbersIn } from "./columns.ts";
import { type Header, SCALES } from "./format.ts";
import { type Ids, idsOf } from "./ids.ts";
import type { Vectors } from "./vectors.ts";
import { type PackedWords, wordsOf } from "./words.ts";

/** The block of the arrays that a header names, by name. Throws where one is missing, or says what cannot be. */
export function blockFrom(
  header: Header,
  arrays: ReadonlyMap<string, Numbers>,
  vectors: Vectors,
  space: Space,
): Block {
  const empty = emptyBlock(space);
  const get = (name: string): Numbers => {
    const array = arrays.get(name);
    if (!array) throw new Error(`the block has no ${name}`);
    return array;
  };
  const fill = (prefix: string, columns: Columns): void => {
    for (const name of Object.keys(columns)) columns[name] = get(`${prefix}.${name}`);
  };
  const ids = (list: number, count: number): Ids => {
    const ends = get(`ids.${list}.ends`) as Int32Array<ArrayBuffer>;
    if (ends.length !== count) throw new Error("the block has not an id for each");
    return idsOf({ bytes: get(`ids.${list}`) as Uint8Array<ArrayBuffer>, ends });
  };
  const { turns, memories, units } = empty;
  fill("turn", turns.columns);
  fill("session", turns.sessions);
  fill("memory", memories.columns);
  fill("source", memories.sources);
  fill("unit", units.columns);
  turns.count = header.turns;
  turns.seen = allBits(turns.columns.flags);
  turns.sessionCount = header.sessions;
  memories.count = header.memories;
  memories.sourceCount = header.sources;
  units.count = header.units;
  for (const [id, session] of header.open) turns.open.set(id, session);
  const words: PackedWords = {
    hashes: get("words.hashes") as Float64Array<ArrayBuffer>,
    offsets: get("words.offsets") as Uint32Array<ArrayBuffer>,
    slots: get("words.slots") as Uint32Array<ArrayBuffer>,
    counts: get("words.counts") as Uint8Array<ArrayBuffer>,
    lengths: get("words.lengths") as Uint16Array<ArrayBuffer>,
  };
  vectors.scale(get(SCALES) as Float32Array);
  return {
    ...empty,
    revision: header.revision,
    names: namesOf(header.names),
    turns: { ...turns, ids: ids(0, header.turns) },
    memoryIds: ids(1, header.memories),
    slotOfRow: listOf(get("slotOfRow")),
    words: wordsOf(words, header.dead),
    vectors,
    dead: [...header.dead],
    kept: {
      mean: get("mean") as Float32Array,
      along: get("along") as Float32Array<ArrayBuffer>,
      count: header.units,
    },
    newest: header.newest,
    speakers: numbersIn(header.names.length, turns.columns.speaker),
    subjects: numbersIn(header.names.length, memories.columns.subject),
    relations: rowsByRelation(memories.columns.relation),
  };
}

/** By a loop: to spread an array of numbers takes fifteen times as long. */
function listOf(column: Numbers): number[] {
  const list: number[] = [];
  for (let i = 0; i < column.length; i += 1) list.push(column[i] as number);
  return list;
}

function allBits(column: Numbers): number {
  let seen = 0;
  for (let i = 0; i < column.length; i += 1) seen |= column[i] as number;
  return seen;
}

function rowsByRelation(column: Int32Array): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < column.length; row += 1) noteRow(rows, column[row], row);
  return rows;
}
