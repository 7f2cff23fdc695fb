import type { Claim, Memory } from "../../domain/memory.ts";
import { analyse } from "../../domain/words.ts";
import type { Question } from "../../ports/question-reader.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** Fills the signals that the question's own structure gives: whose claim answers it, and what lies in its time. */
export function searchClaims(
  corpus: Corpus,
  memories: ReadonlyMap<string, Memory>,
  question: Question,
  signals: Signals,
): void {
  const asked = askedOf(question);
  const hasTime = question.from !== undefined || question.to !== undefined;
  if (!asked && !hasTime) return;
  for (let slot = 0; slot < corpus.slots; slot += 1) {
    const unit = corpus.units[slot];
    if (!unit) continue;
    const memory = unit.type === "memory" ? memories.get(unit.owner) : undefined;
    if (asked && memory?.claim) signals.claim[slot] = fit(memory.claim, memory.text, question, asked);
    if (!hasTime) continue;
    const at = memory?.when ?? memory?.at ?? corpus.turns.messages[corpus.turn[slot] ?? -1]?.at;
    if (at !== undefined && isWithin(at, question)) signals.time[slot] = 1;
  }
}

/** The words of what is asked after, or nothing where the question asks after no claim. */
function askedOf(question: Question): { topic: readonly string[] } | undefined {
  const topic = [...new Set(analyse(`${question.topic ?? ""} ${question.value ?? ""}`))];
  const asksClaim = question.relations.length > 0 || (question.subject !== undefined && topic.length > 0);
  return asksClaim ? { topic } : undefined;
}

/**
 * How well a claim answers: the right subject and relation, and the topic asked after, where there is one. Another
 * subject is no answer; the right relation on another topic is a weak one.
 */
function fit(
  claim: Claim,
  text: string,
  question: Question,
  { topic }: { topic: readonly string[] },
): number {
  if (question.subject !== undefined && !isSubject(claim.subject, question.subject)) return 0;
  const hasRelation = question.relations.includes(claim.relation);
  if (topic.length === 0) return hasRelation ? 1 : 0;
  const held = new Set(
    analyse(`${text} ${claim.value} ${claim.qualifier ?? ""} ${claim.relation} ${claim.subject}`),
  );
  const share = topic.filter((term) => held.has(term)).length / topic.length;
  return hasRelation ? 0.3 + 0.7 * share : 0.5 * share;
}

function isSubject(held: string, asked: string): boolean {
  const [one, other] = [held.toLowerCase(), asked.toLowerCase()];
  return one === other || one.startsWith(`${other}/`);
}

function isWithin(at: string, { from, to }: Question): boolean {
  const time = Date.parse(at);
  return (from === undefined || time >= Date.parse(from)) && (to === undefined || time < Date.parse(to));
}
