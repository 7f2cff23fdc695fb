import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { splitWords } from "../../../../domain/search/search-terms.ts";
import { toLocalTime } from "../../../../domain/time.ts";
import type { ComposedText } from "../../../../ports/language/answerer.ts";
import { formatDateInWords } from "../../format-date.ts";
import { toSecondPerson, toSentence } from "../../word-forms.ts";
import { PARTING } from "../parting.ts";
import { analyseStatement, isOfKindByAny } from "./analysis.ts";
import { namesOtherKind, tellsAsked, YEAR } from "./answer-types.ts";
import { type Evidence, type Findings, FOUND, lacksNothing } from "./evidence.ts";
import type { Feature } from "./features.ts";
import { type Inquiry, isPerson } from "./inquiry.ts";
import type { EvidenceStatement } from "./statements.ts";

/** An answer, and whether it is sure. */
export interface EvidenceAnswer extends ComposedText {
  readonly isSure: boolean;
}

/** The probability from which an answer is sure. Calibrated by `scripts/answers/fit.ts`. */
const SURE = 0.8;
/** What the reader makes of what claims say, in log-odds, from which a person who is not named may be meant by other words. */
const LEAST_READ_OF_OTHERS = 0;
/**
 * What the reader makes of what claims say, in log-odds, from which they are sure: 0.2. It does not hang on what else recall found, so that
 * an answer from claims stays the same.
 */
const LEAST_READ = -1.39;
/** Of the probability of the best, for what a list holds. */
const LISTED = 0.5;
const MAX_LISTED = 12;
/** The probability from which a list holds what is known to be of the kind, beside what claims tell. */
const BESIDE = 0.1;

/** Of statements that are about as probable, the newest is taken; of what was said in one breath, what is composed or short. */
const CLOSE = 0.85;
const SAME = 0.9;

/**
 * The answer that the best evidence carries: sure, or quoted with a doubt; nothing where nothing is about the question. With `maySure`
 * false it is doubted in any case.
 */
export function answerFromEvidence(
  { inquiry, evidence, isUnread }: Findings,
  maySure: boolean,
  dayIn: DayReader,
): EvidenceAnswer | undefined {
  const fitting = evidence.filter(
    (one) =>
      (one.isEnding && one.features.isOver === 0) ||
      (!isBarred(one) &&
        !isOfSomebodyElse(one, inquiry) &&
        !namesOtherKind(inquiry, one.statement.text) &&
        !isOpposed(inquiry.text, one.statement.text)),
  );
  const likeliest = chooseBest(fitting);
  const composed = evidence.find(
    (one) => isComposed(one) && one.features.isOver === 0 && mayLead(one, fitting),
  );
  const best = composed ?? likeliest;
  if (!best || (best !== composed && best.probability < FOUND)) return undefined;
  const isSure = maySure && isUnread !== true && isSureOf(best, inquiry.type);
  const isList = inquiry.asksMany;
  const beside =
    isList && best === composed && isSure ? besideClaims(fitting, best, inquiry.topic ?? "") : [];
  const isOpen = best !== composed && !isSure;
  const chosen =
    isList && best !== composed
      ? chooseAll(fitting, best)
      : [best, ...beside, ...(isOpen ? findSecond(fitting, best) : [])];
  const text = [
    ...new Set(
      chosen.map(
        ({ statement }) =>
          `${isSure ? say(statement, inquiry) : quote(statement)}${inquiry.type === "time" ? dayOf(statement, dayIn) : ""}`,
      ),
    ),
  ].join(" ");
  return {
    text: isSure ? text : `I'm not certain. ${text}`,
    used: [...new Set(chosen.flatMap(({ statement }) => statement.said?.used ?? statement.id))],
    isSure,
  };
}

/**
 * Whether what claims say goes before other evidence: it holds now and is whole, unless the reader makes much more of something else that
 * is newer or tells more. The reader alone decides, so that it does not hang on what else recall found.
 */
function mayLead(composed: Evidence, fitting: readonly Evidence[]): boolean {
  const { read, roleMissed } = composed.features;
  if (roleMissed === 1 && read < LEAST_READ_OF_OTHERS) return false;
  return !fitting.some((one) => isFarAhead(one, composed));
}

function isFarAhead(other: Evidence, composed: Evidence): boolean {
  if (isComposed(other) || isDoubtful(other)) return false;
  // A yes or a no rests on the claim itself: only what was said since may end it.
  if (saysYesOrNo(composed) && !(other.statement.at > composed.statement.at && other.features.read > 0))
    return false;
  return other.features.read - composed.features.read > AHEAD && isBetter(other, composed);
}

function isSureOf(best: Evidence, type: Inquiry["type"]): boolean {
  const { features, probability } = best;
  if (isComposed(best))
    return (
      features.roleMissed + features.otherKind + features.noPerson + features.weekdayMissed === 0 &&
      (saysYesOrNo(best) || features.read >= LEAST_READ)
    );
  return !isDoubtful(best, type) && probability >= SURE;
}

