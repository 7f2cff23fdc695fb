import { splitWords } from "../../../../domain/search/search-terms.ts";
import { toSingular } from "../../../../domain/text/english-forms.ts";
import { isHyponym } from "../../kinds/kinds.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { toCanonicalThing } from "../../relations/relations.ts";
import { key } from "../essence.ts";
import {
  type Analysis,
  analyseStatement,
  type EvidenceClause,
  isMet,
  isOfKindByAny,
  keysOf,
  MET,
  UNREAL,
} from "./analysis.ts";
import { compareAnswerLinks, type WordSimilarity } from "./answer-links.ts";
import { answerFeatures, compareTopic, namesOnly, YEAR } from "./answer-types.ts";
import { type Inquiry, isRole, NEGATION, weekdaysOf } from "./inquiry.ts";
import type { EvidenceStatement } from "./statements.ts";

/** What comparing needs besides the two texts. */
export interface Comparison {
  readonly similarity: WordSimilarity;
  /** Cosine of the question and a statement. */
  readonly cosine: (statement: EvidenceStatement) => number;
  /** The greatest cosine of the question and a clause of a statement. */
  readonly clauseCosine: (statement: EvidenceStatement) => number;
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
  "stems",
  "verb",
  "kinds",
  "meaning",
  "allStems",
  "weakest",
  "weakestNoun",
  "weakestYesNo",
  "weakestClaims",
  "missed",
  "nounMissed",
  "nounMissedYesNo",
  "nounMissedClaims",
  "narrowMissed",
  "narrowMissedClaims",
  "noStems",
  "cosine",
  "clause",
  "score",
  "isFirst",
  "nearFirst",
  "isMemory",
  "hasLead",
  "length",
  "isOver",
  "isOverPast",
  "later",
  "newest",
  "nameMet",
  "nameMissed",
  "speakerMet",
  "roleMet",
  "roleMissed",
  "userMet",
  "userOther",
  "userThird",
  "otherRole",
  "doerMet",
  "doerOther",
  "doerOtherPlain",
  "holder",
  "thirdAlone",
  "ownerMet",
  "ownerOther",
  "negated",
  "negatedAsked",
  "parting",
  "vague",
  "pastTense",
  "relativeTime",
  "unreal",
  "unrealClause",
  "reported",
  "weekdayMissed",
  "topicNamed",
  "topicKind",
  "topicMissing",
  "topicImpossible",
  "person",
  "noPerson",
  "nearName",
  "farName",
  "place",
  "noPlace",
  "time",
  "noTime",
  "number",
  "noNumber",
  "yesNo",
  "yesNoAll",
  "manner",
  "thing",
  "news",
  "noWords",
  "claims",
  "claimsYesNo",
  "claimsStems",
  "link",
  "linkThing",
  "linkNone",
  "linkNoneThing",
  "linkOwn",
  "topicNear",
  "topicModified",
  "nameLinked",
  "nameUnlinked",
  "jobTold",
  "jobUntold",
  "nearCosine",
  "nearWords",
  "clauseCosine",
] as const;

export type Feature = (typeof FEATURES)[number];

const PARTED =
  /\b(?:left|leaving|quit|stopped|no longer|any ?more|gave up|given up|ditched|dropped|sold|cancelled|deleted|got rid of|broke up|split up|moved (?:away|out|from)|used to|packed in|switched from|done with|fired)\b/i;
const RELATIVE =
  /\b(?:today|tonight|tomorrow|yesterday|ago|(?:next|last|this|coming) (?:week|month|year|weekend|mon|tue|wed|thu|fri|sat|sun)\p{L}*|from (?:now|today)|in (?:\w+) (?:days?|weeks?|months?))\b/iu;
