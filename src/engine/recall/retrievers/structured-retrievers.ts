import { MEMORY_KINDS } from "../../../domain/memory.ts";
import { splitWords, stem } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import type { QueryStyle } from "../../../ports/language/vocabulary.ts";
import type { SearchIndex } from "../../search-index/search-index.ts";
import { TURN_FLAGS } from "../../search-index/turn-table.ts";
import type { QueryHints } from "./query-hints.ts";
import type { Scratch, Signals } from "./signals.ts";

/** A claim with at least this fit relates to the question. */
const MIN_CLAIM_FIT = 0.3;

/**
 * Fills the claim signal: how well each claim answers the query. It rewards the right subject and relation,
 * and the topic, if the query has one. Another subject is not an answer; the right relation on another topic is a
 * weak one. Gives the slots of possible answers. The work grows with the claims that share a relation or word
 * with the query.
 */
export function retrieveByClaims(
  searchIndex: SearchIndex,
  scratch: Scratch,
  cues: QueryHints,
  signals: Signals,
): number[] {
  const { subjects, relations, topic } = cues;
  const slots: number[] = [];
  if (subjects.size === 0 || (relations.size === 0 && topic.length === 0)) return slots;
  const claims = scratch.column("claim", searchIndex.units.count);
  const onTopic = computeTopicShares(searchIndex, scratch, topic);
  const abouts = toTable(scratch, "abouts", searchIndex, subjects);
  const { subject, relation } = searchIndex.memories.columns;
  const answering = toTable(
    scratch,
    "answering",
    searchIndex,
    new Map([...relations].map((one) => [one, 1])),
  );
  const { slotOfRow } = searchIndex;
  const hasTopic = topic.length > 0;
  const weigh = (row: number): void => {
    // A memory without a claim has subject -1, which is outside the table.
    const about = abouts[subject[row] as number] as number;
    const slot = slotOfRow[row] as number;
    if (!(about > 0) || slot < 0) return;
    const hasRelation = answering[relation[row] as number] === 1;
    const fit = about * fitOf(hasRelation, hasTopic ? (onTopic.shares[slot] as number) : undefined);
    claims[slot] = fit;
    if (fit >= MIN_CLAIM_FIT) slots.push(slot);
  };
  for (const one of relations) for (const row of searchIndex.relations.get(one) ?? []) weigh(row);
  const { row: rowOf } = searchIndex.units.columns;
  for (const slot of onTopic.slots) {
    const row = rowOf[slot] as number;
    if (row >= 0 && answering[relation[row] as number] !== 1) weigh(row);
  }
  const isAny = slots.length > 0 || onTopic.slots.length > 0;
  if (!isAny) return slots;
  signals.columns.claim = claims;
  signals.tops.claim = 1;
  return slots;
}

/** How well a memory fits a query that asks for its kind and for nothing else. */
const KIND_FIT = 0.5;
const NUMBER_OF_KIND: ReadonlyMap<string, number> = new Map(
  MEMORY_KINDS.map((kind, number) => [stem(kind), number]),
);
const USER_TERM = stem("user");

/**
 * Fills the claim signal for memories of the kinds that a query names, if it names nothing else: "preferences", "my
 * commitments". Gives their slots.
 */
export function retrieveByKinds(
  { memories, slotOfRow, units }: SearchIndex,
  scratch: Scratch,
  terms: readonly string[],
  signals: Signals,
): number[] {
  const named = new Set<number>();
  for (const term of terms) {
    const number = NUMBER_OF_KIND.get(term);
    if (number !== undefined) named.add(number);
    else if (term !== USER_TERM) return [];
  }
  if (named.size === 0) return [];
  const slots: number[] = [];
  const fits =
    signals.columns.claim.length > 0 ? signals.columns.claim : scratch.column("claim", units.count);
  for (let row = 0; row < memories.count; row += 1) {
    const slot = slotOfRow[row] as number;
    if (slot < 0 || !named.has(memories.columns.kind[row] as number)) continue;
    fits[slot] = Math.max(fits[slot] as number, KIND_FIT);
    slots.push(slot);
  }
  if (slots.length === 0) return slots;
  signals.columns.claim = fits;
  signals.tops.claim = 1;
  return slots;
}

/** Values by the number of a name, in a table, because ten thousand map lookups are slow. */
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

/** The share of the topic's words in each unit, and the slots with any. */
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

/** The bits of turns that carry signals. */
export const TURN_BITS: Signals["bits"] = {
  answers: TURN_FLAGS.answers,
  own: TURN_FLAGS.own,
  theirs: TURN_FLAGS.byAssistant,
  tells: -TURN_FLAGS.asks,
};

/**
 * Fills the conversation signals: the speaker, whether it answers a question, and whether the user said it,
 * or the assistant if the query asks for that.
 */
export function retrieveByTurns(
  { turns, speakers, names }: SearchIndex,
  scratch: Scratch,
  query: string,
  { isAfterAssistant }: Pick<QueryStyle, "isAfterAssistant">,
  signals: Signals,
): void {
  const has = (bit: number): 0 | 1 => ((turns.seen & bit) === 0 ? 0 : 1);
  signals.tops.answers = has(TURN_FLAGS.answers);
  signals.tops.tells = has(TURN_FLAGS.asks);
  signals.tops[isAfterAssistant ? "theirs" : "own"] = has(TURN_FLAGS.own);
  if (speakers.size === 0) return;
  const queryWords = new Set(splitWords(query));
  for (const speaker of speakers) {
    if (!splitWords(names.all[speaker] ?? "").some((word) => queryWords.has(word))) continue;
    if (signals.tops.named === 0) signals.named = scratch.column("named", names.all.length);
    signals.named[speaker] = 1;
    signals.tops.named = 1;
  }
}

/** The share of turns in which people talk to each other: two or more names, and no assistant. */
export function computeTalkShare({ turns, speakers }: SearchIndex): number {
  if (speakers.size < 2) return 0;
  const { sessions, sessionCount } = turns;
  let talk = 0;
  for (let session = 0; session < sessionCount; session += 1) {
    if (sessions.assistantTurns[session] === 0) talk += sessions.named[session] as number;
  }
  return talk / turns.count;
}

/** Fills the time signal: statements made, or events that happen, in the span that the query names. */
export function retrieveByTime(
  searchIndex: SearchIndex,
  scratch: Scratch,
  { from, to }: Pick<Question, "from" | "to">,
  signals: Signals,
): void {
  if (from === undefined && to === undefined) return;
  const first = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  const { count } = searchIndex.units;
  const within = scratch.column("time", count);
  let isAny = false;
  for (let slot = 0; slot < count; slot += 1) {
    const time = timeOfUnit(searchIndex, slot);
    if (!(time >= first && time < end)) continue;
    within[slot] = 1;
    isAny = true;
  }
  if (!isAny) return;
  signals.columns.time = within;
  signals.tops.time = 1;
}

/** When the event of a unit happens, or else when it was said; NaN for a deleted unit. */
function timeOfUnit({ units, turns, memories }: SearchIndex, slot: number): number {
  const row = units.columns.row[slot] as number;
  const turn = units.columns.turn[slot] as number;
  if (row < 0) return turn < 0 ? Number.NaN : (turns.columns.at[turn] as number);
  const when = memories.columns.when[row] as number;
  return Number.isNaN(when) ? (memories.columns.at[row] as number) : when;
}
