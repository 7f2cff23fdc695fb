import type { Claim, Memory } from "../../domain/memory.ts";
import { analyse } from "../../domain/words.ts";
import type { Question } from "../../ports/question-reader.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** Fills the signal of claims: how well each answers what the question asks. */
export function searchClaims(
  { units, slots }: Corpus,
  memories: ReadonlyMap<string, Memory>,
  question: Question,
  signals: Signals,
): void {
  const topic = [...new Set(analyse(`${question.topic ?? ""} ${question.value ?? ""}`))];
  const asksClaim = question.relations.length > 0 || (question.subject !== undefined && topic.length > 0);
  if (!asksClaim) return;
  for (let slot = 0; slot < slots; slot += 1) {
    const unit = units[slot];
    if (unit?.type !== "memory") continue;
    const memory = memories.get(unit.owner);
    if (memory?.claim) signals.claim[slot] = fit(memory.claim, question, topic, unit.terms);
  }
}

/**
 * How well a claim answers: the right subject and relation, and the topic asked after, where there is one. Another
 * subject is no answer; the right relation on another topic is a weak one.
 */
function fit(claim: Claim, question: Question, topic: readonly string[], terms: string): number {
  if (question.subject !== undefined && !isSubject(claim.subject, question.subject)) return 0;
  const hasRelation = question.relations.includes(claim.relation);
  if (topic.length === 0 || !hasRelation) return hasRelation ? 1 : 0.5 * shareHeld(topic, claim, terms);
  return 0.3 + 0.7 * shareHeld(topic, claim, terms);
}

function shareHeld(topic: readonly string[], claim: Claim, terms: string): number {
  if (topic.length === 0) return 0;
  const { subject, relation, value, qualifier = "" } = claim;
  const held = new Set([...terms.split(" "), ...analyse(`${subject} ${relation} ${value} ${qualifier}`)]);
  return topic.filter((term) => held.has(term)).length / topic.length;
}

function isSubject(held: string, asked: string): boolean {
  const [one, other] = [held.toLowerCase(), asked.toLowerCase()];
  return one === other || one.startsWith(`${other}/`);
}

/** Fills the signal of time: what was said, or takes place, in the span that the question names. */
export function searchTime(
  { units, slots, turn, turns }: Corpus,
  memories: ReadonlyMap<string, Memory>,
  { from, to }: Question,
  signals: Signals,
): void {
  if (from === undefined && to === undefined) return;
  const first = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  for (let slot = 0; slot < slots; slot += 1) {
    const unit = units[slot];
    const memory = unit?.type === "memory" ? memories.get(unit.owner) : undefined;
    const at = memory?.when ?? memory?.at ?? turns.messages[turn[slot] ?? -1]?.at;
    const time = at === undefined ? Number.NaN : Date.parse(at);
    if (unit && time >= first && time < end) signals.time[slot] = 1;
  }
}