/** A yes or a no rests on the claim itself; the features weigh statements that hold what is asked for. */
function saysYesOrNo({ statement }: Evidence): boolean {
  return /^(?:yes|no)\b/i.test(statement.said?.text ?? "");
}

/** So much more the reader must make of other evidence than of what claims say, in log-odds, for it to go before. */
const AHEAD = 2;

function isBetter(other: Evidence, composed: Evidence): boolean {
  return other.statement.at > composed.statement.at || !lacksNothing(composed.features);
}

function isComposed({ statement }: Evidence): boolean {
  return statement.from === "claims";
}

/** Whether what is asked for may be another thing: of somebody else, only the kind of it, or what was. */
function isDoubtful({ features }: Evidence, type?: Inquiry["type"]): boolean {
  // "takes a size 43" names only the kind, but tells the number.
  const isVague = features.vague === 1 && type !== "number" && type !== "time";
  return isInDoubt(features) || isVague || features.pastTense + features.otherKind > 0;
}

/** The day that words name, said at a time (ISO 8601). */
export type DayReader = (words: string, at: string) => string | undefined;

/** " (Thursday, 26 March 2026, 2026-03-26)", where a quoted sentence names its day by another. */
function dayOf({ from, text, at, zone }: EvidenceStatement, dayIn: DayReader): string {
  const day = from === "sentence" && !YEAR.test(text) ? dayIn(text, toLocalTime(at, zone)) : undefined;
  return day === undefined ? "" : ` (${formatDateInWords(day)}, ${day})`;
}

/** What bars a statement from an answer, however near it is: of another person, another day, only supposed, over, or without what is asked for. */
export const BARS: readonly Feature[] = [
  "ownerOther",
  "weekdayMissed",
  "reported",
  "later",
  "isOver",
  "noNumber",
  "noTime",
  "noPerson",
];

/** What bars a statement below a probability, and is doubted above it: of somebody else as it seems, supposed, or of another kind. */
export const DOUBTS: readonly Feature[] = [
  "thirdAlone",
  "unrealClause",
  "nameMissed",
  "roleMissed",
  "topicImpossible",
];
const DOUBTED = 0.3;
/** The same for what is only supposed or wished, and for what is told of somebody in another role: "twins" may be the "kids". */
const DOUBTED_MORE = 0.6;

function isBarred({ features, probability, statement }: Evidence): boolean {
  if (statement.from === "sentence" && isOfListener(statement.text)) return true;
  if (probability < DOUBTED_MORE && features.unrealClause + features.otherRole > 0) return true;
  return (probability < DOUBTED && isInDoubt(features)) || BARS.some((feature) => features[feature] === 1);
}

function isInDoubt(features: Evidence["features"]): boolean {
  return DOUBTS.some((feature) => features[feature] === 1);
}

const LIKES = /\b(?:lov|lik|enjoy|ador)(?:e|es|ed|ing|s)?\b|\bfond of\b|\bfavou?rites?\b/i;
const DISLIKES =
  /\bleast favou?rites?\b|\b(?:hat|dislik|detest|loath|despis)(?:e|es|ed|ing|s)?\b|\b(?:can(?:['’]?t|not| not) (?:stand|bear|abide)|(?:not|\w+n['’]?t|never) (?:\w+ )?(?:lik|lov|enjoy)\w*)\b/i;

const EACH_DISLIKE = new RegExp(DISLIKES, "gi");

/** "I love herring", where it is asked what the user hates, and the other way round. */
function isOpposed(question: string, text: string): boolean {
  const [asked, told] = [question, text].map(attitudeIn);
  return asked !== undefined && told !== undefined && asked !== told;
}

/** Whether something is liked or disliked; undefined where neither or both are said. */
function attitudeIn(text: string): "liked" | "disliked" | undefined {
  const isDisliked = DISLIKES.test(text);
  const isLiked = LIKES.test(text.replace(EACH_DISLIKE, ""));
  return isDisliked === isLiked ? undefined : isDisliked ? "disliked" : "liked";
}

