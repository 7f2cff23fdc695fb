import type { Memory } from "../../../domain/memory.ts";
import { toBaseForm } from "../../../domain/search/base-forms.ts";
import { filterInSlices } from "../../../domain/time-slicing.ts";
import type { Question, QuestionReader } from "../../../ports/language/question-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { answerIndexInSlices } from "../answers/answer-index.ts";
import { look } from "../answers/look.ts";
import type { Match } from "../answers/match.ts";
import { findShapedValues } from "../value-shapes.ts";
import { stemsOf } from "./kin.ts";

const EPOCH = "1970-01-01T00:00:00.000Z";
/** What a description that is a question is read by. */
export interface AnswerSources {
  readonly questions: QuestionReader;
}

/** "what car I drive", "my salary", "the money I lent my aunt": what an answer to it would rest on. */
export async function asked(ports: AnswerSources, state: StoredContent, phrase: string): Promise<Memory[]> {
  const plain = phrase.trim().replace(/[.!?]+$/, "");
  const question = toQuestion(plain);
  if (question !== undefined)
    return [...(await answeringSurely(ports, state, question)), ...ofNoun(state, plain)];
  const told = [...(await claimed(ports, state, plain)), ...ofNoun(state, plain)];
  return told.length > 0 ? told : answering(ports, state, plain);
}

/** Relative days in what is to be forgotten count from the last thing said. */
function lastSaid({ messages }: StoredContent): string {
  let last = EPOCH;
  for (const { at } of messages.values()) last = at;
  return last;
}

