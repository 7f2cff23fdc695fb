import type { Memory } from "../../../domain/memory.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { bag } from "./bags.ts";
import { bagOf, coverage, holds, key } from "./essence.ts";
import type { AskedQuestion } from "./subjects.ts";

/** "Where did I go TO UNI?": what is asked of has to be there, unless the value is what is asked for. */
export function metObject({ question }: AskedQuestion, memory: Memory): boolean {
  if (question.asks !== "where" || question.subject !== "user") return true;
  const object = /^(?:to|for|on|in) (?:my |the |a )?(\p{L}+)$/u.exec(question.narrows ?? "")?.[1];
  return object === undefined || NO_NARROWING.has(object) || holds(bag(memory), key(object));
}

/** Names, numbers and months in what narrows the question have to be met. */
export function meetsNarrowing(asked: AskedQuestion, memory: Memory): boolean {
  const { question } = asked;
  const hard = essential(asked, question.narrows ?? "");
  if (hard.length === 0) return true;
  const all = bag(memory);
  if (question.asks === "yes_no") return true;
  return (
    hard.every((word) => holds(all, word)) || hard.every((word) => holds(bagOf(asked.around(memory)), word))
  );
}

function essential(asked: AskedQuestion, text: string): string[] {
  const named = Array.from(text.matchAll(/(?<![\p{L}\p{N}])(?:\p{Lu}[\p{L}\p{N}'’-]+|\d+)/gu), ([word]) =>
    word.replace(/['’]s$/, ""),
  );
  const subject = asked.question.subject?.toLowerCase() ?? "";
  return named
    .filter((word) => !subject.includes(word.toLowerCase()) && !/^(?:I|May)$/.test(word))
    .map((word) => key(word.toLowerCase()));
}

/** How much of what narrows the question the memory says: 0 to 0.5. */
export function narrowScore({ question }: AskedQuestion, memory: Memory): number {
  const telling = narrowing(question);
  return telling.length === 0 ? 0 : 0.5 * coverage(bag(memory), telling);
}

const narrowings = new WeakMap<Question, readonly string[]>();

/** The words that narrow a question, without those of its verbs. Made once, for every memory is held against them. */
function narrowing(question: Question): readonly string[] {
  let telling = narrowings.get(question);
  if (!telling) {
    const verbs = new Set(question.relations.flatMap((relation) => splitWords(relation).map(key)));
    telling = splitWords(question.narrows ?? "")
      .filter((word) => word.length > 2 && !NO_NARROWING.has(word))
      .map(key)
      .filter((word) => !verbs.has(word));
    narrowings.set(question, telling);
  }
  return telling;
}

const NO_NARROWING = new Set(
  "for the and with from into about now these days usually currently still again too also out off living".split(
    " ",
  ),
);
