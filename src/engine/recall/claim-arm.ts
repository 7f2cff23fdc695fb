import type { Block } from "../block/block.ts";
import type { Signals } from "../rank/signals.ts";
import type { Cues } from "./cues.ts";
import type { Scratch } from "./scratch.ts";

/** From this fit on, a claim has to do with the question. */
const ANSWERING = 0.3;

/**
 * Fills the signal of claims: how well each answers what the query asks. The right subject and relation, and the topic
 * asked after, where there is one; another subject is no answer, the right relation on another topic a weak one. Gives
 * the slots of those that may be an answer.
 */
export function searchClaims(block: Block, scratch: Scratch, cues: Cues, signals: Signals): number[] {
  const { subjects, relations, topic } = cues;
  const found: number[] = [];
  if (subjects.size === 0 || (relations.size === 0 && topic.length === 0)) return found;
  const onTopic = topicShares(block, scratch, topic);
  const { count, columns } = block.memories;
  const { subject, relation } = columns;
  const claims = scratch.column("claim", block.units.count);
  const abouts = tableOf(scratch, "abouts", block, subjects);
  const answering = tableOf(scratch, "answering", block, new Map([...relations].map((one) => [one, 1])));
  const { slotOfRow } = block;
  const hasTopic = topic.length > 0;
  let best = 0;
  for (let row = 0; row < count; row += 1) {
    // A memory without a claim has no subject: -1, which is no place of the table.
    const about = abouts[subject[row] as number] as number;
    const slot = slotOfRow[row] as number;
    if (!(about > 0) || slot < 0) continue;
    const hasRelation = answering[relation[row] as number] === 1;
    const fit = about * fitOf(hasRelation, hasTopic ? (onTopic[slot] as number) : undefined);
    claims[slot] = fit;
    if (fit >= ANSWERING) found.push(slot);
    if (fit > best) best = fit;
  }
  if (best === 0) return found;
  signals.columns.claim = claims;
  signals.tops.claim = 1;
  return found;
}

/** Values by the number of a name, as a table: a map would be asked ten thousand times. */
function tableOf(
  scratch: Scratch,
  name: string,
  { names }: Block,
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

/** The share of the topic's words that each unit holds. */
function topicShares({ words, units }: Block, scratch: Scratch, topic: readonly string[]): Float32Array {
  const shares = scratch.column("topic", units.count);
  for (const term of topic) {
    for (const { slots, from, to } of words.runs(term)) {
      for (let i = from; i < to; i += 1) {
        const slot = slots[i] as number;
        shares[slot] = (shares[slot] as number) + 1 / topic.length;
      }
    }
  }
  return shares;
}
