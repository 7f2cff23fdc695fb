import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { toSingular, toThirdPerson } from "../../word-forms.ts";
import type { Context } from "../context.ts";
import { isTime, isTimeNoun } from "../time/times.ts";
import {
  ANIMALS,
  COORDINATORS,
  EMPTY_SUBJECTS,
  FIRST_PERSON,
  FIRST_POSSESSIVE,
  SAYING,
} from "../words/lexicon.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";
import { type Clause, isOrder } from "./clauses.ts";
import { isHuman, NOBODYS_THING } from "./entities.ts";
import type { Discourse, Entity, ToldSubject } from "./entity.ts";
import { groupSubject } from "./group-subjects.ts";
import { phrasesOf } from "./phrases.ts";

/** The clause before, with its subject. */
export interface Before {
  readonly clause: Clause;
  readonly subject: Entity | undefined;
}

/** Of whom a clause speaks; undefined where it is nobody whose life is told here. */
export function subjectOf(context: Context, clause: Clause, before: Before | undefined): Entity | undefined {
  const { tokens, subject } = clause;
  const talk = context.discourse;
  if (!subject) return leftOut(talk, clause, before);
  const first = tokens[subject[0]];
  if (!first || isOfNobody(clause, first)) return undefined;
  if (clause.role === "relative") return antecedent(context, clause, before);
  if (clause.role === "content" && isOthersView(talk, first, before)) return undefined;
  if (tokens[subject[0] - 1]?.lower === "whose") return whoseName(talk, first);
  const isAlone = subject[1] - subject[0] === 1;
  if (isAlone && (first.lower === "it" ? isHowLong(clause) : EMPTY_SUBJECTS.has(first.lower)))
    return undefined;
  const found =
    groupSubject(talk, tokens, subject) ?? talk.resolve(tokens, ...subject) ?? renamedPerson(context, clause);
  const isOther = isAlone && first.lower === "they" && isDoneByThings(clause, found);
  return isOther || !agrees(clause, found) ? undefined : found;
}

/** "it" is nothing of many, and "out of the window LIKE a thief" no verb: one thing likes. */
function agrees({ tokens, subject, verb }: Clause, found: Entity | undefined): boolean {
  const [from = 0, to = 0] = subject ?? [];
  if (to - from === 1 && tokens[from]?.lower === "it") return found?.plural !== true;
  const isSimile = tokens[verb.from]?.lower === "like" && verb.to - verb.from === 1 && !verb.denied;
  const isThirdOne =
    found !== undefined &&
    !found.plural &&
    tokens.slice(from, to).every(({ lower }) => !FIRST_PERSON.has(lower));
  return !(isSimile && isThirdOne && tokens[from]?.class === "determiner");
}

/** "Neither of us saw it", "Sundays are for my loom", "we are thirty women": nobody's life is told. */
function isOfNobody(clause: Clause, first: Token): boolean {
  const isOther = /^(?:you|neither|none|nobody)$/.test(first.lower) || isOfSome(clause);
  return isOther || isHeadCount(clause) || isDay(clause);
}

const SOME = /^(?:(?:some|any|no)(?:one|body)|half|most|some|many|few|several|none|couple)$/;

/** "SOMEONE AT the office took it", "HALF my class is ill", "ALL BUT Keith left": the clause does not say who it is about. */
function isOfSome({ tokens, subject }: Clause): boolean {
  const [from = 0, to = 0] = subject ?? [];
  const [first, before, beyond] = [tokens[from], tokens[from - 1], tokens[from - 2]];
  if (to <= from || !first) return false;
  if (SOME.test(first.lower) || hangsOnSome(tokens, from)) return true;
  // "two and a half, my daughter is five"
  const isHalf = before?.lower === "half" && before.after === " " && beyond?.lower !== "a";
  if (isHalf) return ["possessive", "determiner"].includes(first.class);
  return before?.lower === "but" && /^(?:all|none)$/.test(beyond?.lower ?? "");
}

