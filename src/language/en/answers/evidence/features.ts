import type { Claim } from "../../../../domain/memory.ts";
import { memoizeByWord, splitWords } from "../../../../domain/search/search-terms.ts";
import { toBaseForm, toSingular } from "../../../../domain/text/english-forms.ts";
import { isOfKind } from "../../categories.ts";
import { countSteps, isHyponym, isKnownNoun } from "../../kinds/kinds.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { isKindOf, toCanonicalThing } from "../../relations/relations.ts";
import { forms, key } from "../essence.ts";
import {
  type Inquiry,
  isRole,
  NEGATION,
  type Parties,
  partiesOf,
  type SubjectSort,
  sortOf,
  weekdaysOf,
} from "./inquiry.ts";
import type { Statement } from "./statements.ts";

/** Cosine of two words, by the embedder in use; 0 where it is on a server. */
export type WordSimilarity = (one: string, other: string) => number;

/** What comparing needs besides the two texts. */
export interface Comparison {
  readonly similarity: WordSimilarity;
  /** Cosine of the question and a statement. */
  readonly cosine: (statement: Statement) => number;
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
] as const;

export type Feature = (typeof FEATURES)[number];

const UNREAL =
  /\b(?:nearly|almost|dreamt|dreamed|pretend|if|unless|would|could|wish(?:es|ed)?|imagine|maybe|might|should|suppose|hypothetically|fictional|novel|story|character)\b|['’]d\b/i;
const PARTED =
  /\b(?:left|leaving|quit|stopped|no longer|any ?more|gave up|given up|ditched|dropped|sold|cancelled|deleted|got rid of|broke up|split up|moved (?:away|out|from)|used to|packed in|switched from|done with|fired)\b/i;
const RELATIVE =
  /\b(?:today|tonight|tomorrow|yesterday|ago|(?:next|last|this|coming) (?:week|month|year|weekend|mon|tue|wed|thu|fri|sat|sun)\p{L}*|from (?:now|today)|in (?:\w+) (?:days?|weeks?|months?))\b/iu;
const REPORTED =
  /["“„«]|\b(?!i\b|we\b)[\p{L}'’]+ (?:says?|said|thinks?|thought|reckons?|claims?|claimed|swears?|believes?|jokes?|joked|asked|asks) (?:that )?(?:i|we|you)\b/iu;
const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half|twice|once|first|second|third|fourth|fifth|couple|tenner|fiver|grand|only child)\b/gi;
const TIME =
  /\b(?:today|tomorrow|tonight|yesterday|ago|noon|midnight|morning|afternoon|evening|night|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|spring|summer|autumn|winter|christmas|easter|daily|weekly|monthly|twice|every|since|until|till|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|(?:at|around|until|before|after|by|past) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|(?:for|in) (?:\w+ ){1,2}(?:years?|months?|weeks?|days?))\b/gi;
const CLOCK =
  /\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|a\.m|p\.m)\b|\d{1,2}[:.]\d\d|\b(?:at|around|by|until|before|after|from|between|past) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter)\b|\b(?:noon|midnight|dawn|dusk)\b/i;