/** "You told me you live in Bonn.": of whom it was said to, and not of the user. */
function isOfListener(text: string): boolean {
  return /(?:^|[.!?>]\s*)you(?:r|['’]re)?\b/i.test(text);
}

/** "My teammate drives a Saab", where it is asked what the user drives. */
function isOfSomebodyElse(
  { statement, features }: Evidence,
  { subject, parties, type, topic }: Inquiry,
): boolean {
  const roles = parties.roles.filter((role) => role !== topic);
  const asksUser = subject === "user" && roles.length === 0 && parties.names.length === 0;
  if (!asksUser) return false;
  // "Lena moved to Lille" does not tell where the user lives.
  if (type === "place" && features.thirdAlone === 1) return true;
  if (statement.subjects.length === 0) return false;
  const isOther = (one: string): boolean => isOfPerson(one) || (type === "place" && !/^user\b/.test(one));
  return statement.subjects.every(isOther);
}

/** "user/teammate", "user/best friend": a person of the user's. */
function isOfPerson(subject: string): boolean {
  const [, ...owners] = subject.split("/");
  return isPerson(owners.at(-1)?.split(" ").at(-1) ?? "");
}

/** The statement to answer with: the newest of those that come close to the most probable; of one breath, the one that is said best. */
export function chooseBest(evidence: readonly Evidence[]): Evidence | undefined {
  const [first] = evidence;
  if (!first) return undefined;
  const newest = evidence
    .filter(({ probability, features }) => probability >= CLOSE * first.probability && features.parting === 0)
    .reduce((best, one) => (one.statement.at > best.statement.at ? one : best), first);
  const order = { claims: 0, memory: 1, sentence: 2 };
  return evidence
    .filter(
      ({ statement, probability }) =>
        statement === newest.statement ||
        (probability >= SAME * newest.probability && isSameBreath(statement, newest.statement)),
    )
    .sort((one, other) => order[one.statement.from] - order[other.statement.from])[0];
}

/** All that a list holds, each once: what is as probable as the best, and what names the kind that is asked for. */
function chooseAll(evidence: readonly Evidence[], best: Evidence): Evidence[] {
  const chosen: Evidence[] = [best];
  // Where the best names nothing of the kind either, the kind tells nothing apart.
  const isOpen = best.features.topicKind === 0 && best.features.topicNamed === 0;
  for (const one of evidence) {
    if (chosen.length >= MAX_LISTED || one.probability < LISTED * best.probability) break;
    const { topicKind, topicNamed, topicMissing } = one.features;
    if (one.features.negated === 1) continue;
    const isOfKind =
      isOpen || topicKind === 1 || topicNamed === 1 || (topicMissing === 0 && one.probability > SURE);
    if (isOfKind && !chosen.some(({ statement }) => isSameBreath(statement, one.statement))) chosen.push(one);
  }
  return chosen;
}

/** Of the probability of the best, for another statement that is quoted beside it where neither is sure. */
const BESIDE_BEST = 0.7;

/** Where it is not certain which of two statements answers, the second, said in another breath. */
function findSecond(evidence: readonly Evidence[], best: Evidence): Evidence[] {
  const second = evidence.find(
    ({ statement, probability, features }) =>
      probability >= FOUND &&
      probability >= BESIDE_BEST * best.probability &&
      features.parting === 0 &&
      !isSameBreath(statement, best.statement),
  );
  return second === undefined ? [] : [second];
}

/** What a list holds besides what claims tell: other things that are known to be of the kind. */
function besideClaims(evidence: readonly Evidence[], composed: Evidence, kind: string): Evidence[] {
  const chosen: Evidence[] = [];
  const said = new Set(splitWords(`${composed.statement.said?.text} ${composed.statement.text}`));
  for (const one of evidence) {
    const { statement, features, probability } = one;
    const { tokens } = analyseStatement(statement);
    if (chosen.length >= MAX_LISTED || probability < BESIDE) break;
    if (features.topicKind === 0 || features.negated === 1 || features.parting === 1) continue;
    if (tokens.some(({ lower, pos }) => pos === "VERB" && PARTING.test(toBaseForm(lower)))) continue;
    const words = tokens.flatMap(({ lower, pos }) =>
      /^(?:NOUN|PROPN)$/.test(pos) && isOfKindByAny(lower, kind) ? lower : [],
    );
    if (words.length === 0 || words.some((word) => said.has(word))) continue;
    for (const word of words) said.add(word);
    chosen.push(one);
  }
  return chosen;
}

function isSameBreath({ source: one }: EvidenceStatement, { source: other }: EvidenceStatement): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.message === other.message &&
    one.start < other.end &&
    other.start < one.end
  );
}

function say(statement: EvidenceStatement, inquiry: Inquiry): string {
  const { said, memory } = statement;
  // "You live in Perth", where it is asked when one moved: the whole memory tells it.
  const isShort = said?.used.length === 1 && memory !== undefined && !tellsAsked(inquiry, said.text);
  if (isShort && tellsAsked(inquiry, memory.text)) return toSentence(toSecondPerson(memory.text));
  if (said) return said.text;
  return statement.from === "memory" ? toSentence(toSecondPerson(statement.text)) : quote(statement);
}

/** A sentence with somebody else's words in it. */
const QUOTES = /["“„«{]/;

function quote({ said, from, text, lead, at, zone, speaker }: EvidenceStatement): string {
  if (said) return said.text;
  const day = formatDateInWords(toLocalTime(at, zone).slice(0, 10), { weekday: false });
  if (from === "memory") return toSentence(toSecondPerson(text));
  return `On ${day} ${speaker ?? "you"} said: “${lead === "" || QUOTES.test(lead) ? text : `${lead} ${text}`}”`;
}