/** Whether only prepositions link the subject to a word such as "someone" or "none". */
function hangsOnSome(tokens: readonly Token[], from: number): boolean {
  let at = from;
  while (tokens[at - 1]?.class === "preposition" && at > 1) {
    at -= 2;
    if (SOME.test(tokens[at]?.lower ?? "")) return true;
    if (tokens[at]?.class !== "pronoun") return false;
  }
  return false;
}

/** "We are thirty women": how many there are of a group, and nothing of the one who speaks. */
function isHeadCount({ tokens, subject, verb, rest }: Clause): boolean {
  if (tokens[subject?.[0] ?? -1]?.lower !== "we" || !verb.copula || tokens[rest[0]]?.class !== "number")
    return false;
  const noun = tokens.slice(rest[0] + 1, rest[1]).find(({ class: kind }) => kind === "noun");
  if (!noun || isTimeNoun(noun.lower)) return false;
  return isPersonNoun(noun.lower) || toSingular(noun.lower) !== noun.lower;
}

/** "Sundays are for my loom", "Thursday works": a day does nothing. "Sunday is my day off" is told of it. */
function isDay({ tokens, subject, verb, rest }: Clause): boolean {
  if (!subject || !isTime(tokens, ...subject)) return false;
  return !(verb.copula && tokens[rest[0]]?.class === "possessive");
}

/** "dad's torch went back, got HIM a beanie": a thing does nothing for anybody. */
function isDoneByThing({ tokens, rest }: Clause, before: Before | undefined): boolean {
  return before?.subject?.animate === false && /^(?:me|us|him|her|them)$/.test(tokens[rest[0]]?.lower ?? "");
}

/** "They've moved my driving test": whoever they are, and not the cones that were spoken of. */
function isDoneByThings({ verb }: Clause, found: Entity | undefined): boolean {
  return found !== undefined && !found.animate && !verb.copula && verb.lemma !== "have";
}

/** "It's been eleven years": nothing that lasted is named. */
function isHowLong({ tokens, verb, rest }: Clause): boolean {
  return verb.copula && verb.perfect && tokens.slice(...rest).some(({ tags }) => tags.has("Duration"));
}

/** "a parrot whose name is Kiwi": the parrot's. */
function whoseName(talk: Discourse, { lower }: Token): Entity | undefined {
  const owner =
    lower === "name" ? (talk.meantBy("it") ?? talk.meantBy("she") ?? talk.meantBy("he")) : undefined;
  return (
    owner && { path: `${owner.path}/name`, display: `${owner.display}'s name`, animate: false, plural: false }
  );
}

/** "sold the Canon": I did, or whoever the clause before is about. */
function leftOut(talk: Discourse, clause: Clause, before: Before | undefined): Entity | undefined {
  // "Here's our newest piece": a form of "be" stands alone for nobody.
  if (!clause.shares && clause.verb.copula && !clause.verb.perfect) return undefined;
  if (isNoVerb(clause, before) || (clause.shares && isForOther(talk, clause, before))) return undefined;
  if (clause.shares) return isDoneByThing(clause, before) ? undefined : sharedSubject(talk, clause, before);
  if (hasOtherSubject(clause) || isThird(clause)) return undefined;
  const isAtHand = /^(?:this|these|those|it|them)$/.test(clause.tokens[clause.rest[0]]?.lower ?? "");
  // "Use this file": an order, where "love this place" is none.
  const stands =
    STANDING.has(clause.verb.lemma) && !clause.verb.denied && !(isAtHand && DONE_WITH.has(clause.verb.lemma));
  return isOrder(clause) && !stands && !isOver(clause) ? undefined : elided(talk, clause);
}

/** What a thing does as well as a person: "It's here. Came at noon." */
const ARRIVING = new Set("come arrive land turn up show up appear".split(" "));

