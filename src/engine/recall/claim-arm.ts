import type { SearchIndex } from "../block/block.ts";
import type { Signals } from "../rank/signals.ts";
import type { QueryHints } from "./cues.ts";
import type { Scratch } from "./scratch.ts";

/** From this fit on, a claim has to do with the question. */
const MIN_CLAIM_FIT = 0.3;

/**
 * Fills the signal of claims: how well each answers what the query asks. The right subject and relation, and the topic
 * asked after, where there is one; another subject is no answer, the right relation on another topic a weak one. Gives
 * the slots of those that may be an answer. The work grows with the claims that have a relation or a word asked after.
 */
export function retrieveByClaims(
  block: SearchIndex,
  scratch: Scratch,
  cues: QueryHints,
  signals: Signals,
): number[] {
  const { subjects, relations, topic } = cues;
  const found: number[] = [];
  if (subjects.size === 0 || (relations.size === 0 && topic.length === 0)) return found;
  const claims = scratch.column("claim", block.units.count);
  const onTopic = computeTopicShares(block, scratch, topic);
  const abouts = toTable(scratch, "abouts", block, subjects);
  const { subject, relation } = block.memories.columns;
  const answering = toTable(scratch, "answering", block, new Map([...relations].map((one) => [one, 1])));
  const { slotOfRow } = block;
  const hasTopic = topic.length > 0;
  const weigh = (row: number): void => {
    // A memory without a claim has no subject: -1, which is no place of the table.
    const about = abouts[subject[row] as number] as number;
    const slot = slotOfRow[row] as number;
    if (!(about > 0) || slot < 0) return;
    const hasRelation = answering[relation[row] as number] === 1;
    const fit = about * fitOf(hasRelation, hasTopic ? (onTopic.shares[slot] as number) : undefined);
    claims[slot] = fit;
    if (fit >= MIN_CLAIM_FIT) found.push(slot);
  };
  for (const one of relations) for (const row of block.relations.get(one) ?? []) weigh(row);
  const { row: rowOf } = block.units.columns;
  for (const slot of onTopic.slots) {
    const row = rowOf[slot] as number;
    if (row >= 0 && answering[relation[row] as number] !== 1) weigh(row);
  }
  const isAny = found.length > 0 || onTopic.slots.length > 0;
  if (!isAny) return found;
  signals.columns.claim = claims;
  signals.tops.claim = 1;
  return found;
}

/** Values by the number of a name, as a table: a map would be asked ten thousand times. */
function toTable(
  scratch: Scratch,
  name: string,
  { names }: SearchIndex,
  values: ReadonlyMap<number, number>,
): Float32Array {
  const table = scratch.column(name, names.all.length);
  for (const [number, value] of values) table[number] = value;
  return table;
}

function fitOf(hasRelation: boolean, onTopic: number | undefined): number {
  if (onTopic === undefined) return hasRelation ? 1 : 0;
  return hasRelation ? 0.3 + 0.7 * onTopic : 0.5 * onTopic;
}

/** The share of the topic's words that each unit holds, and the slots that hold any. */
function computeTopicShares(
  { words, units }: SearchIndex,
  scratch: Scratch,
  topic: readonly string[],
): { shares: Float32Array; slots: readonly number[] } {
  const shares = scratch.column("topic", units.count);
  const found: number[] = [];
  for (const term of topic) {
    for (const { slots, from, to } of words.postings(term)) {
      for (let i = from; i < to; i += 1) {
        const slot = slots[i] as number;
        if (shares[slot] === 0) found.push(slot);
        shares[slot] = (shares[slot] as number) + 1 / topic.length;
      }
    }
  }
  return { shares, slots: found };
}