const YEAR = /\b(?:19|20)\d\d\b/;
const DAY =
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}(?:st|nd|rd|th)?\b|\btoday|tomorrow|yesterday\b/i;
const PLACE =
  /\b(?:in|at|to|from|near|behind|under|above|below|beside|by|on|outside|inside|into|over|opposite|around|between) (?:(?:the|a|an|my|our|his|her|their) )?(?:[\p{L}'-]+)/iu;
const NAMED_PLACE = /\b(?:in|at|to|from|near|around|of|for) (?:the )?\p{Lu}[\p{L}'’-]+/u;

/** A statement as it is compared: analysed once for a question. */
interface Analysis {
  readonly tokens: readonly ParsedToken[];
  readonly sentences: readonly (readonly ParsedToken[])[];
  readonly keys: ReadonlySet<string>;
  readonly content: readonly string[];
  readonly clauses: readonly Clause[];
  readonly parties: Parties;
  readonly text: string;
}

interface Clause {
  readonly keys: ReadonlySet<string>;
  readonly subject: SubjectSort;
  /** Whose the subject is: "my", "her", a name; undefined for nobody's. */
  readonly holder: "user" | "other" | undefined;
  readonly isUnreal: boolean;
  /** Whether the user takes part: I, me, we, us. */
  readonly hasUser: boolean;
}

function analyse({ text, lead, speaker, memory }: Statement): Analysis {
  const whole = lead === "" ? text : `${lead} ${text}`;
  const sentences = parseEnglish(whole);
  const tokens = sentences.flatMap(({ tokens }) => tokens);
  const keys = new Set<string>();
  const content: string[] = [];
  for (const { lower, pos } of tokens) {
    for (const form of keysOf(lower)) keys.add(form);
    if (/^(?:NOUN|PROPN|VERB|ADJ|NUM|ADV)$/.test(pos)) content.push(lower);
  }
  const parties = partiesOf(whole);
  const names = speaker === undefined ? parties.names : [...parties.names, ...splitWords(speaker)];
  return {
    tokens,
    sentences: sentences.map(({ tokens }) => tokens),
    keys,
    content,
    clauses: memory?.claim
      ? [ofClaim(memory.claim, keys)]
      : sentences.flatMap(({ tokens }) => clausesOf(tokens)),
    parties: { ...parties, names, user: parties.user && speaker === undefined },
    text: whole,
  };
}

const keysOf = memoizeByWord(5_000, (word) => [key(word), key(toSingular(word)), key(toBaseForm(word))]);

/** A memory is one clause, and its claim says whom it is about. */
function ofClaim({ subject, relation }: Claim, keys: ReadonlySet<string>): Clause {
  const parts = subject.split("/");
  const last = splitWords(parts.at(-1) ?? "");
  const isUser = subject === "user";
  const isPerson = parts[0] !== "user" || last.some(isRole);
  return {
    keys,
    subject: isUser ? "user" : isPerson ? "role" : "thing",
    holder: isUser ? undefined : "user",
    isUnreal: /^(?:wish|would|might|consider)/.test(relation),
    hasUser: isUser,
  };
}

const CLAUSE_LABEL = /^(?:root|parataxis|advcl|ccomp|acl:relcl)$/;

/** The clauses of a sentence by its tree: the words of each, and what its subject is. */
function clausesOf(tokens: readonly ParsedToken[]): Clause[] {
  const heads = tokens.map((token, i) => {
    const hasSubject = tokens.some(({ head, label }) => head === i && label.startsWith("nsubj"));
    return CLAUSE_LABEL.test(token.label) || (token.label === "conj" && hasSubject);
  });
  const clauseOf = (i: number): number => {
    let at = i;
    for (let steps = 0; steps < tokens.length && at >= 0 && !heads[at]; steps += 1)
      at = tokens[at]?.head ?? -1;
    return at;
  };
  const members = new Map<number, number[]>();
  tokens.forEach((_, i) => {
    const clause = clauseOf(i);
    members.set(clause, [...(members.get(clause) ?? []), i]);
  });
  return [...members].map(([head, words]) => ({
    keys: new Set(words.flatMap((i) => keysOf(tokens[i]?.lower ?? ""))),
    subject: known(subjectOf(tokens, head)) ?? firstSubject(tokens, words),
    holder: holderOf(tokens, words),
    hasUser: words.some(
      (i) =>
        /^(?:i|me|we|us|im|ive|myself)$/.test(tokens[i]?.lower ?? "") ||
        (tokens[i]?.lower === "user" && tokens[i]?.label !== "nmod:poss"),
    ),
    isUnreal: isUnreal(tokens, head, members),
  }));
}

/** Whether a clause, or one that it depends on, is only wished, supposed or told in a story. */
function isUnreal(
  tokens: readonly ParsedToken[],
  head: number,
  members: ReadonlyMap<number, readonly number[]>,
): boolean {
  for (let at = head, steps = 0; at >= 0 && steps < 12; steps += 1) {
    const words = members.get(at);
    if (words && UNREAL.test(words.map((i) => tokens[i]?.text ?? "").join(" "))) return true;
    at = tokens[at]?.head ?? -1;
  }
  return false;
}

function known(sort: SubjectSort): SubjectSort | undefined {
  return sort === "none" ? undefined : sort;
}

/** Whether a possessive of another person stands in the clause, or one of the user's. */
function holderOf(tokens: readonly ParsedToken[], words: readonly number[]): Clause["holder"] {
  let holder: Clause["holder"];
  for (const i of words) {
    const { lower = "", label = "" } = tokens[i] ?? {};
    if (/^(?:my|our|mine)$/.test(lower)) return "user";
    if (/^(?:his|her|their)$/.test(lower) || (label === "nmod:poss" && lower !== "user" && lower !== "your"))
      holder = "other";
    if (label === "nmod:poss" && lower === "user") return "user";
  }
  return holder;
}

const FILLER = /^(?:and|but|so|also|oh|well|then|yes|no|now|,|the)$/;

/** The subject by the first words, where the tree has none: "My brother drives a Saab". */
function firstSubject(tokens: readonly ParsedToken[], words: readonly number[]): SubjectSort {
  const [first, second, third] = words.filter((i) => !FILLER.test(tokens[i]?.lower ?? ""));
  if (first === undefined) return "none";
  const { lower = "", pos = "" } = tokens[first] ?? {};
  if (/^(?:i|we|im|ive|user)$/.test(lower)) return sortOf(tokens, first);
  if (!/^(?:my|our|his|her|their)$/.test(lower)) return pos === "PROPN" ? "name" : "none";
  return [second, third].some((i) => isRole(tokens[i ?? -1]?.lower ?? "")) ? "role" : "thing";
}

function subjectOf(tokens: readonly ParsedToken[], head: number): SubjectSort {
  for (let at = head, steps = 0; at >= 0 && steps < 6; steps += 1) {
    const subject = tokens.findIndex((token) => token.head === at && token.label.startsWith("nsubj"));
    if (subject >= 0) return sortOf(tokens, subject);
    at = tokens[at]?.head ?? -1;
  }
  return "none";
}

const analyses = new WeakMap<Statement, Analysis>();

/** How a statement bears on a question, in the order of `FEATURES`. */
export function compareStatement(
  inquiry: Inquiry,
  statement: Statement,
  comparison: Comparison,
): Record<Feature, number> {
  const found = analyses.get(statement) ?? analyse(statement);
  analyses.set(statement, found);
  const { similarity } = comparison;
  const { words, parties, type } = inquiry;
  const plain = words.filter(({ isTopic }) => !isTopic);
  const scored = plain.length > 0 ? plain : words;
  const stems = scored.filter((word) => isMet(word.key, found.keys));
  const rest = scored.filter((word) => !stems.includes(word));
  const kinds = rest.filter(({ base }) => found.content.some((word) => isOfKindByAny(word, base)));
  const meaning = rest.map(({ base }) =>
    found.content.reduce((most, word) => Math.max(most, similarity(base, word)), 0),
  );
  const strengths = scored.map((word): number => {
    if (stems.includes(word)) return 1;
    return Math.max(kinds.includes(word) ? 0.9 : 0, meaning[rest.indexOf(word)] ?? 0);
  });
  const weakest = strengths.length === 0 ? 0 : Math.min(...strengths);
  const nouns = strengths.filter((_, i) => scored[i]?.isVerb === false);
  const narrows = new Set(splitWords(inquiry.question.narrows ?? "").map(key));
  const isNarrowMissed = strengths.some((strength, i) => strength < MET && narrows.has(scored[i]?.key ?? ""));
  const isNounMissed = nouns.some((strength) => strength < MET);
  const share = (n: number): number => (scored.length === 0 ? 0 : n / scored.length);
  const verbs = words.filter(({ isVerb }) => isVerb);
  const best = bestClause(scored, found.clauses);
  const over = statement.isOver ? 1 : 0;
  const who = compareParties(inquiry, found, best, comparison.aliases);
  const own = new Set([
    ...words.map((word) => word.key),
    ...parties.names.map(key),
    ...parties.roles.map(key),
  ]);
  const topic = compareTopic(inquiry, found);
  const answer = answerFeatures(inquiry, found, own, topic);
  const older = comparison.times.filter((at) => at < statement.at).length;
  const isClaims = statement.from === "claims";
  const isNegated = NEGATION.test(statement.text);
  return {
    bias: 1,
    stems: share(stems.length),
    verb: verbs.length === 0 ? 0 : verbs.filter((word) => isMet(word.key, found.keys)).length / verbs.length,
    kinds: share(kinds.length),
    meaning: share(stems.length + meaning.reduce((sum, one) => sum + one, 0)),
    allStems: Number(scored.length > 0 && rest.length === 0),
    weakest,
    weakestNoun: nouns.length === 0 ? 0 : Math.min(...nouns),
    weakestYesNo: type === "yes_no" ? weakest : 0,
    weakestClaims: isClaims ? weakest : 0,
    missed: share(strengths.filter((strength) => strength < MET).length),
    nounMissed: Number(isNounMissed),
    nounMissedYesNo: Number(isNounMissed && type === "yes_no"),
    nounMissedClaims: Number(isNounMissed && isClaims),
    narrowMissed: Number(isNarrowMissed),
    narrowMissedClaims: Number(isNarrowMissed && isClaims),
    noStems: Number(scored.length > 0 && stems.length === 0),
    cosine: comparison.cosine(statement),
    clause: best ? share(best.met) : 0,
    score: statement.score,
    isFirst: Number(statement.rank === 0),
    nearFirst: comparison.topScore > 0 ? statement.score / comparison.topScore : 0,
    isMemory: Number(statement.from === "memory"),
    hasLead: Number(statement.lead !== ""),
    length: Math.log(1 + found.tokens.length) / 4,
    isOver: inquiry.asksPast ? 0 : over,
    isOverPast: inquiry.asksPast ? over : 0,
    later: Number(statement.isLater && inquiry.question.tense !== "future" && type !== "time"),
    newest: comparison.times.length < 2 ? 0 : older / (comparison.times.length - 1),
    ...who,
    thirdAlone: isClaims ? 0 : who.thirdAlone,
    negated: Number(isNegated && !inquiry.isNegated && type !== "yes_no"),
    negatedAsked: Number(inquiry.isNegated && !isNegated),
    speakerMet: Number(
      statement.speaker !== undefined &&
        splitWords(statement.speaker).some((name) => parties.names.includes(name)),
    ),
    vague: Number(
      inquiry.topic !== undefined && topic.topicKind === 0 && namesOnly(found.text, inquiry.topic),
    ),
    pastTense: Number(
      inquiry.question.tense === "present" &&
        type !== "time" &&
        found.tokens.some(
          ({ tag, lower }) => tag === "VBD" && verbs.some((word) => keysOf(lower).includes(word.key)),
        ),
    ),
    parting: Number(
      !inquiry.asksPast && type !== "yes_no" && !PARTED.test(inquiry.text) && PARTED.test(statement.text),
    ),
    relativeTime: Number(type === "time" && RELATIVE.test(statement.text) && !YEAR.test(statement.text)),
    unreal: Number(UNREAL.test(statement.text) && !UNREAL.test(inquiry.text)),
    unrealClause: Number(!UNREAL.test(inquiry.text) && best !== undefined && best.clause.isUnreal),
    reported: Number(REPORTED.test(statement.text)),
    weekdayMissed: Number(isOtherDay(inquiry.weekdays, weekdaysOf(found.text))),
    ...topic,
    ...answer,
    noWords: Number(scored.length === 0),
    claims: Number(isClaims),
    claimsYesNo: Number(isClaims && type === "yes_no"),
    claimsStems: isClaims ? share(stems.length) : 0,
  };
}

/** "I saw a film", "I take medication every morning": the kind that is asked for, and not which. */
function namesOnly(sentence: string, topic: string): boolean {
  const found = new RegExp(
    `(?<before>[\\p{L}'’-]+) (?:new |good |great |nice |lovely |old )?${topic.replace(/[^\p{L}\p{N} -]/gu, ".")}s?\\b(?<after>[,:]? ?["“]?\\S*)`,
    "iu",
  ).exec(sentence)?.groups;
  if (!found || /^[,:]? ?["“]?(?:\p{Lu}|called|named)/u.test(found.after ?? "")) return false;
  return /^(?:an?|some|any|the|my|our|this|that|no|takes?|have|has|needs?|wants?|on|got|gets?|bought|buys?|do|doing|of)$/i.test(
    found.before ?? "",
  );
}

/** Cosine of two words from which one is taken for the other. */
const MET = 0.5;

const formsOf = memoizeByWord(2_000, forms);

function isMet(word: string, keys: ReadonlySet<string>): boolean {
  return keys.has(word) || formsOf(word).some((form) => keys.has(form));
}

/** Kinds so wide that everything is of them tell nothing. */
const LEAST_STEPS = 4;

/** Whether a word names a thing of a kind, by the tables of this package or by WordNet; false for the same word. */
function isOfKindByAny(word: string, kind: string): boolean {
  return isPairOfKind(`${toSingular(word)} ${toSingular(kind)}`);
}

const isPairOfKind = memoizeByWord(20_000, (pair) => {
  const [one = "", other = ""] = pair.split(" ");
  if (one === other) return false;
  if (isKindOf(one, other) || isOfKind(one, other) === true) return true;
  return countSteps(other) >= LEAST_STEPS && isHyponym(one, other);
});

function bestClause(
  words: Inquiry["words"],
  clauses: readonly Clause[],
): { clause: Clause; met: number } | undefined {
  let best: { clause: Clause; met: number } | undefined;
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
  { parties, type, topic, subject: doer, owned }: Inquiry,
  { parties: told, keys, sentences }: Analysis,
  best: { clause: Clause; met: number } | undefined,
  aliases: Comparison["aliases"],
): Record<PartyFeature, number> {
  const roles = parties.roles.filter((role) => role !== topic || type !== "person");
  const meets = (one: string, all: readonly string[]): boolean =>
    all.includes(one) ||
    keys.has(key(one)) ||
    all.some((other) => toCanonicalThing(other) === toCanonicalThing(one) || isOfKindByAny(other, one)) ||
    [...(aliases.get(one) ?? [])].some((alias) => all.includes(alias) || keys.has(key(alias)));
  const everyone = [...told.names, ...told.roles];
  const names = parties.names.filter((name) => meets(name, everyone));
  const met = roles.filter((role) => meets(role, everyone));
  const asksUser = parties.user && parties.names.length === 0 && roles.length === 0;
  const subject = best?.clause.subject ?? "none";
  const isThird = subject === "role" || subject === "name" || subject === "pronoun";
  const owners = compareOwners(owned, sentences, best?.clause.hasUser === true);
  return {
    nameMet: parties.names.length === 0 ? 0 : names.length / parties.names.length,
    nameMissed: parties.names.length === 0 ? 0 : 1 - names.length / parties.names.length,
    roleMet: roles.length === 0 ? 0 : met.length / roles.length,
    roleMissed: roles.length === 0 ? 0 : 1 - met.length / roles.length,
    userMet: Number(asksUser && (subject === "user" || subject === "none")),
    userOther: Number(asksUser && !told.user),
    userThird: Number(asksUser && isThird),
    doerMet: Number(doer === "user" && subject === "user"),
    doerOther: Number(doer === "user" && isThird),
    doerOtherPlain: Number(
      doer === "user" && isThird && type !== "person" && !(best?.clause.holder === "user"),
    ),
    thirdAlone: Number(
      asksUser && isThird && type !== "person" && best?.clause.hasUser === false && owners.ownerMet === 0,
    ),
    ...owners,
    holder: Number(asksUser && best?.clause.holder === "other"),
    otherRole: Number(
      !asksUser &&
        roles.length + parties.names.length > 0 &&
        everyone.length > 0 &&
        met.length + names.length === 0,
    ),
  };
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

type TopicFeature = "topicNamed" | "topicKind" | "topicMissing" | "topicImpossible";

function compareTopic(
  { topic, type, words }: Inquiry,
  { content, keys, tokens }: Analysis,
): Record<TopicFeature, number> {
  if (topic === undefined || type === "time")
    return { topicNamed: 0, topicKind: 0, topicMissing: 0, topicImpossible: 0 };
  const isNamed = keys.has(key(topic));
  const isKind = content.some((word) => isOfKindByAny(word, topic));
  // A word that no table knows may be the name of anything.
  const mayBeName = tokens.some(
    ({ lower, pos }) =>
      (pos === "PROPN" || (pos === "NOUN" && !isKnownNoun(toSingular(lower)))) &&
      !words.some((word) => word.key === key(lower)),
  );
  const isMissing = !isNamed && !isKind;
  return {
    topicNamed: Number(isNamed),
    topicKind: Number(isKind),
    topicMissing: Number(isMissing),
    topicImpossible: Number(isMissing && !mayBeName && type === "thing"),
  };
}

type AnswerFeature =
  | "person"
  | "noPerson"
  | "nearName"
  | "farName"
  | "place"
  | "noPlace"
  | "time"
  | "noTime"
  | "number"
  | "noNumber"
  | "yesNo"
  | "yesNoAll"
  | "manner"
  | "thing"
  | "news";

function answerFeatures(
  inquiry: Inquiry,
  found: Analysis,
  own: ReadonlySet<string>,
  topic: Record<TopicFeature, number>,
): Record<AnswerFeature, number> {
  const { type, text } = inquiry;
  const news = found.content.filter((word) => !keysOf(word).some((form) => own.has(form)));
  const is = (wanted: Inquiry["type"], holds: boolean): [number, number] =>
    type === wanted ? [Number(holds), Number(!holds)] : [0, 0];
  const isNew = (word: string): boolean => !keysOf(word.toLowerCase()).some((form) => own.has(form));
  const hasPerson =
    found.parties.names.some(isNew) ||
    found.parties.roles.some(isNew) ||
    found.tokens.some(({ text, pos }) => pos === "PROPN" && isNew(text));
  const [person, noPerson] = is("person", hasPerson);
  const asksName = /\b(?:name|named|called|nickname)\b/i.test(text);
  const isNear = asksName && isNameNear(inquiry, found, isNew);
  const [place, noPlace] = is(
    "place",
    topic.topicKind > 0 ||
      NAMED_PLACE.test(found.text) ||
      (/\bwhere\b/i.test(text) && PLACE.test(found.text)),
  );
  const [time, noTime] = is("time", tellsTime(text, found.text, isNew));
  const [number, noNumber] = is("number", (found.text.match(NUMBER) ?? []).some(isNew));
  const covered = inquiry.words.filter((word) => isMet(word.key, found.keys)).length;
  return {
    person,
    noPerson,
    nearName: asksName ? Number(isNear) : 0,
    farName: asksName ? Number(!isNear) : 0,
    place,
    noPlace,
    time,
    noTime,
    number,
    noNumber,
    yesNo: Number(type === "yes_no"),
    yesNoAll: Number(type === "yes_no" && inquiry.words.length > 0 && covered === inquiry.words.length),
    manner: Number(type === "manner"),
    thing: Number(type === "thing"),
    news: Math.min(news.length, 4) / 4,
  };
}

/** Whether a name stands within some words of the person or thing whose name is asked for. */
function isNameNear(
  { parties, owned, topic }: Inquiry,
  { tokens }: Analysis,
  isNew: (word: string) => boolean,
): boolean {
  const wanted = [...parties.roles, ...owned, ...(topic ? [topic] : [])].map(toCanonicalThing);
  if (wanted.length === 0) return true;
  const places = tokens.flatMap(({ lower }, i) =>
    wanted.includes(toCanonicalThing(toSingular(lower))) ? [i] : [],
  );
  return tokens.some(
    ({ pos, text }, i) =>
      (pos === "PROPN" || /^\p{Lu}\p{Ll}/u.test(text)) &&
      i > 0 &&
      isNew(text) &&
      !/^(?:I|On|The|My|Our)$/.test(text) &&
      places.some((at) => Math.abs(at - i) <= NEAR_WORDS),
  );
}

const NEAR_WORDS = 4;

function tellsTime(question: string, text: string, isNew: (word: string) => boolean): boolean {
  if (/\bwhat time\b|\bhour\b/i.test(question)) return CLOCK.test(text);
  if (/\byear\b/i.test(question)) return YEAR.test(text);
  if (/\bbirthday\b/i.test(question)) return DAY.test(text.replace(YEAR, " "));
  if (/\b(?:what|which) (?:day|weekday|date)s?\b/i.test(question)) return DAY.test(text);
  return (text.match(TIME) ?? []).some((time) => splitWords(time).some(isNew));
}
