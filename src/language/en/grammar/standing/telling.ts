import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import type { Context, Statement } from "../context.ts";
import { isTimeNoun } from "../time/times.ts";
import { ANIMALS, PASSING } from "../words/lexicon.ts";
import { isPersonNoun } from "../words/persons.ts";
import type { Token } from "../words/token.ts";
import { isVerdict } from "./standing.ts";

/**
 * Whether a claim tells something of a life: somebody or something by name, a number, or a thing that is more than a
 * feeling, an idiom or the talk itself.
 */
export function isTelling(told: ToldClaim): boolean {
  return told.proposal.claim !== undefined && CHECKS.every((holds) => holds(told));
}

const CHECKS: readonly ((told: ToldClaim) => boolean)[] = [
  isNoSimile,
  isNoMood,
  isNoBecoming,
  hasObject,
  hasContent,
  isNoBareMany,
  isNoJudgement,
];

/** Relation and value, and everything else that tells something: what a claim says in its parts. */
function partsOf({ proposal }: ToldClaim): { relation: string; value: string; rest: string } {
  const { relation = "", value = "", qualifier = "" } = proposal.claim ?? {};
  return { relation: relation.replace(/^(?:not|never) /, ""), value, rest: qualifier };
}

/** "is like a second family", "feels like home" */
function isNoSimile(told: ToldClaim): boolean {
  const { relation } = partsOf(told);
  if (/\b(?:is|are|was|were|been) (?:like|such|pretty much|kind of|sort of)\b/.test(told.proposal.text))
    return false;
  return !/(?:^| )(?:seem|feel|look|sound|taste|smell)\b|^be (?:like|as|such)$/.test(relation);
}

/** States that a bare noun behind a preposition names: "on holiday", "in hospital". */
const STATES =
  /^(?:holiday|vacation|leave|maternity leave|medication|hospital|college|school|university|high school|rehab|therapy|retirement|tour|parole|sabbatical|debt|mourning|training|remission)$/i;

/** "I'm on fire", "I'm swamped with work", "I'm sure": of the hour, and not of the life. */
function isNoMood(told: ToldClaim): boolean {
  const { relation, value, rest } = partsOf(told);
  if (relation === "have in") return false;
  const isDated = /^be (?:due )?on$/.test(relation) && told.statement.subject.path.includes("/");
  if (!/^be\b/.test(relation) || isDated) return true;
  const named = isNamed(`${value} ${rest}`);
  const state = /^be (?<state>[\p{L}-]+(?:ed|ing|y|ful)?) /u.exec(`${relation} `)?.groups?.state ?? "";
  if ((isVerdict(state) || PASSING.has(state)) && !isJoint(state) && state !== "") return named;
  if (PASSING.has(value.split(" ")[0]?.toLowerCase() ?? "")) return false;
  if (relation === "be") return (told.proposal.confidence ?? 1) >= 0.7;
  if (!isJoint(relation.split(" ")[1] ?? "")) return true;
  return (
    named || STATES.test(value) || /^(?:an?|my|our|his|her) /i.test(value) || /^into$/.test(relation.slice(3))
  );
}

function isJoint(word: string): boolean {
  return /^(?:in|on|at|about|out|off|up|over|under|around|through|with|for|into)$/.test(word);
}

/** "got better", "keeps falling off": verbs of becoming with nothing but a quality. */
function isNoBecoming(told: ToldClaim): boolean {
  const { clause } = told.statement;
  if (!/^(?:get|keep|stay|become|turn|go|grow|make|have)\b/.test(clause.verb.lemma)) return true;
  const words = clause.tokens
    .slice(...clause.rest)
    .filter(({ class: kind }) => kind !== "adverb" && kind !== "other");
  const [first, second] = words;
  return first?.class !== "adjective" || isThing(second) || second?.class === "adjective";
}

const COMPLETE =
  /^(?:graduate|retire|move|return|leave|marry|die|arrive|quit|start|begin|travel|fly|cycle|run|swim|hike|go|come|smoke|vape|drive|volunteer|freelance|work|study|teach|compete|perform|relapse|divorce|separate|convert|emigrate|enlist)\b/;

/** "I made last week": what was made is missing. */
function hasObject(told: ToldClaim): boolean {
  const { statement } = told;
  const { clause } = statement;
  const words = clause.tokens.slice(...clause.rest);
  const things = words.filter((token, k) => isThing(token) && !isOfTime(token, words[k + 1]));
  if (things.length > 0 || words.some(({ lower }) => /ing$/.test(lower))) return true;
  if (told.proposal.claim?.relation.startsWith("be ")) return true;
  return COMPLETE.test(clause.verb.lemma) || clause.verb.chain.length > 0 || clause.verb.copula;
}

function isOfTime(token: Token, next: Token | undefined): boolean {
  return isTimeNoun(token.lower) || (token.class === "number" && isTimeNoun(next?.lower ?? ""));
}

function isThing(token: Token | undefined): boolean {
  return token !== undefined && ["noun", "name", "number"].includes(token.class);
}