/** "Killed the mood": I did, where the sentence before was told of nobody else. */
function elided(talk: Discourse, clause: Clause): Entity | undefined {
  const { told } = talk;
  const words = [...clause.tokens.slice(...clause.lead), ...clause.tokens.slice(...clause.rest)];
  // "Gave ME Fridays off": whoever it was, not the one who speaks; "got me a dog" is.
  const isDoneToMe = /^(?:me|us)$/.test(clause.tokens[clause.rest[0]]?.lower ?? "");
  if (isDoneToMe && !FOR_ONESELF.has(clause.verb.lemma)) return undefined;
  if (hasFirstPerson(words)) return talk.speaker;
  const own = words.findIndex(({ lower }, i) => isReflexive(lower, words[i + 1]?.lower));
  // "at HIS OWN wedding": never the one who speaks.
  if (own >= 0)
    return told.entity && isOfGender(told.entity, words[own]?.lower ?? "") ? told.entity : undefined;
  if (told.of === "speaker" || isBase(clause)) return talk.speaker;
  if (told.of === "thing") return isArriving(clause) ? undefined : talk.speaker;
  // "My aunt is ill. Visited HER on Sunday."
  const isObject = words.some(
    ({ lower, class: kind }) => kind === "pronoun" && /^(?:him|her|them)$/.test(lower),
  );
  return isObject ? talk.speaker : undefined;
}

const FOR_ONESELF = new Set("get buy make find treat book order pour cook".split(" "));

function isArriving({ verb, tokens, rest }: Clause): boolean {
  return ARRIVING.has(verb.lemma) && !/^(?:home|back|to)$/.test(tokens[rest[0]]?.lower ?? "");
}

function hasFirstPerson(words: readonly Token[]): boolean {
  return words.some(({ lower }) => FIRST_PERSON.has(lower) || FIRST_POSSESSIVE.has(lower));
}

/** "himself", "his own" */
function isReflexive(word: string, next: string | undefined): boolean {
  return (
    /^(?:him|her|it|them)sel(?:f|ves)$/.test(word) || (/^(?:his|her|their|its)$/.test(word) && next === "own")
  );
}

function isOfGender({ gender, animate }: Entity, word: string): boolean {
  if (word.startsWith("her")) return animate && gender !== "male";
  return word.startsWith("hi") && animate && gender !== "female";
}

/** Of whom a sentence was told: whoever its last main clause is about. A clause without a subject tells on of the same. */
export function toldOf(before: ToldSubject, { clause, subject }: Before): ToldSubject {
  const { tokens } = clause;
  if (!clause.subject) return before;
  const words = tokens.slice(...clause.subject);
  if (words.some(({ lower }) => FIRST_PERSON.has(lower))) return { of: "speaker" };
  const [first] = words;
  const isThem = first?.lower === "they" && !subject;
  if (subject?.animate) return { of: "other", ...(subject.plural ? {} : { entity: subject }) };
  const isPerson = words.some(({ lower, class: kind }) => kind === "noun" && isPersonNoun(lower));
  const isOther = /^(?:he|she)$/.test(first?.lower ?? "") || (!subject && isPerson);
  return { of: isOther && !isThem ? "other" : "thing" };
}

/**
 * "the house was grey, like living in a box", "parked in the garage, level 4": behind a comma, a comparison or a noun was taken for
 * a verb in its base form.
 */
function isNoVerb({ tokens, verb }: Clause, before: Before | undefined): boolean {
  const first = tokens[verb.from];
  if (!before || !first || verb.denied) return false;
  // "…, honestly like a radio"
  const at = tokens.findLastIndex(
    ({ class: kind, after }, i) => i < verb.from && (kind !== "adverb" || after.includes(",")),
  );
  const isBehindComma = /,/.test(tokens[at]?.after ?? "");
  const isBase = verb.tense === "present" && toBaseForm(first.lower) === first.lower;
  if (!isBehindComma || !isBase) return false;
  return (
    before.clause.verb.tense === "past" || (/^like\b/.test(verb.lemma) && before.clause.subject !== undefined)
  );
}

/** "don't need the stick anymore": no order, but what is so no longer. */
function isOver({ tokens, verb, rest }: Clause): boolean {
  const behind = tokens
    .slice(rest[0])
    .map(({ lower }) => lower)
    .join(" ");
  return verb.denied !== undefined && /\b(?:any ?more|any longer)\b/.test(behind);
}

/** "plays the sax": said of somebody else, whoever it was. */
function isThird({ tokens, verb }: Clause): boolean {
  const { lower = "" } = tokens[verb.from] ?? {};
  return verb.tense === "present" && /[a-z]{2}s$/.test(lower) && lower === toThirdPerson(toBaseForm(lower));
}

