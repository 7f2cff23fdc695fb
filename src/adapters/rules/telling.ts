import { ANIMALS, PASSING } from "./lexicon.ts";
import { isPersonNoun } from "./persons.ts";
import type { Told } from "./retelling.ts";
import { isVerdict } from "./standing.ts";
import { isTimeNoun } from "./times.ts";
import type { Token } from "./token.ts";

/**
 * Whether a claim tells something of a life: somebody or something by name, a number, or a thing that is more than a
 * feeling, an idiom or the talk itself.
 */
export function isTelling(told: Told): boolean {
  return told.proposal.claim !== undefined && CHECKS.every((holds) => holds(told));
}

const CHECKS: readonly ((told: Told) => boolean)[] = [
  isNoSimile,
  isNoMood,
  isNoBecoming,
  hasObject,
  hasContent,
  isNoBareMany,
];

/** Relation and value, and everything else that tells something: what a claim says in its parts. */
function partsOf({ proposal }: Told): { relation: string; value: string; rest: string } {
  const { relation = "", value = "", qualifier = "" } = proposal.claim ?? {};
  return { relation: relation.replace(/^(?:not|never) /, ""), value, rest: qualifier };
}

/** "is like a second family", "feels like home" */
function isNoSimile(told: Told): boolean {
  const { relation } = partsOf(told);
  return !/(?:^| )(?:seem|feel|look|sound|taste|smell)\b|^be (?:like|as|such)$/.test(relation);
}

/** States that a bare noun behind a preposition names: "on holiday", "in hospital". */
const STATES =
  /^(?:holiday|vacation|leave|maternity leave|medication|hospital|college|school|university|high school|rehab|therapy|retirement|tour|parole|sabbatical|debt|mourning|training|remission)$/i;

/** "I'm on fire", "I'm swamped with work", "I'm sure": of the hour, and not of the life. */
function isNoMood(told: Told): boolean {
  const { relation, value, rest } = partsOf(told);
  if (!/^be\b/.test(relation)) return true;
  const named = isNamed(`${value} ${rest}`);
  const state = /^be (?<state>[\p{L}-]+(?:ed|ing|y|ful)?) /u.exec(`${relation} `)?.groups?.state ?? "";
  if (isVerdict(state) && !/^(?:a|an|be)$/.test(state) && !isJoint(state)) return named;
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
function isNoBecoming(told: Told): boolean {
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
function hasObject(told: Told): boolean {
  const { statement } = told;
  const { clause } = statement;
  const words = clause.tokens.slice(...clause.rest);
  const things = words.filter((token) => isThing(token) && !isTimeNoun(token.lower));
  if (things.length > 0 || words.some(({ lower }) => /ing$/.test(lower))) return true;
  if (told.proposal.claim?.relation.startsWith("be ")) return true;
  return COMPLETE.test(clause.verb.lemma) || clause.verb.chain.length > 0 || clause.verb.copula;
}

function isThing(token: Token | undefined): boolean {
  return token !== undefined && ["noun", "name", "number"].includes(token.class);
}

/** Words that stand for anything: with these alone nothing is told. */
const EMPTY =
  /^(?:(?:an?|the|some|any|my|our|his|her|their|own|more|most|many|few|lots? of|a lot of|all kinds of|all sorts of|plenty of|so much|so many|so|much|such|too|really|very|great|good|new|best|big|huge|little|small|different|other|whole|full|real|true|amazing|awesome|wonderful|nice|special|strong|wicked|right|extra|positive|tough|hard|personal|important|certain|deep|lasting|great|fair|major|minor|first|next|last|incredible|crazy|emotional|valuable|meaningful|unique|better|cool|lovely) )*(?:done|things?|stuff|ways?|times?|ideas?|powers?|freedom|feelings?|support|love|passion|dreams?|goals?|hurdles?|obstacles?|challenges?|connections?|problems?|issues?|setbacks?|letdowns?|difference|impact|progress|energy|vibes?|atmosphere|spirits?|happiness|joy|peace|hope|courage|strength|determination|dedication|resilience|maturity|motivation|inspiration|confidence|success|memories|memory|moments?|talents?|skills?|potential|journeys?|experiences?|opportunity|opportunities|perspectives?|growth|balance|focus|comfort|fun|blast|boosts?|effort|work|start|steps?|life|lives|world|future|hearts?|minds?|souls?|all|info|information|details|advice|tips|news|pics?|pictures?|photos?|look|break|chance|shot|part|sense|changes?|places?|spots?|people|folks|someone|somebody|others|everyone|hands?|eyes?|fingers|backs?|marks?|role|honou?r|gratitude|thanks|kindness|patience|pride|trust|faith|creativity|imagination|emotions?|nerves|stress|pressure|fire|game|air|top|point|bonds?|bonding|voice|environment|space|results?|benefits?|effects?|purpose|meaning|fulfillment|satisfaction|push|help|share|time|day|days|week|weekend|reminder|rush|fam|sure|lows?|highs?|ups and downs|twists?|options?|aspects?|respect|sacrifices?|reactions?|responses?|feedback|encouragement|understanding|acceptance|recognition|adventures?)(?: to \p{L}+)?$/iu;

function hasContent(told: Told): boolean {
  const { value, rest } = partsOf(told);
  if (isNamed(`${value} ${rest}`) || !isEmpty(value)) return true;
  const hangs =
    /\b(?:of|about|for|on|in|at|from|with|as) (?:an? |the |my |our |his |her |their )?(?<thing>\p{L}.*)$/iu;
  const thing = hangs.exec(rest)?.groups?.thing;
  return thing !== undefined && !isEmpty(thing) && !isTimeNoun(thing.toLowerCase().split(" ").at(-1) ?? "");
}

function isEmpty(value: string): boolean {
  return value === "" || EMPTY.test(value.trim()) || isVerdict(value);
}

/** A name or a number; a day of the week or a month is none. */
function isNamed(text: string): boolean {
  return (text.match(/\p{Lu}[\p{L}'’]+|\d+/gu) ?? []).some(
    (word) => !isTimeNoun(word.toLowerCase()) && !/^I['’]/.test(word),
  );
}

/** "has outings": many of a thing, with nothing that tells which. Kids, cats and the like are told so. */
function isNoBareMany(told: Told): boolean {
  const { relation, value } = partsOf(told);
  if (!/^(?:have|get|need|want|see|find|give|have got)$/.test(relation) || !/^\p{Ll}[\p{L}-]+s$/u.test(value))
    return true;
  return (
    isPersonNoun(value) ||
    ANIMALS.has(value.replace(/s$/, "")) ||
    /^(?:twins|kids|allergies|migraines|diabetes|glasses|braces|tattoos)$/.test(value)
  );
}