const REPORTED =
  /["“„«]|\b(?!i\b|we\b)[\p{L}'’]+ (?:says?|said|thinks?|thought|reckons?|claims?|claimed|swears?|believes?|jokes?|joked|asked|asks) (?:that )?(?:i|we|you)\b/iu;

/** How near each comes to the one that comes nearest, by its cosine and by its words. */
export function compareAmong(all: readonly Record<Feature, number>[]): Record<Feature, number>[] {
  const topCosine = Math.max(0.01, ...all.map(({ cosine }) => cosine));
  const topWords = Math.max(0.01, ...all.map(({ meaning }) => meaning));
  return all.map((one) => ({
    ...one,
    nearCosine: one.cosine / topCosine,
    nearWords: one.meaning / topWords,
  }));
}

/** How a statement bears on a question, in the order of `FEATURES`. */
export function compareStatement(
  inquiry: Inquiry,
  statement: EvidenceStatement,
  comparison: Comparison,
): Record<Feature, number> {
  const found = analyseStatement(statement);
  const scored = scoredWords(inquiry);
  const best = bestClause(scored, found.clauses);
  const who = compareParties(inquiry, found, best, comparison.aliases);
  const topic = compareTopic(inquiry, found);
  const isClaims = statement.from === "claims";
  return {
    bias: 1,
    ...compareWords(inquiry, found, comparison.similarity, isClaims),
    cosine: comparison.cosine(statement),
    clause: best && scored.length > 0 ? best.met / scored.length : 0,
    ...compareRecall(statement, comparison, found),
    ...compareTimes(inquiry, statement),
    ...who,
    thirdAlone: isClaims ? 0 : who.thirdAlone,
    ...compareReality(inquiry, statement, best),
    speakerMet: Number(
      splitWords(statement.speaker ?? "").some((name) => inquiry.parties.names.includes(name)),
    ),
    vague: Number(
      inquiry.topic !== undefined && topic.topicKind === 0 && namesOnly(found.text, inquiry.topic),
    ),
    pastTense: Number(isPastTense(inquiry, found)),
    weekdayMissed: Number(isOtherDay(inquiry.weekdays, weekdaysOf(found.text))),
    ...topic,
    ...answerFeatures(inquiry, found, ownWords(inquiry), topic),
    ...compareAnswerLinks(inquiry, found, comparison.similarity),
    nearCosine: 0,
    nearWords: 0,
    clauseCosine: comparison.clauseCosine(statement),
    claims: Number(isClaims),
    claimsYesNo: Number(isClaims && inquiry.type === "yes_no"),
  };
}

/** The words that are looked for: without the kind that is asked for, where there are others. */
function scoredWords({ words }: Inquiry): Inquiry["words"] {
  const plain = words.filter(({ isTopic }) => !isTopic);
  return plain.length > 0 ? plain : words;
}

function ownWords({ words, parties }: Inquiry): Set<string> {
  return new Set([...words.map((word) => word.key), ...parties.names.map(key), ...parties.roles.map(key)]);
}

/** How strongly each word that is looked for is met: 1 by its stem, 0.9 by its kind, less by its meaning. */
function measureWords(
  scored: Inquiry["words"],
  { keys, content }: Analysis,
  similarity: WordSimilarity,
): { stem: boolean; kind: boolean; meaning: number; strength: number }[] {
  return scored.map(({ key: wanted, base }) => {
    if (isMet(wanted, keys)) return { stem: true, kind: false, meaning: 1, strength: 1 };
    const kind = content.some((word) => isOfKindByAny(word, base));
    const meaning = content.reduce((most, word) => Math.max(most, similarity(base, word)), 0);
    return { stem: false, kind, meaning, strength: Math.max(kind ? 0.9 : 0, meaning) };
  });
}

function compareWords(
  { words, type, question, ...inquiry }: Inquiry,
  found: Analysis,
  similarity: WordSimilarity,
  isClaims: boolean,
) {
  const scored = scoredWords({ words, type, question, ...inquiry });
  const measured = measureWords(scored, found, similarity);
  const strengths = measured.map(({ strength }) => strength);
  const nouns = strengths.filter((_, i) => scored[i]?.isVerb === false);
  const narrows = new Set(splitWords(question.narrows ?? "").map(key));
  const verbs = words.filter(({ isVerb }) => isVerb);
  const share = (part: number, all = scored.length): number => (all === 0 ? 0 : part / all);
  const stems = measured.filter(({ stem }) => stem).length;
  const weakest = strengths.length === 0 ? 0 : Math.min(...strengths);
  const isNarrowMissed = strengths.some((one, i) => one < MET && narrows.has(scored[i]?.key ?? ""));
  const isNounMissed = nouns.some((one) => one < MET);
  return {
    stems: share(stems),
    verb: share(verbs.filter((word) => isMet(word.key, found.keys)).length, verbs.length),
    kinds: share(measured.filter(({ kind }) => kind).length),
    meaning: share(measured.reduce((sum, { meaning }) => sum + meaning, 0)),
    allStems: Number(scored.length > 0 && stems === scored.length),
    weakest,
    weakestNoun: nouns.length === 0 ? 0 : Math.min(...nouns),
    weakestYesNo: type === "yes_no" ? weakest : 0,
    weakestClaims: isClaims ? weakest : 0,
    missed: share(strengths.filter((one) => one < MET).length),
    nounMissed: Number(isNounMissed),
    nounMissedYesNo: Number(isNounMissed && type === "yes_no"),
    nounMissedClaims: Number(isNounMissed && isClaims),
    narrowMissed: Number(isNarrowMissed),
    narrowMissedClaims: Number(isNarrowMissed && isClaims),
    noStems: Number(scored.length > 0 && stems === 0),
    noWords: Number(scored.length === 0),
    claimsStems: isClaims ? share(stems) : 0,
  };
}

function compareRecall(statement: EvidenceStatement, { topScore, times }: Comparison, { tokens }: Analysis) {
  const older = times.filter((at) => at < statement.at).length;
  return {
    score: statement.score,
    isFirst: Number(statement.rank === 0),
    nearFirst: topScore > 0 ? statement.score / topScore : 0,
    isMemory: Number(statement.from === "memory"),
    hasLead: Number(statement.lead !== ""),
    length: Math.log(1 + tokens.length) / 4,
    newest: times.length < 2 ? 0 : older / (times.length - 1),
  };
}

/** Whether it holds at the time that is asked about. */
function compareTimes({ asksPast, question, type, text }: Inquiry, statement: EvidenceStatement) {
  const over = Number(statement.isOver);
  const isParting = !asksPast && type !== "yes_no" && !PARTED.test(text) && PARTED.test(statement.text);
  return {
    isOver: asksPast ? 0 : over,
    isOverPast: asksPast ? over : 0,
    later: Number(statement.isLater && question.tense !== "future" && type !== "time"),
    parting: Number(isParting),
    relativeTime: Number(type === "time" && RELATIVE.test(statement.text) && !YEAR.test(statement.text)),
  };
}

/** Whether it is denied, supposed, or somebody else's words. */
function compareReality(inquiry: Inquiry, statement: EvidenceStatement, best: BestClause | undefined) {
  const { isNegated, type, text } = inquiry;
  const isDenied = NEGATION.test(statement.text);
  const asksUnreal = UNREAL.test(text);
  return {
    negated: Number(isDenied && !isNegated && type !== "yes_no"),
    negatedAsked: Number(isNegated && !isDenied),
    unreal: Number(!asksUnreal && UNREAL.test(statement.text)),
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
  | "nameMet"
  | "nameMissed"
  | "roleMet"
  | "roleMissed"
  | "userMet"
  | "userOther"
  | "userThird"
  | "otherRole"
  | "doerMet"
  | "doerOther"
  | "doerOtherPlain"
  | "holder"
  | "thirdAlone"
  | "ownerMet"
  | "ownerOther";

function compareParties(
  { parties, type, topic, subject: doer, owned, asksMany }: Inquiry,
  { parties: told, keys, sentences, content }: Analysis,
  best: BestClause | undefined,
  aliases: Comparison["aliases"],
): Record<PartyFeature, number> {
  // "my pets", "How many sisters": what is asked for is no party.
  const isAsked = asksMany || /^(?:person|number|yes_no)$/.test(type);
  const roles = parties.roles.filter((role) => role !== topic || !isAsked);
  const meets = (one: string, all: readonly string[]): boolean =>
    all.includes(one) ||
    keys.has(key(one)) ||
    all.some((other) => toCanonicalThing(other) === toCanonicalThing(one) || isOfKindByAny(other, one)) ||
    doersOf(one).some((verb) => keys.has(verb)) ||
    (isAnimal(one) && content.some((word) => isOfKindByAny(word, one))) ||
    [...(aliases.get(one) ?? [])].some((alias) => all.includes(alias) || keys.has(key(alias)));
  const everyone = [...told.names, ...told.roles];
  const names = parties.names.filter((name) => meets(name, everyone));
  const met = roles.filter((role) => meets(role, everyone));
  const asksUser = parties.user && parties.names.length === 0 && roles.length === 0;
  const subject = best?.clause.subject ?? "none";
  const isThird = subject === "role" || subject === "name" || subject === "pronoun";
  const owners = compareOwners(owned, sentences, best?.clause.hasUser === true);
  const all = roles.length + parties.names.length;
  const plain = doer === "user" && isThird && type !== "person" && best?.clause.holder !== "user";
  const isAlone = isThird && type !== "person" && best?.clause.hasUser === false && owners.ownerMet === 0;
  return {
    nameMet: shareOf(names, parties.names),
    nameMissed: shareWithout(names, parties.names),
    roleMet: shareOf(met, roles),
    roleMissed: shareWithout(met, roles),
    userMet: Number(asksUser && (subject === "user" || subject === "none")),
    userOther: Number(asksUser && !told.user),
    userThird: Number(asksUser && isThird),
    doerMet: Number(doer === "user" && subject === "user"),
    doerOther: Number(doer === "user" && isThird),
    doerOtherPlain: Number(plain),
    thirdAlone: Number(asksUser && isAlone),
    ...owners,
    holder: Number(asksUser && best?.clause.holder === "other"),
    otherRole: Number(!asksUser && all > 0 && everyone.length > 0 && met.length + names.length === 0),
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

function shareWithout(part: readonly string[], all: readonly string[]): number {
  return all.length === 0 ? 0 : 1 - shareOf(part, all);
}

function shareOf(part: readonly string[], all: readonly string[]): number {
  return all.length === 0 ? 0 : part.length / all.length;
}

/** Whether a thing that the question calls "my" is the user's in the statement, or another's. */
function compareOwners(
  owned: readonly string[],
  sentences: readonly (readonly ParsedToken[])[],
  isOfUser: boolean,
): Record<"ownerMet" | "ownerOther", number> {
  let ownerMet = 0;
  let ownerOther = 0;
  for (const tokens of sentences) {
    tokens.forEach(({ lower }, at) => {
      const one = toSingular(lower);
      if (!owned.some((noun) => noun === one || toCanonicalThing(noun) === toCanonicalThing(one))) return;
      const owner = tokens.find(({ head, label }) => label === "nmod:poss" && head === at);
      if (owner === undefined) return;
      const isOwn = /^(?:my|our|user)$/.test(owner.lower) || (isOfUser && owner.lower === "their");
      if (isOwn) ownerMet = 1;
      else if (owner.pos === "PROPN" || isRole(owner.lower) || /^(?:his|her|their)$/.test(owner.lower))
        ownerOther = 1;
    });
  }
  return { ownerMet, ownerOther: ownerMet === 1 ? 0 : ownerOther };
}
