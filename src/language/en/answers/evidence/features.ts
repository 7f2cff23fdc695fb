import { splitWords } from "../../../../domain/search/search-terms.ts";
import { isHyponym } from "../../kinds/kinds.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { toCanonicalThing } from "../../relations/relations.ts";
import { toSingular } from "../../word-forms.ts";
import { key } from "../essence.ts";
import {
  type Analysis,
  analyseStatement,
  type EvidenceClause,
  isMet,
  isOfKindByAny,
  keysOf,
  UNREAL,
} from "./analysis.ts";
import { answerFeatures, compareTopic, isOfOtherKind, namesOnly } from "./answer-types.ts";
import { type Inquiry, isRole, NEGATION, weekdaysOf } from "./inquiry.ts";
import type { EvidenceStatement } from "./statements.ts";

/** What comparing needs besides the two texts. */
export interface Comparison {
  /** Cosine of the question and a statement. */
  readonly cosine: (statement: EvidenceStatement) => number;
  /** The probability by the reader that a statement answers. */
  readonly read: (statement: EvidenceStatement) => number;
  /** Names of persons by role ("sister": "lea"), and roles by name. */
  readonly aliases: ReadonlyMap<string, ReadonlySet<string>>;
  /** The best score that recall gave. */
  readonly topScore: number;
  /** Times of the statements, oldest first. */
  readonly times: readonly string[];
}

/** The features, in the order of the weights. */
export const FEATURES = [
  "bias",
  "read",
  "readClaims",
  "claims",
  "cosine",
  "nearCosine",
  "score",
  "nearFirst",
  "isMemory",
  "hasLead",
  "length",
  "newest",
  "isOver",
  "later",
  "parting",
  "pastTense",
  "weekdayMissed",
  "nameMissed",
  "roleMissed",
  "doerOther",
  "doerOtherPlain",
  "thirdAlone",
  "ownerOther",
  "otherRole",
  "negated",
  "vague",
  "unrealClause",
  "reported",
  "topicNamed",
  "topicKind",
  "topicMissing",
  "topicImpossible",
  "noPerson",
  "noTime",
  "noNumber",
  "otherKind",
] as const;

export type Feature = (typeof FEATURES)[number];

const PARTED =
  /\b(?:left|leaving|quit|stopped|no longer|any ?more|gave up|given up|ditched|dropped|sold|cancelled|deleted|got rid of|broke up|split up|moved (?:away|out|from)|used to|packed in|switched from|done with|fired)\b/i;
