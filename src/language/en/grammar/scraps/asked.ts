import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import type { Question } from "../../../../ports/language/question-reader.ts";
import { listAttributeRelations, toCanonicalRelation } from "../../relations/relations.ts";
import { conjugate, toSingular } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import { adding, type Context, claimOf, ending, tidy } from "../context.ts";
import { withoutSlip } from "../corrections/slips.ts";
import { type Held, targetOf } from "../forgetting/targets.ts";
import { isPersonNoun } from "../words/persons.ts";
import { askedAfter, askedLast, askedWords, declared } from "./assistant-question.ts";
import { NO, YES } from "./yes-no-words.ts";

const NOTHING =
  /^(?:none|nothing|nobody|no one|nowhere|not sure|dunno|no idea|idk|maybe|perhaps|why|what|thanks?|thank you|ok|okay|cool|great|nice|lol|haha|hm+|sorry|please|hello|hi|hey|good|fine|wow|later|never ?mind|skip|pass|secret|guess|depends|whatever|all good|not yet|soon|anything|everything|something|either)\b/i;
const BEFORE =
  /^(?:(?:it['’]?s|that['’]?s|that['’]d be|he['’]s|she['’]s|they['’]re|just|now|i think|i guess|i['’]d say|probably|mostly|mainly|currently|um+|er+m?|oh|well|hm+)[, ]+|(?:in|at|on|with|to|for) )+(?=\S)/i;
const BEHIND =
  /(?:,? (?:i think|i guess|i['’]d say|i suppose|probably|mostly|mainly|usually|always|for now|now|of course|definitely|obviously|for sure|lol|haha|hands down|any ?day))+$/i;

interface Reply {
  readonly context: Context;
  readonly text: string;
  readonly place: { readonly start: number; readonly end: number };
}

/** The answer to what the assistant asked right before: "Where do you live?" "Porto." */
export function replyTo({ context, text, place }: Reply): Proposal[] | undefined {
  const asked = askedWords(context, place.start);
  if (asked === undefined) return undefined;
  const question = askedLast(context, place.start);
  const option =
    optionOf({ context, text, place }, asked, question) ?? whichOne({ context, text, place }, asked);
  if (option) return option;
  const long = howLong({ context, text, place }, asked);
  if (long) return long;
  if (question?.subject === undefined || question.relations.length === 0) return undefined;
  if (question.asks === "yes_no") return yesOrNo({ context, text, place, question, asked });
  const relation = relationIn(question);
  const value = valueIn(text, question);
  if (NO.test(text) || NOTHING.test(value) || value === "" || value.split(" ").length > 6) return undefined;
  const said = relation === "work as" ? withArticle(value) : value;
  const holdsList = !/^be (?:called|aged|born)/.test(relation) && /,| and /.test(value);
  const values = holdsList ? value.split(/,? and |, /) : [said];
  return values.map((one) => told(context, place, question.subject ?? "user", relation, one));
}

/** "on Lichess mostly" -> "Lichess"; "two, actually three", to "How many kids?" -> "three kids". */
function valueIn(text: string, { asks, topic }: Question): string {
  const meant = (withoutSlip(text) ?? text).replace(YES, "").trim();
  const value = tidy(tidy(meant.replace(BEFORE, "")).replace(BEHIND, ""));
  const isCount = asks === "how_many" && topic?.startsWith("many ") && /^(?:\d+|\p{L}+)$/u.test(value);
  return isCount ? `${value} ${topic?.replace(/^many /, "")}` : value;
}

/** "Tea or coffee?" "tea, always"; "the second one". */
function optionOf(
  { context, text, place }: Reply,
  asked: string,
  question: Question | undefined,
): Proposal[] | undefined {
  const named = question?.value ?? asked.replace(/^.*[,:] /, "");
  const [first, second, more] = named.split(/,? or /i).map((one) => tidy(one));
  if (!first || !second || more !== undefined || named.split(" ").length > 9) return undefined;
  const isLone = question === undefined && /^[\p{L}' -]+ or [\p{L}' -]+$/iu.test(asked);
  const relation = isLone ? "prefer" : question && relationIn(question);
  const chosen = chosenOf(tidy(text), [first, second]);
  if (relation === undefined || chosen === undefined) return undefined;
  return chosen.map((one) => told(context, place, question?.subject ?? "user", relation, one));
}

function chosenOf(text: string, [first, second]: readonly [string, string]): string[] | undefined {
  const words = text.toLowerCase();
  if (/^both\b/.test(words)) return [first, second];
  if (/^(?:neither|none)\b/.test(words)) return [];
  if (/^(?:the )?(?:first|former)(?: one)?\b/.test(words)) return [first];
  if (/^(?:the )?(?:second|latter|last)(?: one)?\b/.test(words)) return [second];
  const named = [first, second].filter((one) =>
    words.includes(one.toLowerCase().replace(/^(?:a|an|the) /, "")),
  );
  return named.length === 1 && words.split(" ").length <= 6 && !NO.test(text) ? named : undefined;
}

/** "How long have you lived in Bath?" "Six years." */
function howLong({ context, text, place }: Reply, asked: string): Proposal[] | undefined {
  const rest = /^(?:(?:so|and|oh|wow)[, ]+)*(?:for )?how long (?<rest>.+)$/i.exec(asked)?.groups?.rest;
  const statement = rest === undefined ? undefined : declared(rest);
  const value = tidy(text.replace(BEFORE, "").replace(BEHIND, ""));
  if (statement === undefined || value === "" || value.split(" ").length > 5) return undefined;
  return context.readAs(`${statement} ${/^since\b/i.test(value) ? "" : "for "}${value}`, place);
}

/** "I gave one of them up." "Which one?" "The workshop": what was said before, with the name in it. */
function whichOne({ context, text, place }: Reply, asked: string): Proposal[] | undefined {
  const name = tidy(text.replace(BEFORE, ""));
  if (
    !/^(?:(?:so|and|oh|ok)[, ]+)*(?:which|what)(?: one| of (?:them|those|these|the \w+))?\b/i.test(asked) ||
    name === ""
  )
    return undefined;
  const before = context.earlier.findLast(({ role }) => role === "user")?.content ?? "";
  const whole = before.replace(/\bone of (?:them|these|those|(?:my|the|our) \p{L}+)\b/iu, name);
  return whole === before || name.split(" ").length > 5 ? undefined : context.readAs(whole, place);
}

interface YesNo extends Reply {
  readonly question: Question;
  readonly asked: string;
}

/** "Do you still use Strava?" "Nope": what is held goes; what is not known is kept as it was said. */
function yesOrNo(reply: YesNo): Proposal[] | undefined {
  const { context, text, place, question, asked } = reply;
  const isPlain = /^(?:an?|one|two|three|four|some|just|\d+) \S/i.test(text);
  const rest = tidy(text.replace(YES, "").replace(NO, ""));
  const held = askedAfter(context, question);
  if (NO.test(text)) return denied({ ...reply, text: rest }, held);
  if (!YES.test(text)) return isPlain ? [settled(context, place, question, false, rest)] : undefined;
  const statement = isDoneBy(asked) ? declared(asked) : undefined;
  if (statement !== undefined)
    return [...context.readAs(statement, place), ...(rest === "" ? [] : context.readAs(rest, place))];
  if (rest === "" && held.length > 0) return held.flatMap((one) => again(context, place, one));
  return [settled(context, place, question, false, rest)];
}

function denied(reply: YesNo, held: readonly Held[]): Proposal[] {
  const { context, text, place, question, asked } = reply;
  const target = held.length < 4 && !isDoneBy(asked) ? targetOf(held) : undefined;
  const more = instead(reply);
  if (target) return [ending(context, place, target), ...more];
  // "Are you married?" "Not any more, divorced."
  const state = /^am I (?<what>.+)$/i.exec(asked)?.groups?.what;
  const negated = state !== undefined && more.length > 0 ? context.readAs(`I am not ${state}`, place) : [];
  return more.length > 0 ? [...negated, ...more] : [settled(context, place, question, true, text)];
}

/** "Have you stopped smoking?", "Did you sell the car?": a yes says that something ended or happened. */
function isDoneBy(asked: string): boolean {
  return /^(?:(?:so|and|oh|wait|then|but)[, ]+)*(?:did|have|has)\b(?!.*\b(?:been|got)\b)/i.test(asked);
}

function again(context: Context, place: Reply["place"], { claim, memory }: Held): Proposal[] {
  return memory ? [adding(context, place, { text: memory.text, claim, kind: memory.kind })] : [];
}

/** What follows a no: "no, sold it", "not anymore, divorced", "no, Antwerp". */
function instead({ context, text, place, question, asked }: YesNo): Proposal[] {
  if (text === "" || NOTHING.test(text) || /^(?:but|sorry|thanks|why)\b/i.test(text)) return [];
  const isState = /^(?:am|are) I\b/i.test(asked) && /^[a-z-]+(?: again| now)?$/i.test(text);
  if (isState) return context.readAs(`I am ${text}`, place);
  const isName =
    /^(?:(?:in|at|on|to|with|it['’]?s) )?(?:\p{Lu}[\p{L}\p{N}'’-]*)(?: \p{Lu}[\p{L}\p{N}'’-]*){0,3}$/u.test(
      text,
    );
  const value = tidy(text.replace(BEFORE, ""));
  if (isName && !/^I\b/.test(value))
    return [told(context, place, question.subject ?? "user", relationIn(question), value)];
  return context.readAs(text, place);
}

function settled(
  context: Context,
  place: Reply["place"],
  question: Question,
  isNo: boolean,
  rest: string,
): AddProposal {
  const isMore = !isNo && rest !== "" && rest.split(" ").length <= 4 && !NOTHING.test(rest);
  const value = isMore ? rest : (question.value ?? question.narrows ?? "");
  const own = listAttributeRelations(toSingular(question.value ?? ""));
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
  return toCanonicalRelation(first);
}

function withArticle(value: string): string {
  if (/^(?:an?|the|my) /i.test(value) || !isPersonNoun(value.split(" ").at(-1)?.toLowerCase() ?? ""))
    return value;
  return `${/^[aeiou]/i.test(value) ? "an" : "a"} ${value}`;
}