function sharedSubject(talk: Discourse, clause: Clause, before: Before | undefined): Entity | undefined {
  // "My boss is nice, love my job": the one who speaks.
  if (disagrees(talk, clause, before))
    return isBare(clause) && STANDING.has(clause.verb.lemma) ? talk.speaker : undefined;
  if (before?.subject) return before.subject;
  // "The plumber (from Hull) came, needs a valve": nobody's, like the clause before.
  const isOthers =
    before &&
    (before.clause.subject || before.clause.shares || hasOtherSubject(before.clause) || isThird(clause));
  return isOthers ? undefined : elided(talk, clause);
}

/**
 * "Oslo is where I live and IS lovely": "is" is none of "I". "We moved, boxes everywhere", "my test is on Friday, pray for me": behind a
 * comma alone, a verb that does not agree with the subject before has another one, or is no verb.
 */
function disagrees(talk: Discourse, clause: Clause, before: Before | undefined): boolean {
  const { tokens, verb } = clause;
  const subject = before?.clause.subject;
  if (subject === undefined || !before?.subject) return false;
  const isI = /^(?:i|we|you|they)$/.test(before.clause.tokens[subject[1] - 1]?.lower ?? "");
  const isSpeaker = before.subject.path === talk.speaker.path;
  if (isI && isSpeaker && /^(?:is|has|does)$/.test(tokens[verb.from]?.lower ?? "")) return true;
  if (!tokens[verb.from - 1]?.after.includes(",")) return false;
  return isI ? isThird(clause) : !before.subject.plural && isBare(clause);
}

/** "don't have", "need": the base form, denied or not. */
function isBase({ tokens, verb }: Clause): boolean {
  const { lower = "" } = tokens[verb.from] ?? {};
  return verb.tense === "present" && verb.form !== "gerund" && toBaseForm(lower) === lower;
}

/** "pray", "live": the base form, which "she" and "the test" do not have. */
function isBare({ tokens, verb }: Clause): boolean {
  const { lower = "" } = tokens[verb.from] ?? {};
  return verb.tense === "present" && !verb.denied && toBaseForm(lower) === lower;
}

/** Those whose word on the user's state is a finding. */
const FINDS =
  /\/(?:doctor|gp|optician|dentist|physio|nurse|consultant|midwife|surgeon|specialist|cardiologist|dermatologist|osteopath|audiologist|vet|test|results?|scan|blood test)s?$/;

/** "If acting makes you happy, give it a shot": behind a condition, or another order, a bare verb is one too. */
function isAdvice({ tokens, verb }: Clause, before: Before | undefined): boolean {
  const first = tokens[verb.from];
  if (!before || first === undefined || verb.tense !== "present" || toBaseForm(first.lower) !== first.lower)
    return false;
  const isCondition = before.clause.role === "condition" && before.clause.verb.to <= verb.from;
  return before.subject === undefined && ((isCondition && !verb.denied) || isOrder(before.clause));
}

/** An instruction to the assistant. */
function isForOther(talk: Discourse, clause: Clause, before: Before | undefined): boolean {
  return isAdvice(clause, before) || isSoOrder(talk, clause, before);
}

/**
 * "We sold it, so IGNORE those reminders": a base form behind "so" that does not continue the clause before. "I've retired so have loads of
 * time" does.
 */
function isSoOrder(talk: Discourse, clause: Clause, before: Before | undefined): boolean {
  const { tokens, verb, rest } = clause;
  const isPlain = isBase(clause) && !verb.denied && !verb.modal && !STANDING.has(verb.lemma);
  if (tokens[verb.from - 1]?.lower !== "so" || !isPlain) return false;
  if (before?.subject?.path !== talk.speaker.path) return true;
  const words = tokens.slice(...rest).map(({ lower }) => lower);
  return /^(?:(?:all )?(?:those|these)|that|this|all (?:the|my))\b|\b(?:please|pls|plz)\b/.test(
    words.join(" "),
  );
}

