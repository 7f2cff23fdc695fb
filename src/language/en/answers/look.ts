import {
  isAboutLater,
  type MemoryAtTime,
  selectMemoriesAt,
} from "../../../domain/memories/current-memories.ts";
import type { Memory } from "../../../domain/memory.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import type { AnswerIndex } from "./answer-index.ts";
import { candidates } from "./candidates.ts";
import { isSuccession } from "./choose.ts";
import { type Match, matches } from "./match.ts";
import { type AskedQuestion, subjectFit } from "./subjects.ts";
import { type Span, wasIn } from "./timely/moments.ts";

/** What an answer is looked for in. Times are ISO 8601. */
export interface Looking {
  readonly index: AnswerIndex;
  readonly mayUse: (memory: Memory) => boolean;
  readonly state: StoredContent;
  readonly now: string;
  readonly asOf: string | undefined;
}

/** What was looked at for a question, and what of it answers, best first. */
export interface Looked {
  readonly asked: AskedQuestion;
  readonly held: readonly MemoryAtTime[];
  readonly found: readonly Match[];
}

/** Looks for what answers a question: as things are, or were `asOf`; with a span, as they were in it. */
export function look(looking: Looking, text: string, question: Question, span?: Span): Looked {
  const { index, mayUse, state, now, asOf } = looking;
  const fits = subjectFit(question.subject, index, mayUse);
  const asked: AskedQuestion = { text, question, fits, around: (memory: Memory) => around(state, memory) };
  const all = candidates(asked, index).filter(mayUse);
  const held = span
    ? heldIn(all, span, now)
    : selectMemoriesAt(notAhead(all, question, asOf ?? now), now, asOf);
  return {
    asked,
    held,
    found: span ? matches(asked, held) : withoutPlans(matches(asked, held), asOf ?? now),
  };
}

/** "We're moving to Dordrecht next month": until then the old place answers, where it is known. */
function withoutPlans(found: readonly Match[], now: string): readonly Match[] {
  const isPlan = ({ memory }: Match): boolean =>
    isSuccession(memory) && memory.when !== undefined && memory.when > now;
  return found.every(isPlan) ? found : found.filter((match) => !isPlan(match));
}

/** What will only be so later is no answer to how things are. */
function notAhead(memories: readonly Memory[], { tense, asks }: Question, now: string): readonly Memory[] {
  if (tense !== "present" || asks === "when") return memories;
  return memories.filter((memory) => !isAboutLater(memory, now));
}

/** What was so, or took place, in a span. */
export function heldIn(memories: Iterable<Memory>, span: Span, now: string): MemoryAtTime[] {
  const held: MemoryAtTime[] = [];
  for (const memory of memories) {
    if (memory.status === "retracted" || memory.quarantined) continue;
    if (memory.expiresAt !== undefined && memory.expiresAt <= now) continue;
    if (wasIn(memory, span)) held.push({ memory, holds: true, isThen: true });
  }
  return held;
}

/** The words of the message that a memory came from. */
function around(state: StoredContent, memory: Memory): string {
  const [source] = memory.sources;
  const message = source && state.messages.get(source.message);
  return message ? message.content.slice(0, 2000) : "";
}
