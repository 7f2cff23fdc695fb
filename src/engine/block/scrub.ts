import { type Block, noteRow } from "./block.ts";
import { numbersIn } from "./columns.ts";

/**
 * Takes out of a block what is left of units and memories that are gone: the hashes of their words, names that nobody else has, and
 * what they gave to the mean of all vectors. What is there keeps its slots and rows, and is found as before.
 */
export function scrub(block: Block): void {
  const { turns, memories, units, names } = block;
  block.words.pack(units.count);
  const { speaker, agent, sessionId } = turns.columns;
  const { subject, relation, session, agent: by } = memories.columns;
  const ofTurns = [speaker, agent, sessionId].map((column) => column.subarray(0, turns.count));
  const ofMemories = [subject, relation, session, by].map((column) => column.subarray(0, memories.count));
  names.keep(numbersIn(names.all.length, ...ofTurns, ...ofMemories));
  refill(block.speakers, numbersIn(names.all.length, speaker.subarray(0, turns.count)));
  refill(block.subjects, numbersIn(names.all.length, subject.subarray(0, memories.count)));
  block.relations.clear();
  for (let row = 0; row < memories.count; row += 1) noteRow(block.relations, relation[row], row);
  block.newest = Math.max(latest(turns.columns.at, turns.count), latest(memories.columns.at, memories.count));
  block.kept = undefined;
  block.vectorsChanged += 1;
}

function refill(set: Set<number>, numbers: ReadonlySet<number>): void {
  set.clear();
  for (const number of numbers) set.add(number);
}

/** 0 where there is none, as in a block that is empty. */
function latest(times: Float64Array, count: number): number {
  let newest = 0;
  for (let i = 0; i < count; i += 1) newest = Math.max(newest, times[i] as number);
  return newest;
}