/** What others say of the user is theirs: "Tina thinks I'm mad". */
function isOthersView(talk: Discourse, first: Token, before: Before | undefined): boolean {
  // "If you must know, I live in Leeds."
  if (!before?.clause.subject || before.clause.role === "condition") return false;
  const isOpinion =
    /^(?:think|reckon|believe|guess|suppose|feel|hope|bet|wish|figure|assume|claim|swear|joke)$/.test(
      before.clause.verb.lemma,
    );
  if (isOpinion && before.subject?.path !== talk.speaker.path) return true;
  if (!FIRST_PERSON.has(first.lower) || FINDS.test(before.subject?.path ?? "")) return false;
  return SAYING.has(before.clause.verb.lemma) && before.subject?.path !== talk.speaker.path;
}

/** Verbs that open a sentence about oneself without "I": "love this place", "need to call mum". */
const STANDING = new Set(
  "love hate like need want prefer live work miss hope plan use drive play own let quit shut split".split(
    " ",
  ),
);

const DONE_WITH = new Set("use drive play let shut split quit own plan".split(" "));

/** Something stands before the verb that is no subject we can read: then it is not "I" that was left out. */
function hasOtherSubject({ tokens, lead, verb }: Clause): boolean {
  if (/[,;:]/.test(tokens[verb.from - 1]?.after ?? "")) return isDescribed(tokens, lead, verb.from);
  if (isBracketed(tokens, lead, verb.from)) return true;
  const at = tokens.findIndex(
    (token, i) =>
      i >= lead[0] &&
      i < verb.from &&
      ["determiner", "possessive"].includes(token.class) &&
      !token.after.includes(",") &&
      !isTime(tokens, i, i + 2),
  );
  return at >= 0 && tokens[at - 1]?.class !== "preposition";
}

/** "boiler man (Kev from Hull) came": a noun, and what it is in brackets. */
function isBracketed(tokens: readonly Token[], [from]: Stretch, verb: number): boolean {
  const open = tokens.findIndex(
    ({ before }, i) => i > from && i < verb && (before.includes("(") || tokens[i - 1]?.after.includes("(")),
  );
  const closes = tokens[verb - 1]?.after.includes(")") === true;
  return closes && ["noun", "name"].includes(tokens[open - 1]?.class ?? "") && !isTime(tokens, from, open);
}

/** "My gym, a chain from Leeds, closed": a noun phrase that opens the clause, and what it is between commas. */
function isDescribed(tokens: readonly Token[], [from]: Stretch, verb: number): boolean {
  const opens = (at: number): boolean => ["determiner", "possessive"].includes(tokens[at]?.class ?? "");
  if (!opens(from) && !opens(from - 1)) return false;
  const comma = tokens.findIndex(({ after }, i) => i >= from && i < verb - 1 && after.includes(","));
  return comma >= 0 && !isTime(tokens, from, comma + 1);
}

/** "he's Danielle now": whoever was spoken of last, whatever the pronoun. */
function renamedPerson(context: Context, { tokens, subject, verb, rest }: Clause): Entity | undefined {
  const pronoun = subject && tokens[subject[0]]?.lower;
  const isNaming = verb.copula && isCapital(tokens[rest[0]]) && /^(?:she|he|they|it)$/.test(pronoun ?? "");
  if (!isNaming || (pronoun === "it" && verb.modal !== undefined)) return undefined;
  return ["they", "she", "he"].flatMap((one) => context.discourse.meantBy(one) ?? [])[0];
}

/** Whom "who" means: the noun phrase right before it. */
function antecedent(
  context: Context,
  { tokens, subject }: Clause,
  before: Before | undefined,
): Entity | undefined {
  const end = subject?.[0] ?? 0;
  const start = phraseBefore(tokens, end);
  const isPhrase = start >= 0 && !tokens.slice(start, end).some(({ class: kind }) => kind === "verb");
  if (isPhrase) return context.discourse.resolve(tokens, start, end);
  if (start >= 0) return undefined;
  return before ? context.discourse.meantBy("they") : undefined;
}

