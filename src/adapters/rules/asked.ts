import { conjugate, singular } from "../../domain/english.ts";
import { attributeRelations, canonicalRelation } from "../../domain/relations.ts";
import type { AddProposal } from "../../ports/extractor.ts";
import type { Question } from "../../ports/question-reader.ts";
import { adding, type Context, claimOf, saidAt, tidy } from "./context.ts";
import { isPersonNoun } from "./persons.ts";
import { readQuestion } from "./questions.ts";
import { compose } from "./sentence.ts";

const YES =
  /^(?:yes|yeah|yep|yup|yea|aye|correct|indeed|of course|sure|absolutely|definitely|right|exactly)\b[,.! ]*/i;
const NO = /^(?:no|nope|nah|not really|never|not at all)\b[,.! ]*/i;
const NOTHING =
  /^(?:none|nothing|nobody|no one|nowhere|not sure|dunno|no idea|idk|maybe|perhaps|why|what|thanks?|thank you|ok|okay|cool|great|nice|lol|haha|hm+|sorry|please|hello|hi|hey|good|fine|wow|both|later|never ?mind|skip|pass|secret|guess|depends|whatever|all good|not yet|soon|anything|everything|something|either|neither)\b/i;

/** The answer to what the assistant asked right before: "Where do you live?" "Porto." */
export function replyTo({
  context,
  text,
  place,
}: {
  context: Context;
  text: string;
  place: { readonly start: number; readonly end: number };
}): AddProposal[] | undefined {
  const question = askedLast(context, place.start);
  if (question?.subject === undefined || question.relations.length === 0) return undefined;
  const relation = relationIn(question);
  const isYes = YES.test(text);
  const isNo = NO.test(text);
  if (question.asks === "yes_no") {
    const isPlain = /^(?:an?|one|two|three|four|some|just|\d+) \S/i.test(text);
    return isYes || isNo || isPlain ? [settled(context, place, question, isNo, text)] : undefined;
  }
  const value = tidy(
    text.replace(YES, "").replace(/^(?:in|at|on|with|to|for|it['’]?s|that['’]d be|just) (?=\S)/i, ""),
  );
  if (isNo || NOTHING.test(value) || value === "" || value.split(" ").length > 6) return undefined;
  const said = relation === "work as" ? withArticle(value) : value;
  const holdsList = !/^be (?:called|aged|born)/.test(relation) && /,| and /.test(value);
  const values = holdsList ? value.split(/,? and |, /) : [said];
  return values.map((one) => told(context, place, question.subject ?? "user", relation, one));
}

function settled(
  context: Context,
  place: { readonly start: number; readonly end: number },
  question: Question,
  isNo: boolean,
  text: string,
): AddProposal {
  const rest = tidy(text.replace(YES, "").replace(NO, ""));
  const isMore = !isNo && rest !== "" && rest.split(" ").length <= 4 && !NOTHING.test(rest);
  const value = isMore ? rest : (question.value ?? question.narrows ?? "");
  const own = attributeRelations(singular(question.value ?? ""));
  const [attribute] = isMore ? own : [];
  const relation = attribute ?? relationIn(question);
  return told(context, place, question.subject ?? "user", isNo ? `not ${relation}` : relation, value);
}

function told(
  context: Context,
  place: { readonly start: number; readonly end: number },
  subject: string,
  relation: string,
  value: string,
): AddProposal {
  const { speaker } = context.discourse;
  const [, ...parts] = subject.split("/");
  const display = parts.reduce((owner, part) => `${owner}'s ${part}`, speaker.display);
  const rest = relation === "be aged" ? `${value} years old` : value;
  const verb = relation === "be aged" ? "is" : conjugate(relation, "third");
  return adding(context, place, {
    text: compose(display, verb, rest),
    claim: claimOf(subject, relation, value),
    confidence: 0.8,
  });
}

/** The relation under which the answer is kept. */
function relationIn({ relations, asks, subject }: Question): string {
  const [first = "be"] = relations;
  if (asks === "who" && first === "be called" && !subject?.includes("/")) return "be called";
  return canonicalRelation(first);
}

function withArticle(value: string): string {
  if (/^(?:an?|the|my) /i.test(value) || !isPersonNoun(value.split(" ").at(-1)?.toLowerCase() ?? ""))
    return value;
  return `${/^[aeiou]/i.test(value) ? "an" : "a"} ${value}`;
}

/** What the assistant asked in the turn before, if this is the beginning of the answer. */
function askedLast(context: Context, start: number): Question | undefined {
  const last = context.earlier.at(-1);
  if (last?.role !== "assistant" || context.content.slice(0, start).trim() !== "") return undefined;
  const asked = /([^.!?\n]+)\?\s*$/.exec(last.content.slice(-400))?.[1];
  if (asked === undefined || !/\byou(?:r|rs|['’]re)?\b/i.test(asked)) return undefined;
  return readQuestion(`${turned(asked)}?`, { at: saidAt(context.message), known: context.known });
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