/** The memories of the relations that are asked for. */
async function claimed(ports: AnswerSources, state: StoredContent, plain: string): Promise<Memory[]> {
  const known = [...state.memories.values()];
  const question = /^(?:(?:[Mm]y|[Oo]ur)\b|\p{Lu}[\p{L}-]*['’]s? \p{Ll}+$)/u.test(plain)
    ? `What is ${plain}?`
    : `${plain}?`;
  const read = ports.questions.read(question, { at: lastSaid(state), known });
  const subject = read.subject?.toLowerCase();
  if (!subject || (subject === "user" && read.relations.length === 0)) return [];
  const wanted = read.asks === "yes_no" && read.value ? [...stemsOf(read.value)] : undefined;
  return filterInSlices(known, ({ claim }) => {
    if (claim?.subject.toLowerCase() !== subject) return false;
    // "that I owe my brother money": of all that is owed, what is owed to him.
    const value = wanted && stemsOf(`${claim.value} ${claim.qualifier ?? ""}`);
    if (wanted && !wanted.some((one) => value?.has(one))) return false;
    return read.relations.length === 0 || read.relations.includes(claim.relation);
  });
}

const WHICH = /^(?<wh>(?:what|which|who|whom|whose|where|when|why|how)\b)/i;
const CLAUSE =
  /^(?<lead>.*?)\s*\b(?<who>i|we|(?:my|our) \p{L}+)(?<short>['’](?:m|re|ve|d|s))? ?(?<rest>\S.*)?$/iu;
const SHORT: Readonly<Record<string, string>> = { m: "am", re: "are", ve: "have", d: "had", s: "is" };
const AUXILIARY =
  /^(?:am|are|is|was|were|will|can|could|should|would|must|may|might|have(?= (?:been|had|\p{L}+ed)\b)|has(?= (?:been|had|\p{L}+ed)\b)|had(?= (?:been|had|\p{L}+ed)\b))\b/iu;

/**
 * A clause as the question that it answers: "how old I am" is "how old am I?", "what illness I have" is "what illness do I have?", "that I
 * was married" is "was I married?". Nothing for other phrases.
 */
function toQuestion(plain: string): string | undefined {
  const isStated = /^(?:(?:that|if|whether) |(?:i|we)(?:['’]\p{L}+)? )/iu.test(plain);
  if (!isStated && !WHICH.test(plain)) return undefined;
  const parts = CLAUSE.exec(plain.replace(/^(?:that|if|whether) /i, ""))?.groups;
  const { lead = "", who = "", short, rest = "" } = parts ?? {};
  const isLed = isStated ? lead !== "" : /\b(?:i|we|my|our)\b/i.test(lead);
  if (!parts || isLed) return undefined;
  const asked =
    short === undefined
      ? inverted(who, rest)
      : `${SHORT[short.slice(1).toLowerCase()] ?? "do"} ${who} ${rest}`;
  return `${lead} ${asked}?`.trim();
}

/** "I am old" as "am I old", "I live" as "do I live", "my mum lives" as "does my mum live". */
function inverted(who: string, rest: string): string {
  const auxiliary = AUXILIARY.exec(rest)?.[0];
  if (auxiliary !== undefined) return `${auxiliary} ${who}${rest.slice(auxiliary.length)}`;
  const [first = ""] = rest.split(" ");
  const base = toBaseForm(first.toLowerCase());
  const isThird = /^(?:my|our) /i.test(who) && first.endsWith("s");
  const isPast = !isThird && base !== first.toLowerCase();
  return `${isThird ? "does" : isPast ? "did" : "do"} ${who} ${base}${rest.slice(first.length)}`;
}

/** What surely answers a question: of the kind that it asks for, or told with its own verb. What may answer it is left for a question. */
async function answeringSurely(ports: AnswerSources, state: StoredContent, text: string): Promise<Memory[]> {
  const at = lastSaid(state);
  const question = ports.questions.read(text, { at, known: [...state.memories.values()] });
  if (question.asks === "yes_no" && question.value === undefined) return [];
  const index = await answerIndexInSlices(state.memories);
  const looking = { index, mayUse: () => true, state, now: at, asOf: undefined };
  const { found } = look(looking, text, { ...question, past: true });
  return found.filter((match) => isSureAnswer(question, match, found)).map(({ memory }) => memory);
}

/** Words of "how much" and "how old", which are no kind of thing. */
const MEASURES = /^(?:much|old|long|tall|far|often|big|heavy|high)$/;
/** Verbs that people say of all kinds of things. */
const WIDE_VERBS = /^(?:be|have|own|get|use|like|love|do|want|need|take|make|buy|know|go|see|keep)$/;

function isSureAnswer(question: Question, match: Match, found: readonly Match[]): boolean {
  const { topic = "", relations, value, asks } = question;
  const { by, kind, memory } = match;
  const { claim } = memory;
  if (by === "words" || kind === false || !claim) return false;
  const told = stemsOf(`${claim.value} ${claim.qualifier ?? ""}`);
  if (asks === "yes_no") return [...stemsOf(value ?? "")].every((one) => told.has(one));
  const noun = topic.replace(/^many /, "");
  if (noun === "" || MEASURES.test(noun)) return isToldWith(question, match);
  if (kind === true || [...stemsOf(noun)].every((one) => told.has(one))) return true;
  // "which scooter I ride": a Vespa, of which nothing says that it is one, where nothing else is ridden.
  return found.length === 1 && !WIDE_VERBS.test(toVerb(relations[0] ?? "")) && isToldWith(question, match);
}

/** Whether a memory tells with the verb of the question, and meets what narrows it. */
function isToldWith({ relations, narrows }: Question, { memory, isNarrowed }: Match): boolean {
  const [asked = ""] = relations;
  const told = memory.claim?.relation ?? "";
  const isOwn = toVerb(told) === toVerb(asked) && (!isLinked(asked) || startsAlike(told, asked));
  return isOwn && (isNarrowed || narrows === undefined || asked.includes(narrows));
}

const toVerb = (relation: string): string => relation.replace(/^used to /, "").split(" ")[0] ?? "";

/** "be born in", "like to drink": what it means stands behind its first word. */
const isLinked = (relation: string): boolean => /^be\b|\bto \p{L}/u.test(relation);

/** "be born in" and "be born": the same but for what joins its value. */
function startsAlike(one: string, other: string): boolean {
  if (one === other) return true;
  return (
    /^be \p{L}/u.test(one) && /^be \p{L}/u.test(other) && (one.startsWith(other) || other.startsWith(one))
  );
}

/** A mark at school: "an A in French", "72 %", "a distinction". */
export const GRADE: RegExp =
  /^(?:an? )?(?:[A-F][+-]?(?= (?:in|for|on)\b|$)|\d{1,3} ?(?:%|percent|out of \d+)|distinction|merit|2:[12])/;

/** An amount of money as people say it without its unit: "48k", "18.50 an hour", "61,000 gross"; not "27 days of leave". */
const BARE_AMOUNT =
  /\d[\d.,]*(?:\s*(?:k|grand)\b|\s*\/\s*\p{L}|\s+(?:an?|per|gross|net|before|after)\b|\s*$)/iu;

function isMoney(value: string): boolean {
  return (
    BARE_AMOUNT.test(value) ||
    findShapedValues(value).some(({ shape }) => shape === "money" || shape === "number")
  );
}

/** What nouns mean that nobody asks with: relations, and what their value must be. */
const NOUNS: readonly {
  readonly nouns: string;
  readonly relations: string;
  readonly subjects?: RegExp;
  readonly isValue?: (value: string) => boolean;
}[] = [
  { nouns: "debt debts", relations: "owe|be in debt" },
  { nouns: "loan loans", relations: "lend|borrow|owe" },
  {
    nouns: "salary wage wages pay income earnings paycheck",
    relations: "earn|make|be on|get|get paid|be paid|bring home|take home",
    isValue: isMoney,
  },
  {
    nouns: "grade grades mark marks",
    relations: "get|score|receive|have",
    isValue: (value) => GRADE.test(value),
  },
  { nouns: "rent", relations: "pay", isValue: isMoney },
  { nouns: "bank banks", relations: "bank with|have an account at|have an account with|be with" },
  {
    nouns: "address",
    relations: "be at|be in|be on",
    subjects: /^user\/(?:house|flat|apartment|place|home)$/,
  },
  { nouns: "pregnancy", relations: "be pregnant|be expecting|expect" },
  { nouns: "divorce", relations: "divorce|get divorced|be divorced" },
  { nouns: "engagement", relations: "be engaged to|get engaged" },
];

function ofNoun({ memories }: StoredContent, plain: string): Memory[] {
  const own = /^(?:my|our)\s+(?<noun>\p{L}+)$/iu.exec(plain)?.groups;
  const used = /^(?:which|what) (?<noun>\p{L}+) (?:i|we) (?:use|have)$/iu.exec(plain)?.groups;
  const noun = (own ?? used)?.noun?.toLowerCase();
  const row = noun === undefined ? undefined : NOUNS.find(({ nouns }) => nouns.split(" ").includes(noun));
  if (!row) return [];
  const relations = new Set(row.relations.split("|"));
  const owner = row.subjects ?? /^user$/;
  return [...memories.values()].filter(
    ({ claim }) =>
      claim !== undefined &&
      owner.test(claim.subject.toLowerCase()) &&
      relations.has(claim.relation) &&
      (row.isValue === undefined || row.isValue(`${claim.value} ${claim.qualifier ?? ""}`.trim())),
  );
}

/** What the answer to it would be found in: by the relation or the thing that is asked for, not by a shared word. */
async function answering(ports: AnswerSources, state: StoredContent, plain: string): Promise<Memory[]> {
  const at = lastSaid(state);
  const known = [...state.memories.values()];
  const index = await answerIndexInSlices(state.memories);
  for (const question of questionsFor(plain)) {
    const read = ports.questions.read(question, { at, known });
    const looking = { index, mayUse: () => true, state, now: at, asOf: undefined };
    const { found } = look(looking, question, read);
    const sure = found.filter(({ by, kind, isNarrowed }) => by !== "words" && kind !== false && isNarrowed);
    if (sure.length > 0) return sure.map(({ memory }) => memory);
  }
  return [];
}

/** "the money I lent my aunt" asks "what I lent my aunt?". */
function questionsFor(plain: string): string[] {
  const clause =
    /^(?:the|any|all(?: the)?)\s+(?:\p{L}+\s+){1,3}?(?:that |which |who )?(?<clause>(?:i|we)\b.+)$/iu.exec(
      plain,
    )?.groups?.clause;
  if (clause !== undefined) return [`what ${clause}?`];
  const noun = /^(?:my|our)\s+(?<noun>.+)$/i.exec(plain)?.groups?.noun;
  if (noun !== undefined) return [`What is ${plain}?`, `Which ${noun} do I have?`];
  return [`${plain}?`];
}