/** Where the phrase that ends there begins: "my brother Ben", or a name alone, not over "and" to another name. */
function phraseBefore(tokens: readonly Token[], end: number): number {
  const from = Math.max(0, end - 5);
  const joint = tokens.slice(from, end).findLastIndex(({ lower }) => COORDINATORS.has(lower));
  const behind = joint < 0 ? from : from + joint + 1;
  const isOpening = ({ class: kind }: Token, i: number): boolean =>
    i >= behind && i < end && (kind === "possessive" || kind === "name");
  const start = tokens.findIndex(isOpening);
  return start < 0
    ? tokens.findIndex(({ class: kind }, i) => i >= from && i < behind && kind === "possessive")
    : start;
}

/** Verbs with which people's own words are given. */
export const TELLING: ReadonlySet<string> = new Set(
  "say text shout yell write announce post tweet whisper mutter scream reply answer joke message email declare tell go cry sing mumble".split(
    " ",
  ),
);

/** Tina said "I'm moving": the "I" is Tina. Only plain statements of people who are named or known. */
export function quotedSpeaker(
  context: Context,
  clause: Clause,
  sayer: Entity | undefined,
): Entity | undefined {
  const { tokens, subject, verb } = clause;
  if (!sayer || sayer.path === context.discourse.speaker.path || !tokens[verb.from]?.quoted) return undefined;
  if (clause.asks || verb.open || !isHuman(sayer)) return undefined;
  // "I hate my school": whose it is would be read as the user's.
  if (tokens.slice(...clause.rest).some(({ lower }) => /^(?:me|us|my|our|mine|ours)$/.test(lower)))
    return undefined;
  if (!subject) return clause.shares ? sayer : undefined;
  const isI = subject[1] - subject[0] === 1 && FIRST_PERSON.has(tokens[subject[0]]?.lower ?? "");
  return isI && clause.role !== "condition" ? sayer : undefined;
}

/**
 * Whom and what a clause names, in the order in which a pronoun would mean them: the subject last. "Her teacher is Ms Okafor", "she
 * met Petra": who is spoken of stays, and the others are named aside.
 */
export function mentionsOf(talk: Discourse, clause: Clause, isSubjectAside = false): Entity[] {
  const { tokens, subject } = clause;
  const same = subject && meantAgain(talk, tokens, subject);
  const phrases = phrasesOf(tokens, ...clause.rest).filter(({ kind }) => kind !== "time");
  // "an interview at Siemens": "it" is the interview.
  const objects = phrases.toSorted(
    (one, other) => Number(one.kind === "noun") - Number(other.kind === "noun"),
  );
  const named = objects.flatMap(({ items, head }) =>
    items.flatMap((item) => {
      const entity = mentioned(talk, clause, item);
      // "to Lisbon": whatever bears a name behind "in" or "to" is no "he".
      const isPlace =
        entity !== undefined &&
        /^(?:in|to|at|from|near|into|via)$/.test(head ?? "") &&
        !entity.path.includes("/");
      return entity ? [isPlace ? { ...entity, animate: false } : entity] : [];
    }),
  );
  const isAside = clause.verb.copula || isOfPronoun(clause);
  const owner = subject && ownerIn(talk, tokens, subject);
  const own = subject && tokens[subject[0]]?.class !== "pronoun" ? talk.resolve(tokens, ...subject) : same;
  const isOther = ({ path }: Entity): boolean => path !== talk.speaker.path;
  const objectsNamed = named.filter(isOther);
  for (const entity of objectsNamed) talk.mention(entity, isAside);
  const isUnclaimed = objects.some(
    ({ kind, items }) => kind === "noun" && items.some((item) => isUnclaimedThing(talk, clause, item)),
  );
  if (isUnclaimed) talk.mention(NOBODYS_THING, isAside);
  const isThing = subject && !own && !owner && isNobodysThing(tokens, subject);
  if (isThing) talk.mention(NOBODYS_THING);
  const subjects = [owner ?? [], own ?? []].flat().filter(isOther);
  const isPassing = isSubjectAside || isOfPossessor(clause);
  for (const entity of subjects) talk.mention(entity, isPassing);
  return [...objectsNamed, ...subjects];
}

