import { addRelationRow, type SearchIndex } from "./block.ts";
import { collectNumbers } from "./columns.ts";

/**
 * Takes out of a block what is left of units and memories that are gone: the hashes of their words, names that nobody else has, and
 * what they gave to the mean of all vectors. What is there keeps its slots and rows, and is found as before.
 */
export function scrubIndex(block: SearchIndex): void {
  const { turns, memories, units, names } = block;
  block.words.pack(units.count);
  const { speaker, agent, sessionId } = turns.columns;
  const { subject, relation, session, agent: by } = memories.columns;
  const ofTurns = [speaker, agent, sessionId].map((column) => column.subarray(0, turns.count));
  const ofMemories = [subject, relation, session, by].map((column) => column.subarray(0, memories.count));
  names.retain(collectNumbers(names.all.length, ...ofTurns, ...ofMemories));
  refillSet(block.speakers, collectNumbers(names.all.length, speaker.subarray(0, turns.count)));
  refillSet(block.subjects, collectNumbers(names.all.length, subject.subarray(0, memories.count)));
  block.relations.clear();
  for (let row = 0; row < memories.count; row += 1) addRelationRow(block.relations, relation[row], row);
  block.newest = Math.max(
    latestOf(turns.columns.at, turns.count),
    latestOf(memories.columns.at, memories.count),
  );
  block.storedMean = undefined;
  block.vectorsChanged += 1;
}

function refillSet(set: Set<number>, numbers: ReadonlySet<number>): void {
  set.clear();
  for (const number of numbers) set.add(number);
}

/** 0 where there is none, as in a block that is empty. */
function latestOf(times: Float64Array, count: number): number {
  let newest = 0;
  for (let i = 0; i < count; i += 1) newest = Math.max(newest, times[i] as number);
  return newest;
}