const REPORTED =
  /["“„«]|\b(?!i\b|we\b)[\p{L}'’]+ (?:says?|said|thinks?|thought|reckons?|claims?|claimed|swears?|believes?|jokes?|joked|asked|asks) (?:that )?(?:i|we|you)\b/iu;

/** How near each comes to the one that comes nearest by its cosine. */
export function compareAmong(all: readonly Record<Feature, number>[]): Record<Feature, number>[] {
  const topCosine = Math.max(0.01, ...all.map(({ cosine }) => cosine));
  return all.map((one) => ({ ...one, nearCosine: one.cosine / topCosine }));
}

/** How a statement bears on a question, in the order of `FEATURES`. */
export function compareStatement(
  inquiry: Inquiry,
  statement: EvidenceStatement,
  comparison: Comparison,
): Record<Feature, number> {
  const found = analyseStatement(statement);
  const best = bestClause(scoredWords(inquiry), found.clauses);
  const who = compareParties(inquiry, found, best, comparison.aliases);
  const topic = compareTopic(inquiry, found);
  const isClaims = statement.from === "claims";
  return {
    bias: 1,
    ...compareReading(comparison.read(statement), isClaims),
    claims: Number(isClaims),
    cosine: comparison.cosine(statement),
    nearCosine: 0,
    ...compareRecall(statement, comparison, found),
    ...compareTimes(inquiry, statement),
    ...who,
    thirdAlone: isClaims ? 0 : who.thirdAlone,
    ...compareReality(inquiry, statement, best),
    vague: Number(
      inquiry.topic !== undefined && topic.topicKind === 0 && namesOnly(found.text, inquiry.topic),
    ),
    pastTense: Number(isPastTense(inquiry, found)),
    weekdayMissed: Number(isOtherDay(inquiry.weekdays, weekdaysOf(found.text))),
    ...topic,
    ...answerFeatures(inquiry, found, ownWords(inquiry)),
    otherKind: Number(!statement.isListed && isOfOtherKind(inquiry, found, ownWords(inquiry))),
  };
}

/** What the reader makes of a statement, in log-odds. */
function compareReading(probability: number, isClaims: boolean) {
  const kept = Math.min(MOST_READ, Math.max(1 - MOST_READ, probability));
  const read = Math.log(kept / (1 - kept));
  return { read, readClaims: isClaims ? read : 0 };
}

const MOST_READ = 0.998;

/** The words that are looked for: without the kind that is asked for, where there are others. */
function scoredWords({ words }: Inquiry): Inquiry["words"] {
  const plain = words.filter(({ isTopic }) => !isTopic);
  return plain.length > 0 ? plain : words;
}

function ownWords({ words, parties }: Inquiry): Set<string> {
  return new Set([...words.map((word) => word.key), ...parties.names.map(key), ...parties.roles.map(key)]);
}

function compareRecall(statement: EvidenceStatement, { topScore, times }: Comparison, { tokens }: Analysis) {
  const older = times.filter((at) => at < statement.at).length;
  return {
    score: statement.score,
    nearFirst: topScore > 0 ? statement.score / topScore : 0,
    isMemory: Number(statement.from === "memory"),
    hasLead: Number(statement.lead !== ""),
    length: Math.log(1 + tokens.length) / 4,
    newest: times.length < 2 ? 0 : older / (times.length - 1),
  };
}

/** Whether it holds at the time that is asked about. */
function compareTimes({ asksPast, question, type, text }: Inquiry, statement: EvidenceStatement) {
  const isParting = !asksPast && type !== "yes_no" && !PARTED.test(text) && PARTED.test(statement.text);
  return {
    isOver: Number(statement.isOver && !asksPast),
    later: Number(statement.isLater && question.tense !== "future" && type !== "time"),
    parting: Number(isParting),
  };
}

/** Whether it is denied, supposed, or somebody else's words. */
function compareReality(inquiry: Inquiry, statement: EvidenceStatement, best: BestClause | undefined) {
  const { isNegated, type, text } = inquiry;
  const isDenied = NEGATION.test(statement.text);
  const asksUnreal = UNREAL.test(text);
  return {
    negated: Number(isDenied && !isNegated && type !== "yes_no"),
    unrealClause: Number(!asksUnreal && best?.clause.isUnreal === true),
    reported: Number(isReported(inquiry, statement.text)),
  };
}

const CODE = /[{}]|\w\[['"]|\w\(\w*['"[]/;
const QUOTED = /["“„«][^"”»]*["”»]?/gu;
const SAYING =
  /\b(?:says?|said|thinks?|thought|reckons?|claims?|claimed|swears?|believes?|jokes?|joked|asked|asks)\b.*$/iu;

/** Whether what is asked about stands in somebody else's words: "My flatmate Noor says I'm a monster" tells of a flatmate. */
function isReported({ words, parties }: Inquiry, text: string): boolean {
  if (CODE.test(text)) return true;
  if (!REPORTED.test(text)) return false;
  const told = new Set(splitWords(text.replace(QUOTED, " ").replace(SAYING, " ")).flatMap(keysOf));
  const asked = [...words.map((word) => word.key), ...parties.roles.map(key), ...parties.names.map(key)];
  return asked.length === 0 || !asked.every((word) => isMet(word, told));
}

/** "I lived in Rome" is no answer to where one lives. */
function isPastTense({ question, type, words }: Inquiry, { tokens }: Analysis): boolean {
  if (question.tense !== "present" || type === "time") return false;
  const verbs = words.filter(({ isVerb }) => isVerb);
  return tokens.some(
    ({ tag, lower }) => tag === "VBD" && verbs.some((word) => keysOf(lower).includes(word.key)),
  );
}

/** The clause that meets most of the words, and how many. */
interface BestClause {
  readonly clause: EvidenceClause;
  readonly met: number;
}

function bestClause(words: Inquiry["words"], clauses: readonly EvidenceClause[]): BestClause | undefined {
  let best: BestClause | undefined;
  for (const clause of clauses) {
    const met = words.filter((word) => isMet(word.key, clause.keys)).length;
    if (!best || met > best.met) best = { clause, met };
  }
  return best;
}

function isOtherDay(asked: readonly string[], told: readonly string[]): boolean {
  return asked.length > 0 && told.length > 0 && !asked.some((day) => told.includes(day));
}

type PartyFeature =
  | "nameMissed"
  | "roleMissed"
  | "doerOther"
  | "doerOtherPlain"
  | "thirdAlone"
  | "ownerOther"
  | "otherRole";

function compareParties(
  { parties, type, topic, subject: doer, owned, asksMany }: Inquiry,
  { parties: told, keys, sentences, content }: Analysis,
  best: BestClause | undefined,
  aliases: Comparison["aliases"],
): Record<PartyFeature, number> {
  // "my pets", "How many sisters", "What pet do I own?": what is asked for is no party.
  const isAsked = asksMany || doer === "user" || /^(?:person|number|yes_no)$/.test(type);
  const roles = parties.roles.filter((role) => role !== topic || !isAsked);
  const everyone = [...told.names, ...told.roles];
  const isMissed = (one: string): boolean =>
    !(
      everyone.includes(one) ||
      keys.has(key(one)) ||
      everyone.some(
        (other) => toCanonicalThing(other) === toCanonicalThing(one) || isOfKindByAny(other, one),
      ) ||
      doersOf(one).some((verb) => keys.has(verb)) ||
      (isAnimal(one) && content.some((word) => isOfKindByAny(word, one))) ||
      [...(aliases.get(one) ?? [])].some((alias) => everyone.includes(alias) || keys.has(key(alias)))
    );
  const asksUser = parties.user && parties.names.length === 0 && roles.length === 0;
  const isThird = /^(?:role|name|pronoun)$/.test(best?.clause.subject ?? "none");
  const owners = compareOwners(owned, sentences, best?.clause.hasUser === true);
  const isOther = isThird && type !== "person";
  return {
    nameMissed: shareOf(parties.names, isMissed),
    roleMissed: shareOf(roles, isMissed),
    doerOther: Number(doer === "user" && isThird),
    doerOtherPlain: Number(doer === "user" && isOther && best?.clause.holder !== "user"),
    thirdAlone: Number(asksUser && isOther && best?.clause.hasUser === false && !owners.isOwn),
    otherRole: Number(roles.length > 0 && roles.every(isMissed) && told.roles.length > 0),
    ownerOther: Number(owners.isOfOther && !owners.isOwn),
  };
}

/** "cleaner": clean. */
function doersOf(role: string): string[] {
  const verb = /^(\p{L}{3,})(?:er|or)$/u.exec(role)?.[1];
  return verb === undefined ? [] : [key(verb), key(`${verb}e`)];
}

function isAnimal(role: string): boolean {
  return isHyponym(role, "animal", 1);
}

function shareOf(all: readonly string[], isPart: (one: string) => boolean): number {
  return all.length === 0 ? 0 : all.filter(isPart).length / all.length;
}

/** Whether a thing that the question calls "my" is the user's in the statement, or another's. */
function compareOwners(
  owned: readonly string[],
  sentences: readonly (readonly ParsedToken[])[],
  isOfUser: boolean,
): { readonly isOwn: boolean; readonly isOfOther: boolean } {
  let [isOwn, isOfOther] = [false, false];
  for (const tokens of sentences) {
    tokens.forEach(({ lower }, at) => {
      const one = toSingular(lower);
      if (!owned.some((noun) => noun === one || toCanonicalThing(noun) === toCanonicalThing(one))) return;
      const owner = tokens.find(({ head, label }) => label === "nmod:poss" && head === at);
      if (owner === undefined) return;
      if (/^(?:my|our|user)$/.test(owner.lower) || (isOfUser && owner.lower === "their")) isOwn = true;
      else if (owner.pos === "PROPN" || isRole(owner.lower) || /^(?:his|her|their)$/.test(owner.lower))
        isOfOther = true;
    });
  }
  return { isOwn, isOfOther };
}