/** Whom a sentence without a verb names, or what stands before its first clause: "First day of school for Leni, she …". */
export function mentionsOfFragment(talk: Discourse, tokens: readonly Token[], lead?: Stretch): void {
  const phrases = phrasesOf(tokens, ...(lead ?? ([0, tokens.length] as const)));
  const naming = phrases.filter(({ kind, head }) =>
    kind === "noun" ? lead === undefined : kind === "preposition" && /^(?:for|with|of)$/.test(head ?? ""),
  );
  for (const item of naming.flatMap(({ items }) => items)) {
    const entity = tokens[item[0]]?.class === "pronoun" ? undefined : talk.resolve(tokens, ...item);
    if (entity?.animate) talk.mention(entity);
  }
}

/** "the exam", "JLPT exam": a noun in the singular that is no person. */
function isNobodysThing(tokens: readonly Token[], [from, to]: Stretch): boolean {
  const head = tokens[to - 1];
  const isNoun =
    head?.class === "number" || (head?.class === "noun" && toSingular(head.lower) === head.lower);
  return isNoun && !isPersonNoun(head.lower) && tokens[from]?.class !== "pronoun";
}

/** "I earn 2100 a month", "finally had a scan": a thing that no claim can be about, and that "it" can mean all the same. */
function isUnclaimedThing(talk: Discourse, clause: Clause, item: Stretch): boolean {
  return isNobodysThing(clause.tokens, item) && mentioned(talk, clause, item) === undefined;
}

/** "her teacher": she is spoken of on. */
export function isOfPossessor({ tokens, subject }: Clause): boolean {
  return subject !== undefined && /^(?:his|her)$/.test(tokens[subject[0]]?.lower ?? "");
}

/** "she met Petra", "her teacher is …": somebody is spoken of already. */
function isOfPronoun({ tokens, subject }: Clause): boolean {
  return subject !== undefined && /^(?:he|she|his|her)$/.test(tokens[subject[0]]?.lower ?? "");
}

/** "Amma's sugar is 210": Amma. */
function ownerIn(talk: Discourse, tokens: readonly Token[], [from, to]: Stretch): Entity | undefined {
  const at = tokens.slice(from, to).findIndex(({ owner }) => owner);
  if (at < 0 || from + at + 1 >= to) return undefined;
  const owner = talk.resolve(tokens, from, from + at + 1);
  return owner?.animate ? owner : undefined;
}

/** "He plays Chopin. He works at a bank.": whoever "he" was is spoken of on, and not Chopin. */
function meantAgain(talk: Discourse, tokens: readonly Token[], [from, to]: Stretch): Entity | undefined {
  const pronoun = to - from === 1 ? (tokens[from]?.lower ?? "") : "";
  return /^(?:he|she)$/.test(pronoun) ? talk.meantBy(pronoun) : undefined;
}

function mentioned(talk: Discourse, clause: Clause, item: Stretch): Entity | undefined {
  const first = clause.tokens[item[0]];
  if (!first || first.class === "pronoun") return undefined;
  return talk.resolve(clause.tokens, ...item) ?? indefinite(talk, clause, item);
}

const OWNS = new Set([
  "have",
  "get",
  "own",
  "adopt",
  "buy",
  "keep",
  "pick up",
  "see",
  "date",
  "rescue",
  "meet",
  "join",
  "find",
  "start",
]);

/** "I have a cat", "got a new car": the speaker's from now on. */
function indefinite(talk: Discourse, { tokens, verb }: Clause, item: Stretch): Entity | undefined {
  const isOne = /^(?:a|an|two|three|four|one|new|some)$/.test(tokens[item[0]]?.lower ?? "");
  const head = tokens.slice(...item).findLast(({ class: kind }) => kind === "noun")?.lower;
  if (!isOne || head === undefined || !OWNS.has(verb.lemma)) return undefined;
  const owner = talk.speaker.path === "user" ? "The user's" : `${talk.speaker.display}'s`;
  const animate = isPersonNoun(head) || ANIMALS.has(head);
  const plural = toSingular(head) !== head;
  return { path: `${talk.speaker.path}/${head}`, display: `${owner} ${head}`, animate, plural };
}
