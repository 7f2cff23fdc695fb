import type { Question } from "../../../../ports/language/question-reader.ts";
import { readQuestion } from "../../questions/questions.ts";
import { listAnsweringRelations } from "../../relations/relations.ts";
import { type Context, saidAt } from "../context.ts";
import { type Held, held, meant, telling } from "../forgetting/targets.ts";

/** The words of what the assistant asked in the turn before, turned round, if this is the beginning of the answer. */
export function askedWords(context: Context, start: number): string | undefined {
  const last = context.earlier.at(-1);
  if (last?.role !== "assistant" || context.content.slice(0, start).trim() !== "") return undefined;
  const asked = /([^.!?\n]+)\?\s*$/.exec(last.content.slice(-400))?.[1];
  return asked === undefined ? undefined : turned(asked.trim());
}

/** The same as a question that can be answered from claims: "Where do you live?" */
export function askedLast(context: Context, start: number): Question | undefined {
  const asked = askedWords(context, start);
  if (asked === undefined || !/\b(?:I|my|mine)\b/.test(asked)) return undefined;
  return readQuestion(`${asked}?`, { at: saidAt(context.message), known: context.known });
}

/** Said by the one who is asked: "Where do you live" -> "Where do I live". */
function turned(question: string): string {
  return question
    .replace(/\byou['’]re\b/gi, "I am")
    .replace(/\bare you\b/gi, "am I")
    .replace(/\byours\b/gi, "mine")
    .replace(/\byour\b/gi, "my")
    .replace(/\byou\b/gi, "I");
}

/** The claims that a question of the assistant asks after. */
export function askedAfter(context: Context, question: Question): Held[] {
  const { value, narrows, subject, relations } = question;
  const fits = ({ claim, memory }: Held): boolean =>
    memory?.kind !== "event" &&
    (relations.includes(claim.relation) ||
      relations.some((one) => listAnsweringRelations(one).includes(claim.relation)));
  const named = value ?? narrows;
  if (named !== undefined && telling(named).length > 0)
    return fitting(meant(context, { named, isNoName: true, ...(subject ? { subject } : {}) }), fits);
  const [relation] = relations;
  const own = held(context).filter((one) => one.claim.subject === (subject ?? "user") && fits(one));
  return own.filter(({ claim }) => claim.value === "" || claim.relation === relation);
}

/** Those told in a relation that was asked after; where one alone is named, that one in whatever relation. */
function fitting(found: readonly Held[], fits: (one: Held) => boolean): Held[] {
  const same = found.filter(fits);
  return same.length > 0 || found.length !== 1 ? same : [...found];
}

const INVERTED =
  /^(?:(?:so|and|oh|wait|then|but|ah|ok(?:ay)?|hm+)[, ]+)*(?<auxiliary>do|does|did|have|has|am|are|is|was|were|can|will) (?<subject>I|we|he|she|it|they|my [\p{L}-]+(?: \p{Lu}[\p{L}'’-]+)?|\p{Lu}[\p{L}'’-]+) (?<rest>.+)$/iu;

/** What a yes to a question says: "Did I sell the car" -> "I did sell the car"; "Do I still smoke" -> "I smoke". */
export function declared(asked: string): string | undefined {
  const found = INVERTED.exec(asked)?.groups;
  if (!found?.auxiliary || !found.subject || !found.rest) return undefined;
  const rest = found.rest.replace(/^(?:still|also|even|actually|ever|already) /i, "");
  const isPlain = /^do$/i.test(found.auxiliary);
  return [found.subject, ...(isPlain ? [] : [found.auxiliary.toLowerCase()]), rest].join(" ");
}
