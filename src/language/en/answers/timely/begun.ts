import { isTrueAt } from "../../../../domain/current-memories.ts";
import type { Memory } from "../../../../domain/memory.ts";
import type { Question } from "../../../../ports/language/question-reader.ts";
import { bagOf, coverage, essence } from "../essence.ts";
import type { Looking } from "../look.ts";
import { sayOne } from "../say.ts";

const BEGINS = /^(?:switch|change|move|start|begin|get|join|take|become|upgrade|swap|go|come)\b/;
const VERBS =
  /\b(?:when|did|have|i|we|switch|chang|mov|start|begin|began|get|got|join|tak|took|becom|became|upgrad|swap|us|working|living|over|to|at|with)(?:e|ed|ing)?\b/gi;

/** "When did I switch to Revolut?": since when what began then has held, where that was told. */
export function begunAnswer(
  { state, mayUse, now }: Looking,
  question: Question,
  asked: string,
): { readonly text: string; readonly used: readonly string[] } | undefined {
  if (question.subject !== "user" || !question.relations.some((relation) => BEGINS.test(relation)))
    return undefined;
  const telling = essence(asked.replace(VERBS, " "));
  if (telling.length === 0) return undefined;
  const found = [...state.memories.values()].findLast(
    (memory) => mayUse(memory) && isBegun(memory) && isTrueAt(memory, now) && holdsAll(memory, telling),
  );
  return found && { text: sayOne(found, question, asked), used: [found.id] };
}

function isBegun({ claim, kind, validFrom, at }: Memory): boolean {
  return claim?.subject === "user" && kind !== "event" && validFrom !== undefined && validFrom !== at;
}

function holdsAll({ claim }: Memory, telling: readonly string[]): boolean {
  return coverage(bagOf(claim?.value ?? ""), telling) === 1;
}