/** Nouns of feelings, of what one goes through, and such as stand for anything: with these alone nothing is told. */
const ABSTRACT = new Set(
  "power freedom support goal hurdle obstacle connection problem issue setback letdown progress spirit happiness peace courage strength determination dedication resilience maturity confidence talent skill potential opportunity perspective growth balance focus comfort effort heart mind soul info information detail advice tip news look shot option aspect people folk somebody other hand eye finger back mark role gratitude thanks kindness patience pride trust faith creativity imagination emotion nerve stress pressure air top point bond bonding voice environment space result benefit effect purpose meaning fulfillment satisfaction push help share week weekend fam low high up down twist respect sacrifice reaction response feedback encouragement understanding acceptance recognition turnout crowd event plan situation matter influence item positivity negativity copy version example side piece pair set situation ambition bonus routine vibe stage level intensity extra ready done doing ok okay cheers common lesson bummer rest blast company favor favour mess muse addition community neighborhood neighbourhood struggle surge burst wave opponent incident policy sight offer future lifeline rock challenge session requirement ability quality value effort talk chat conversation question answer food game movie book project team person guy man woman kid friend group".split(
    " ",
  ),
);

function hasContent(told: ToldClaim): boolean {
  const { relation, value, rest } = partsOf(told);
  const { verb } = told.statement.clause;
  // "never tried climbing", "wants to dance": the doing itself is what is told.
  // "My birthday is in March"
  if (/^be (?:due )?(?:on|in)$/.test(relation) && told.statement.subject.path.includes("/")) return true;
  const goesOn = verb.chain.some(({ verb: name }) => /^(?:keep|continue|have|need)$/.test(name));
  if (value === "" && verb.chain.length > 0 && !goesOn && !LIGHT.test(verb.lemma)) return true;
  if (isNamed(`${value} ${rest}`) || !isEmpty(value)) return true;
  if (verb.lemma === "do" && PASSING.has(value.toLowerCase())) return false;
  const hangs =
    /\b(?:of|about|for|on|in|at|from|with|as) (?:an? |the |my |our |his |her |their )?(?<thing>\p{L}.*)$/iu;
  const thing = hangs.exec(rest)?.groups?.thing;
  return thing !== undefined && !isEmpty(thing) && !isTimeNoun(thing.toLowerCase().split(" ").at(-1) ?? "");
}

const LIGHT =
  /^(?:go|do|get|be|have|play|use|watch|compete|perform|build|keep|try|come|see|make|take|say|think|know|feel|look|hear|hope|wait|help|learn|grow|go on|share|start|stop|continue|improve|change|succeed|fail|win|lose|happen|work|give|put|let|show|find|meet|talk|chat|catch up|hang out|hang|chill|relax|enjoy|push|stay)\b/;

function isEmpty(value: string): boolean {
  const words = value.toLowerCase().match(/\p{L}[\p{L}'’-]*/gu) ?? [];
  return words.every((word) => isVerdict(word) || isVerdict(toSingular(word)) || isOfTalk(word));
}

function isOfTalk(word: string): boolean {
  if (ABSTRACT.has(word) || ABSTRACT.has(toSingular(word)) || PASSING.has(word) || isTimeNoun(word))
    return true;
  return QUANTITY.test(word);
}

const QUANTITY =
  /^(?:any|no|none|few|lots?|loads?|plenty|kinds?|sorts?|types?|enough|several|couple|various|different|major|minor|right|extra|personal|certain|deep|lasting|fair|incredible|emotional|valuable|unique|lovely|wicked|over|up|out|off|back|along|by|around|away|he|she|they|we|i)$/;

/** A name or a number; a day of the week or a month is none. */
function isNamed(text: string): boolean {
  return (text.match(/\p{Lu}[\p{L}'’]+|\d+/gu) ?? []).some(
    (word) => !isTimeNoun(word.toLowerCase()) && !/^(?:OK|LOL|I['’].*)$/.test(word),
  );
}

/** "has outings": many of a thing, with nothing that tells which. Kids, cats and the like are told so. */
function isNoBareMany(told: ToldClaim): boolean {
  const { relation, value } = partsOf(told);
  if (!/^(?:have|get|need|want|see|find|give|have got)$/.test(relation) || !/^\p{Ll}[\p{L}-]+s$/u.test(value))
    return true;
  const last = value.split(" ").at(-1) ?? "";
  return (
    isPersonNoun(last) ||
    ANIMALS.has(value.replace(/s$/, "")) ||
    /^(?:twins|kids|allergies|migraines|diabetes|glasses|braces|tattoos)$/.test(value)
  );
}

/** "Rome is a must", "The Wall is my top pick": of a thing by name only its being somebody is told. */
function isNoJudgement({ proposal, statement }: ToldClaim): boolean {
  const { subject = "", relation = "", value = "" } = proposal.claim ?? {};
  const isThing =
    subject === statement.subject.path && !subject.includes("/") && !isSpeaker(statement, subject);
  if (!isThing || !/^(?:(?:not|used to) )?be$/.test(relation)) return true;
  return isPersonNoun(value.toLowerCase().split(" ").at(-1) ?? "");
}

function isSpeaker({ clause }: ToldClaim["statement"], subject: string): boolean {
  const first = clause.tokens[clause.subject?.[0] ?? -1]?.lower ?? "i";
  return /^(?:i|we|my|our)$/.test(first) || clause.subject === undefined || subject === "user";
}

/** A claim with the clause it was read from. */
export interface ToldClaim {
  readonly context: Context;
  readonly statement: Statement;
  readonly proposal: AddProposal;
}
