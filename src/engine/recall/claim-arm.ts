import type { Memory } from "../../domain/memory.ts";
import { analyse } from "../../domain/words.ts";
import type { Question } from "../../ports/question-reader.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** The memory of a unit by its number, as it is to be read; undefined for passages. */
export type MemoryAt = (slot: number) => Memory | undefined;

/**
 * Fills the signal of claims: how well each answers what the question asks. The right subject and relation, and the
 * topic asked after, where there is one; another subject is no answer, the right relation on another topic a weak one.
 */
export function searchClaims(corpus: Corpus, question: Question, signals: Signals): void {
  const topic = [...new Set(analyse(`${question.topic ?? ""} ${question.value ?? ""}`))];
  const asksClaim = question.relations.length > 0 || (question.subject !== undefined && topic.length > 0);
  if (!asksClaim) return;
  const onTopic = topicShares(corpus, topic);
  const relations = new Set(question.relations.map((relation) => corpus.names.get(relation)));
  const subjects = subjectsAsked(corpus, question.subject);
  const { slots } = corpus;
  const claims = corpus.column("claim", slots);
  let best = 0;
  for (let slot = 0; slot < slots; slot += 1) {
    const about = subjects.get(corpus.subject[slot] as number) ?? 0;
    if (about === 0) continue;
    const hasRelation = relations.has(corpus.relation[slot] as number);
    const fit = about * fitOf(hasRelation, topic.length > 0 ? (onTopic[slot] as number) : undefined);
    claims[slot] = fit;
    if (fit > best) best = fit;
  }
  if (best > 0) signals.claim = claims;
}

function fitOf(hasRelation: boolean, onTopic: number | undefined): number {
  if (onTopic === undefined) return hasRelation ? 1 : 0;
  return hasRelation ? 0.3 + 0.7 * onTopic : 0.5 * onTopic;
}

/** The share of the topic's words that each unit holds. */
function topicShares({ text, slots, column }: Corpus, topic: readonly string[]): Float32Array {
  const shares = column("topic", slots);
  for (const term of topic) {
    for (const slot of text.postings(term)?.keys() ?? [])
      shares[slot] = (shares[slot] as number) + 1 / topic.length;
  }
  return shares;
}

/** How far each subject is the one asked after: they themself 1, somebody or something of theirs a half. */
function subjectsAsked({ names }: Corpus, asked: string | undefined): ReadonlyMap<number, number> {
  const subject = asked?.toLowerCase();
  const subjects = new Map<number, number>();
  for (const [name, number] of names) {
    if (subject === undefined || name === subject) subjects.set(number, 1);
    else if (name.startsWith(`${subject}/`)) subjects.set(number, 0.5);
  }
  return subjects;
}

/** Fills the signal of time: what was said, or takes place, in the span that the question names. */
export function searchTime(
  corpus: Corpus,
  memoryAt: MemoryAt,
  { from, to }: Question,
  signals: Signals,
): void {
  if (from === undefined && to === undefined) return;
  const { units, slots, turn, turns } = corpus;
  const first = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  const within = corpus.column("time", slots);
  for (let slot = 0; slot < slots; slot += 1) {
    if (!units[slot]) continue;
    const memory = memoryAt(slot);
    const at = memory?.when ?? memory?.at ?? turns.messages[turn[slot] as number]?.at;
    const time = at === undefined ? Number.NaN : Date.parse(at);
    if (!(time >= first && time < end)) continue;
    within[slot] = 1;
    signals.time = within;
  }
}
