import type { Memory } from "../../../domain/memory.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import type { AnswerIndex } from "./answer-index.ts";
import { essence, forms, key } from "./essence.ts";
import { droppable, isAttributeOf, mayRank } from "./match.ts";
import { PARTING } from "./parting.ts";
import type { AskedQuestion } from "./subjects.ts";

/**
 * The memories that may answer, in the order in which they were stored: all that any way of matching can find, and
 * few others.
 */
export function candidates(asked: AskedQuestion, index: AnswerIndex): Memory[] {
  const found = new Set<Memory>();
  byWords(asked, index, found);
  bySlots(asked, index, found);
  byThing(asked, index, found);
  const [first] = asked.question.relations;
  if (first === "work as" || asked.question.relations.includes("use")) addAll(found, index.means);
  return [...found].sort((a, b) => index.place(a) - index.place(b));
}

/** What is claimed of the right subject with a relation that answers, of what is theirs, and what ended. */
function bySlots({ question, fits }: AskedQuestion, { slots }: AnswerIndex, found: Set<Memory>): void {
  const answers = answering(question);
  for (const [subject, relations] of slots) {
    const isMeant = fits(subject) > 0;
    const isAttribute = isAttributeOf(question, subject);
    if (!isMeant && !isAttribute) continue;
    for (const [relation, memories] of relations) {
      const isIn = (isMeant && answers(relation)) || (isAttribute && /^be(?: called)?$/.test(relation));
      if (isIn) addAll(found, memories);
    }
  }
}

/** Whether a relation can answer; each is looked at once. */
function answering(question: Question): (relation: string) => boolean {
  const known = new Map<string, boolean>();
  // What ended says no, and what was before; of how things are it says nothing.
  const asksEnds = question.asks === "yes_no" || question.past === true;
  return (relation) => {
    const does = known.get(relation) ?? ((asksEnds && PARTING.test(relation)) || mayRank(question, relation));
    known.set(relation, does);
    return does;
  };
}

function addAll(found: Set<Memory>, memories: Iterable<Memory>): void {
  for (const memory of memories) found.add(memory);
}

/** "my trackball": what names it among the words of what is claimed of its owner. */
function byThing({ question }: AskedQuestion, index: AnswerIndex, found: Set<Memory>): void {
  const thing = (question.subject ?? "").split("/").at(-1) ?? "";
  if (!question.subject?.includes("/") || !question.relations.includes("be")) return;
  const telling = splitWords(thing).map(key);
  addAll(found, rarest(index, telling) ?? []);
}

/** Those that hold the rarest of the words that all have to be there; where none has to, those that hold any. */
function byWords(asked: AskedQuestion, index: AnswerIndex, found: Set<Memory>): void {
  const telling = essence(asked.text);
  const may = droppable(asked.question);
  const must = telling.filter((word) => !may.has(word));
  const rare = rarest(index, must);
  if (rare) addAll(found, rare);
  else for (const word of telling) addAll(found, holding(index, word));
}

function holding(index: AnswerIndex, word: string): Memory[] {
  return forms(word).flatMap((form) => [...(index.words.get(form) ?? [])]);
}

/** The memories with the word that fewest hold, in any of its forms; undefined without a word. */
function rarest(index: AnswerIndex, telling: readonly string[]): readonly Memory[] | undefined {
  let least: readonly Memory[] | undefined;
  for (const word of telling) {
    const all = holding(index, word);
    if (least === undefined || all.length < least.length) least = all;
  }
  return least;
}
