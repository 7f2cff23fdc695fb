import { isTrueAt } from "../../../../domain/memories/current-memories.ts";
import type { Memory } from "../../../../domain/memory.ts";
import { hasSameWords } from "../../../../domain/search/search-terms.ts";
import type { Question } from "../../../../ports/language/question-reader.ts";
import { conjugate, joinList, toSecondPerson, toSentence } from "../../word-forms.ts";
import { sayOne, sayPath, sayValue } from "../say.ts";

/** One memory, as it is said of a time that may be over: "You lived in Dublin." */
export function sayThen(memory: Memory, question: Question, asked: string, now: string): string {
  const past = isTrueAt(memory, now) ? undefined : inPast([memory]);
  return past ?? sayOne(memory, question, asked);
}

/** Several of one subject and relation as one sentence; of others, each in its own. */
export function sayAllThen(
  memories: readonly Memory[],
  question: Question,
  asked: string,
  now: string,
): string {
  const [first] = memories;
  const isOneSlot = memories.every(
    ({ claim, kind }) =>
      kind !== "event" &&
      claim?.relation === first?.claim?.relation &&
      claim?.subject === first?.claim?.subject,
  );
  const isPast = memories.every((memory) => !isTrueAt(memory, now));
  const whole = isOneSlot && isPast ? inPast(memories) : undefined;
  if (whole !== undefined) return whole;
  return memories.map((memory) => sayThen(memory, question, asked, now)).join(" ");
}

/** "You lived in Dublin", from "live in"; nothing for what is told as an event or in words of its own. */
function inPast(memories: readonly Memory[]): string | undefined {
  const [first] = memories;
  const claim = first?.claim;
  if (
    !claim ||
    first.kind === "event" ||
    /^(?:used to|not|never|can|want|plan|have been) /.test(claim.relation)
  ) {
    return undefined;
  }
  const subject = sayPath(claim.subject);
  const values: string[] = [];
  for (const { claim: one } of memories) {
    const said = sayValue(one?.value ?? "");
    if (!values.some((value) => hasSameWords(value, said))) values.push(said);
  }
  if (values.every((value) => value === "")) return toSentence(toSecondPerson(first.text));
  const qualifier =
    memories.length === 1
      ? sayValue(claim.qualifier ?? "").replace(/\b(?:now|currently|at the moment)\b/g, "")
      : "";
  const person = subject === "You" ? "you" : "third";
  return toSentence(
    [subject, conjugate(claim.relation, person, "past"), joinList(values), qualifier.trim()]
      .filter(Boolean)
      .join(" "),
  );
}
