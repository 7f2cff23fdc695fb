import { isTrueAt } from "../../../../domain/memories/current-memories.ts";
import type { Memory } from "../../../../domain/memory.ts";
import type { Question } from "../../../../ports/language/question-reader.ts";
import { bagOf, coverage, essence } from "../essence.ts";
import type { Looking } from "../look.ts";
import { sayOne } from "../say.ts";
import { besideAnswer } from "./beside.ts";
import { measuredAnswer } from "./measured.ts";
import { placeInTime } from "./moments.ts";
import type { TimelyAnswer, TimelyAsking } from "./timely.ts";
import { withinAnswer } from "./within.ts";

export type { TimelyAnswer, TimelyAsking } from "./timely.ts";

/**
 * Answers what asks about times: beside something else ("before Porto"), within a span ("in 2021"), for a length
 * ("how long"), or for the first or last of several. Nothing where the question asks none of it, or nothing was found.
 */
export async function timelyAnswer(asking: TimelyAsking): Promise<TimelyAnswer> {
  return (
    (await besideAnswer(asking)) ??
    measuredAnswer(asking) ??
    orderedAnswer(asking) ??
    (asking.looking.asOf === undefined ? await withinAnswer(asking) : undefined)
  );
}

/** "When did I last go to the opera?": of all times told the last, and no later than now. */
function orderedAnswer({ read, text, look, looking }: TimelyAsking): TimelyAnswer {
  const { order } = read;
  if (order === undefined) return undefined;
  const bare = text.replace(/\b(?:first|last|latest|most recent(?:ly)?|previous)(?: time)?\b/gi, " ");
  const now = looking.asOf ?? looking.now;
  const dated = look(bare, { ...read, ...(read.topic ? { topic: read.topic } : {}) })
    .found.map(({ memory }) => memory)
    .filter((memory) => memory.when !== undefined && (read.tense !== "past" || memory.when <= now))
    .sort((a, b) => (placeInTime(a) < placeInTime(b) ? -1 : 1));
  const best = order === "first" ? dated[0] : dated.at(-1);
  return best && { text: sayOne(best, read, text), used: [best.id] };
}

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
