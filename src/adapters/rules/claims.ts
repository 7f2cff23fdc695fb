import { singular } from "../../domain/english.ts";
import type { Kind } from "../../domain/memory.ts";
import { attributeHoldsOne, canonicalRelation } from "../../domain/relations.ts";
import type { AddProposal } from "../../ports/extractor.ts";
import {
  type AddParts,
  adding,
  type Context,
  claimOf,
  type Statement,
  said,
  thirdPerson,
  tidy,
} from "./context.ts";
import { datesIn, momentOf, type SaidDate } from "./dates.ts";
import { type Entity, headWord, textOf } from "./entities.ts";
import { BE, FIRST_POSSESSIVE, LASTING, PASSING } from "./lexicon.ts";
import { readList } from "./noun-phrases.ts";
import { isName, nounOf } from "./nouns.ts";
import { isPersonNoun } from "./persons.ts";
import { binds, type Phrase, phrasesOf } from "./phrases.ts";
import { absolute, compose, inflect } from "./sentence.ts";
import type { Token } from "./token.ts";

/** What a clause says of somebody, as memories. */
export function claimsOf(context: Context, statement: Statement): AddProposal[] {
  const { clause, subject } = statement;
  const { verb } = clause;
  const phrases = phrasesOf(clause.tokens, ...clause.rest);
  const part: Part = {
    context,
    statement,
    phrases,
    dates: datesOf(context, statement),
    tokens: clause.tokens,
  };
  if (verb.open && !isWish(part)) return [];
  if (verb.passive && verb.lemma === "call") return nameClaims(part);
  const isBe = verb.copula && verb.chain.length === 0;
  if (isBe && verb.perfect && isPlace(phrases)) return visitClaims(part);
  if (isBe) return [...copulaClaims(part), ...nameBehind(part, subject)];
  if (isHollow(part) || hasHollowObject(part)) return nameBehind(part, subject);
  const claims = actionClaims(part);
  return [...claims, ...possessions(part), ...nameBehind(part, subject)];
}

interface Part {
  readonly context: Context;
  readonly statement: Statement;
  readonly phrases: readonly Phrase[];
  readonly dates: readonly SaidDate[];
  readonly tokens: readonly Token[];
}

/** "I'd love to", "I would like to": a wish, though "would" leaves open. */
function isWish({ statement }: Part): boolean {
  const { verb } = statement.clause;
  const { tokens, verb: own } = statement.clause;
  if (
    verb.modal === "would" &&
    (tokens[own.from + 1]?.lower === "rather" || tokens[own.to]?.lower === "rather")
  )
    return true;
  return verb.modal === "would" && ["love", "like", "prefer"].includes(verb.chain[0]?.verb ?? verb.lemma);
}

/** The dates of a clause, places counted in the statement's own words. */
export function datesOf(context: Context, statement: Statement): SaidDate[] {
  const { verb } = statement.clause;
  const text = context.content.slice(statement.start, statement.end);
  const ahead =
    verb.tense === "future" ||
    (verb.tense === "present" && !verb.perfect) ||
    verb.chain.some((link) =>
      ["plan", "be going", "want", "hope", "intend", "promise", "need", "have"].includes(link.verb),
    );
  return datesIn(text, context.message.at, ahead);
}

function isPlace(phrases: readonly Phrase[]): boolean {
  return (
    phrases[0]?.kind === "preposition" && ["to", "over to", "out to", "up to"].includes(phrases[0].head ?? "")
  );
}

function place(part: Part): { start: number; end: number } {
  return { start: part.statement.start, end: part.statement.end };
}

/** Everything in the clause but subject, verb and value, as it stands. */
function qualifierOf(part: Part, ...taken: readonly (Phrase | undefined)[]): string {
  const { context, statement, phrases, tokens } = part;
  const { clause } = statement;
  const bits: string[] = [];
  const lead = said(context, tokens, ...clause.lead);
  if (lead !== "" && isTellingLead(part)) bits.push(lead.charAt(0).toLowerCase() + lead.slice(1));
  for (const phrase of phrases) {
    if (taken.includes(phrase)) continue;
    const words = said(context, tokens, phrase.from, phrase.to);
    if (words === "" || (phrase.kind === "other" && !isTellingWord(tokens, phrase))) continue;
    bits.push(words);
  }
  if (statement.circumstance) bits.push(statement.circumstance);
  return tidy(bits.join(" ")).slice(0, 200);
}

function isTellingLead({ statement, tokens }: Part): boolean {
  const [from, to] = statement.clause.lead;
  const slice = tokens.slice(from, to);
  return (
    slice.some((token) => token.class === "preposition") ||
    slice.some(({ lower }) => lower === "every" || lower === "each" || /s$/.test(lower))
  );
}

function isTellingWord(tokens: readonly Token[], phrase: Phrase): boolean {
  const token = tokens[phrase.from];
  if (!token || phrase.to - phrase.from !== 1) return true;
  return (
    token.class === "number" ||
    (token.class === "adverb" &&
      /^(?:twice|once|daily|weekly|monthly|abroad|together|alone|remotely|professionally|competitively|back|mostly|part-time|full-time)$/.test(
        token.lower,
      ))
  );
}

/** The sentence of a clause: subject, verb as the third person has it, and the rest with its dates made plain. */
export function sentenceOf(
  part: { context: Context; statement: Statement; dates: readonly SaidDate[] },
  rest: string,
  lead = "",
): string {
  const { context, statement, dates } = part;
  const { subject, clause } = statement;
  const whole = context.content.slice(statement.start, statement.end);
  const told = thirdPerson(absolute(rest, dates, whole), context, subject);
  const text = compose(
    subject.display,
    inflect(clause.verb, subject.plural),
    told,
    thirdPerson(lead, context, subject),
  );
  return text;
}

/** The rest of the clause with one member of a list instead of all. */
function restWith(
  part: Part,
  phrase: Phrase | undefined,
  item: readonly [number, number] | undefined,
): string {
  const { context, tokens, statement } = part;
  const [from, to] = statement.clause.rest;
  if (!phrase || !item || phrase.items.length < 2) return said(context, tokens, from, to);
  const before = said(context, tokens, from, phrase.items[0]?.[0] ?? from);
  const after = said(context, tokens, phrase.items.at(-1)?.[1] ?? to, to);
  return [before, said(context, tokens, ...item), after].filter((text) => text !== "").join(" ");
}

function leadText(part: Part): string {
  const { context, tokens, statement } = part;
  const lead = isTellingLead(part) ? said(context, tokens, ...statement.clause.lead) : "";
  const low = lead.charAt(0).toLowerCase() + lead.slice(1);
  return [low, statement.circumstance ?? ""].filter((text) => text !== "").join(" ");
}

/** "My landlord is called Mr Petrakis." */
function nameClaims(part: Part): AddProposal[] {
  const { context, statement, phrases, tokens } = part;
  const noun = phrases.find(({ kind }) => kind === "noun");
  const name = noun
    ? said(context, tokens, noun.from, noun.to)
    : said(context, tokens, ...statement.clause.rest);
  if (name === "" || statement.clause.verb.denied) return [];
  return [called(part, statement.subject, name)];
}

function called(part: Part, entity: Entity, name: string, parts: Partial<AddParts> = {}): AddProposal {
  const old = part.context.known.find(
    ({ claim }) =>
      claim?.subject === entity.path &&
      claim.relation === "be called" &&
      entity.display.endsWith(` ${claim.value}`),
  );
  const bare = old?.claim
    ? entity.display.slice(0, -old.claim.value.length).trim()
    : entity.name === undefined
      ? entity.display
      : entity.display.slice(0, entity.display.length - entity.name.length).trim();
  return adding(part.context, place(part), {
    text: compose(bare, entity.plural ? "are called" : "is called", name),
    claim: claimOf(entity.path, "be called", name),
    importance: 0.8,
    ...(entity.plural ? { holds: "many" as const } : {}),
    ...parts,
  });
}

/** "my sister NADIA lives": her name is told in passing. */
function nameBehind(part: Part, entity: Entity): AddProposal[] {
  if (entity.name === undefined || !entity.path.includes("/")) return [];
  const last = entity.path.split("/").at(-1) ?? "";
  if (entity.path.endsWith(` ${entity.name}`) || !isAboutSomebody(last)) return [];
  const isKnown = part.context.known.some(
    ({ claim }) => claim?.relation === "be called" && claim.subject === entity.path,
  );
  const isMade = part.context.made.some(
    (made) =>
      made.propose === "add" && made.claim?.relation === "be called" && made.claim.subject === entity.path,
  );
  return isKnown || isMade ? [] : [called(part, entity, entity.name, { holds: "many" })];
}

function isAboutSomebody(thing: string): boolean {
  return !/\b(?:name|number|address|day|birthday|car|phone)$/.test(thing);
}

/** "I've been to Vietnam and Laos." */
function visitClaims(part: Part): AddProposal[] {
  const { statement, phrases, context, tokens } = part;
  const [target] = phrases;
  const deny = statement.clause.verb.denied;
  const relation = `${deny ? `${deny} ` : ""}have been to`;
  return (target?.items ?? []).map((item) =>
    adding(context, place(part), {
      text: sentenceOf(part, restWith(part, target, item)),
      claim: claimOf(
        statement.subject.path,
        relation,
        said(context, tokens, ...item),
        qualifierOf(part, target),
      ),
      kind: "fact",
      ...whenOf(part),
    }),
  );
}

function whenOf({ dates }: Part): { when?: string } {
  const [date] = dates;
  return date ? { when: date.iso } : {};
}

/** "I'm …", "my sister is …", "the rent's due …". */
function copulaClaims(part: Part): AddProposal[] {
  const { statement, phrases } = part;
  const { subject, clause } = statement;
  const telling = phrases.filter((phrase) => phrase.kind !== "other" && !isNow(part, phrase));
  const [first] = telling;
  if (!first || (clause.verb.tense === "past" && subject.path === "user" && first.kind === "adjective"))
    return [];
  if (first.kind === "adjective") return adjectiveClaims(part, first);
  if (first.kind === "noun") return nounClaims(part, first);
  if (first.kind === "time") return timeClaims(part, first);
  if (first.kind === "preposition") return prepositionClaims(part, first);
  return [];
}

/** "is now", "is still": a time that says nothing of its own. */
function isNow({ tokens }: Part, phrase: Phrase): boolean {
  return (
    phrase.kind === "time" &&
    phrase.to - phrase.from === 1 &&
    /^(?:now|still|currently|again|anymore|soon|today)$/.test(tokens[phrase.from]?.lower ?? "")
  );
}

const SELF_HELD = /^(?:home|back|there|here|away|out|off|in)$/;

function adjectiveClaims(part: Part, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement, dates } = part;
  const { subject, clause } = statement;
  if (phrase.head !== undefined) return relationClaims(part, `be ${phrase.head}`, phrase);
  const value = said(context, tokens, phrase.from, phrase.to);
  const word = tokens[phrase.to - 1]?.lower ?? "";
  if (PASSING.has(word) || PASSING.has(tokens[phrase.from]?.lower ?? "") || SELF_HELD.test(word)) return [];
  if (word === "due" || dates.length > 0) return dates.length > 0 ? timeClaims(part, phrase) : [];
  const isLasting =
    LASTING.has(word) ||
    LASTING.has(value.toLowerCase()) ||
    tokens[phrase.from]?.tags.has("Demonym") === true;
  if (!isLasting && subject.path === context.discourse.speaker.path && /ed$|ing$/.test(word)) return [];
  return [
    adding(context, place(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined), leadText(part)),
      claim: claimOf(subject.path, relationWith(clause.verb.denied, "be"), value, qualifierOf(part, phrase)),
      kind: "fact",
      holds: "many",
      confidence: isLasting ? 0.9 : 0.6,
      importance: isLasting ? 0.8 : 0.4,
    }),
  ];
}

function relationWith(deny: "not" | "never" | undefined, relation: string): string {
  return deny ? `${deny} ${relation}` : relation;
}

/** "is next Friday", "is due on the 5th". */
function timeClaims(part: Part, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement, dates } = part;
  const { subject, clause } = statement;
  if (subject.path === context.discourse.speaker.path || clause.verb.denied) return [];
  const value = said(context, tokens, phrase.from, phrase.to)
    .replace(/^(?:due|on|at|in)\s+/gi, "")
    .replace(/^(?:on|at|in)\s+/i, "");
  const isDue = tokens[phrase.from]?.lower === "due" || phrase.head?.startsWith("due");
  const [date] = dates;
  const rest = qualifierOf(part, phrase);
  return [
    adding(context, place(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined)),
      claim: claimOf(subject.path, isDue ? "be due on" : "be on", value, rest),
      kind: date ? "event" : "fact",
      holds: "one",
      importance: 0.7,
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}

function prepositionClaims(part: Part, phrase: Phrase): AddProposal[] {
  const { statement, context } = part;
  const head = phrase.head ?? "";
  if (phrase.items.length === 0) return [];
  if (
    statement.subject.path === context.discourse.speaker.path &&
    ["in", "at", "on", "off", "out", "out of", "near"].includes(head) &&
    !/^(?:on|in)$/.test(head)
  )
    return [];
  return relationClaims(part, `be ${head}`, phrase);
}

const AGE =
  /^(\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)?[- ]?(?:one|two|three|four|five|six|seven|eight|nine)|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?: years? old| y\/?o)?$/i;

/** "I'm Karl", "I'm a nurse at Mercy General", "my salary is 61k". */
function nounClaims(part: Part, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const value = said(context, tokens, phrase.from, phrase.to);
  const parent = nameOwner(subject);
  if (parent && !clause.verb.denied) return [called(part, parent, value)];
  const [item] = phrase.items;
  if (!item || value === "" || (clause.verb.tense === "past" && clause.verb.denied)) return [];
  const noun = nounOf(tokens, ...item);
  const bare = noun.determiner === undefined && noun.possessive === undefined;
  if (AGE.test(value) && (subject.animate || subject.path === context.discourse.speaker.path))
    return ageClaims(part, value);
  if (bare && !clause.verb.denied && isPersonName(tokens, item, subject, context))
    return [called(part, subject, value)];
  if (isPassingNoun(tokens, item, part)) return [];
  const member = memberClaims(part, phrase, item);
  if (member) return member;
  const known = FIRST_POSSESSIVE.has(noun.possessive ?? "")
    ? attributeOfSpeaker(part, noun, item)
    : undefined;
  if (known) return known;
  return bePlain(part, phrase, item);
}

/** "a member of Costco, the Ramblers and a gym": each of them. */
function memberClaims(
  part: Part,
  phrase: Phrase,
  item: readonly [number, number],
): AddProposal[] | undefined {
  const { tokens } = part;
  const of = tokens.findIndex((token, i) => i > item[0] && i < item[1] && token.lower === "of");
  const head = tokens[of - 1]?.lower ?? "";
  if (of < 0 || !/^(?:member|fan|subscriber|supporter|owner|follower|lover|patron)$/.test(head))
    return undefined;
  const items = [[of + 1, item[1]] as const, ...phrase.items.slice(1)];
  const wide: Phrase = { ...phrase, items };
  return relationClaims(
    { ...part, phrases: part.phrases.map((one) => (one === phrase ? wide : one)) },
    `be a ${head} of`,
    wide,
  );
}

/** "my daughter's name" names the daughter, "my name" the user. */
function nameOwner(entity: Entity): Entity | undefined {
  const parts = entity.path.split("/");
  if (!/^(?:full |first |real |given )?names?$/.test(parts.at(-1) ?? "") || parts.length < 2)
    return undefined;
  const path = parts.slice(0, -1).join("/");
  const display = entity.display.replace(/['’]s?\s+(?:\w+ )?names?$/, "");
  return {
    path,
    display: path === "user" ? "The user" : display,
    animate: true,
    plural: /names$/.test(parts.at(-1) ?? ""),
  };
}

function isPersonName(
  tokens: readonly Token[],
  item: readonly [number, number],
  subject: Entity,
  context: Context,
): boolean {
  if (!isName(tokens, ...item)) return false;
  const slice = tokens.slice(...item);
  if (slice.some(({ tags, lower }) => tags.has("Demonym") || LASTING.has(lower) || PASSING.has(lower)))
    return false;
  if (subject.path === context.discourse.speaker.path) return slice.length <= 3;
  return subject.animate && slice.length <= 4;
}

function ageClaims(part: Part, value: string): AddProposal[] {
  const { statement, context } = part;
  const age = AGE.exec(value)?.[1] ?? value;
  if (statement.clause.verb.denied || statement.clause.verb.tense === "past") return [];
  return [
    adding(context, place(part), {
      text: compose(statement.subject.display, "is", age, "years old"),
      claim: claimOf(statement.subject.path, "be aged", age),
      importance: 0.7,
    }),
  ];
}

const PASSING_NOUNS = new Set(
  "mess wreck idiot fool nightmare disaster joke shame pity bit fan write-off pain hoot legend star angel hero pig zombie lot while thing one day night week morning evening weekend time way reason problem issue question surprise treat win loss dream mood relief".split(
    " ",
  ),
);

function isPassingNoun(tokens: readonly Token[], item: readonly [number, number], part: Part): boolean {
  const last = tokens[item[1] - 1];
  const first = tokens[item[0]];
  if (!last || !first) return true;
  if (first.class === "pronoun" && item[1] - item[0] === 1) return true;
  if (last.lower === "fan" && part.phrases.some(({ head }) => head === "of")) return false;
  return PASSING_NOUNS.has(singular(last.lower)) || PASSING.has(last.lower);
}

/** "Dune is my favourite book": said of the book, told of the user. */
function attributeOfSpeaker(
  part: Part,
  noun: ReturnType<typeof nounOf>,
  _item: readonly [number, number],
): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const head = headWord(tokens, noun);
  const speaker = context.discourse.speaker;
  if (head === "" || clause.verb.denied) return undefined;
  const isPerson = isPersonNoun(head.split(" ").at(-1) ?? head);
  const inner = noun.possessive === "my" || noun.possessive === "our";
  if (!inner || (!/favou?rite|fave|usual|go-to/.test(head) && !isPerson)) return undefined;
  const value = subjectValue(part, subject);
  if (value === undefined) return undefined;
  const path = `${speaker.path}/${head}`;
  const display = `${speaker.path === "user" ? "The user's" : `${speaker.display}'s`} ${head}`;
  const owner: Entity = { path, display, animate: isPerson, plural: false };
  context.discourse.mention(owner);
  if (isPerson) return [called(part, owner, value, { holds: "many" })];
  return [
    adding(context, place(part), {
      text: compose(display, "is", value),
      claim: claimOf(path, "be", value),
      kind: "preference",
      holds: "one",
      importance: 0.7,
    }),
  ];
}

function subjectValue(part: Part, subject: Entity): string | undefined {
  const { tokens, statement, context } = part;
  const span = statement.clause.subject;
  if (span && tokens[span[0]]?.class !== "pronoun") return said(context, tokens, ...span);
  return subject.name ?? (subject.path.includes("/") ? undefined : subject.display);
}

function bePlain(part: Part, phrase: Phrase, item: readonly [number, number]): AddProposal[] {
  const { context, tokens, statement, phrases } = part;
  const { subject, clause } = statement;
  const isSpeaker = subject.path === context.discourse.speaker.path;
  const next = phrases[phrases.indexOf(phrase) + 1];
  const head = tokens[item[1] - 1]?.lower ?? "";
  const employer = subject.animate || isSpeaker ? next : undefined;
  if (
    employer?.kind === "preposition" &&
    ["at", "for", "with"].includes(employer.head ?? "") &&
    employer.items.length > 0 &&
    isPersonNoun(head) &&
    !clause.verb.denied
  ) {
    return jobClaims(part, phrase, employer);
  }
  const thing = subject.path.split("/").at(-1) ?? "";
  const items =
    phrase.items.length > 1 && !attributeHoldsOne(thing) ? phrase.items : [[phrase.from, phrase.to] as const];
  const isPast = clause.verb.tense === "past";
  return items.map((one) => {
    const value = said(context, tokens, ...one);
    return adding(context, place(part), {
      text: sentenceOf(part, restWith(part, phrase, one), leadText(part)),
      claim: claimOf(
        subject.path,
        isPast ? "used to be" : relationWith(clause.verb.denied, "be"),
        value,
        qualifierOf(part, phrase),
      ),
      kind: isPast ? "event" : /favou?rite/.test(thing) ? "preference" : "fact",
      holds: !isPast && attributeHoldsOne(thing) && !clause.verb.denied ? "one" : "many",
      importance: isSpeaker ? 0.7 : 0.6,
      ...(isSpeaker || attributeHoldsOne(thing) ? {} : { confidence: 0.8 }),
      ...whenOf(part),
    });
  });
}

/** "I'm a nurse at Mercy General": what one is, and where; each can change by itself. */
function jobClaims(part: Part, job: Phrase, employer: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const title = said(context, tokens, job.from, job.to);
  const where = said(context, tokens, employer.items[0]?.[0] ?? employer.from, employer.to);
  const past = clause.verb.tense === "past";
  const be = past ? "was" : "is";
  return [
    adding(context, place(part), {
      text: compose(subject.display, be, title),
      claim: claimOf(subject.path, past ? "used to be" : "be", title, qualifierOf(part, job, employer)),
      kind: past ? "event" : "fact",
      holds: "many",
      importance: 0.8,
    }),
    adding(context, place(part), {
      text: compose(subject.display, past ? "worked at" : "works at", where),
      claim: claimOf(subject.path, past ? "used to work at" : "work at", where),
      kind: past ? "event" : "fact",
      ...(past ? { holds: "many" as const } : {}),
      importance: 0.8,
    }),
  ];
}

const HOLLOW = new Set(
  "do say tell think know guess mean hear see look feel seem sound wonder ask bet swear happen sleep wake cry laugh sit stand wait come go let hope notice realise realize remember forget try keep turn appear matter suck rock rain snow care shoot whine complain joke kid understand bother".split(
    " ",
  ),
);
const HOLLOW_WITH = new Set([
  "think",
  "go",
  "come",
  "see",
  "try",
  "feel",
  "hope",
  "forget",
  "remember",
  "keep",
  "do",
  "hear",
  "know",
  "ask",
  "wait",
  "sleep",
  "wake",
  "sit",
  "mean",
  "turn",
  "look",
]);

/** Verbs that say nothing by themselves: "I guess", "we went". */
function isHollow(part: Part): boolean {
  const { verb } = part.statement.clause;
  const head = verb.lemma;
  if (!HOLLOW.has(head) || (verb.modal === "can" && verb.denied)) return false;
  const ahead =
    part.dates.length > 0 &&
    (part.statement.clause.verb.progressive || part.statement.clause.verb.tense === "future");
  const hasMore = ahead || part.phrases.some(({ kind }) => kind === "noun" || kind === "preposition");
  return !(HOLLOW_WITH.has(head) && hasMore);
}

const HOLLOW_OBJECT =
  /^(?:(?:an?|the|no|some|any|my|one|another|quick|little|few|this|that|any more|more) )*(?:questions?|idea|ideas|clue|problem|problems|issue|issues|point|doubt|doubts|feeling|feelings|look|chat|go|try|break|minute|minutes|moment|second|sec|request|favou?r|errors?|help|thoughts?|sense|luck|fun|time|times|bad|good|great|nice|lovely|day|morning|afternoon|evening|weekend|one|chance|hand|advice|tips?|recommendations?|suggestions?|money|sleep|coffee now|laugh)(?: (?:of|about|with|for|on) .*)?$/i;

/** "I have a question", "I need help": of the talk, not of the life. */
function hasHollowObject(part: Part): boolean {
  const { statement, context } = part;
  const { verb, tokens, rest } = statement.clause;
  const text = said(context, tokens, ...rest);
  if (
    /^(?:where|what|who|how|why|when|which|whether|if)\b/i.test(text) &&
    /^(?:forget|know|remember|wonder|see|tell|ask|find|guess|understand|figure)/.test(verb.lemma)
  )
    return true;
  if (verb.lemma === "look" && /^for\b/i.test(text) && verb.progressive) return true;
  return /^(?:have|need|get|want|take|give|make|see)$/.test(verb.lemma) && HOLLOW_OBJECT.test(text);
}

const STATIVE = new Set(
  "live work have own love like hate use play drive smoke speak study teach want prefer need know believe support eat drink wear rent weigh earn attend belong keep".split(
    " ",
  ),
);

/** "I use X", "I live in Y", "I'm training for Z". */
function actionClaims(part: Part): AddProposal[] {
  const { context, statement, phrases } = part;
  const { clause } = statement;
  const { verb } = clause;
  const object = phrases.find(({ kind }) => kind === "noun");
  const firstTelling = phrases.find(
    ({ kind }) => kind === "noun" || kind === "preposition" || kind === "infinitive" || kind === "adjective",
  );
  const base = verbPhrase(part);
  if (verb.lemma === "promise" || verb.chain[0]?.verb === "promise") return promiseClaims(part);
  if (verb.lemma === "prefer" && object && firstTelling === object && object.items.length === 1)
    return preferenceClaims(part, object);
  if (object && firstTelling === object) return relationClaims(part, base, object);
  if (
    firstTelling?.kind === "preposition" &&
    binds(firstTelling.head ?? "") &&
    firstTelling.items.length > 0
  ) {
    return relationClaims(part, `${base} ${firstTelling.head}`, firstTelling);
  }
  const value = said(context, clause.tokens, ...clause.rest);
  const begun = verb.chain.findLast(({ next }) => next === "gerund");
  if (firstTelling === undefined && begun && ["start", "begin"].includes(begun.verb))
    return relationClaims(part, "start", undefined, gerundOf(verb.lemma, part));
  if (firstTelling === undefined && verb.chain.length === 0 && !phrases.some(({ kind }) => kind === "time"))
    return bareClaims(part, base);
  return relationClaims(part, base, firstTelling, value);
}

/** "I prefer a room on a low floor": of the same kind of thing, one at a time. */
function preferenceClaims(part: Part, object: Phrase): AddProposal[] {
  const { context, tokens, phrases, statement } = part;
  const next = phrases[phrases.indexOf(object) + 1];
  const hangs =
    next?.kind === "preposition" &&
    ["on", "with", "by", "near", "of", "over", "to", "without", "from"].includes(next.head ?? "")
      ? next
      : undefined;
  const wide: Phrase = hangs ? { ...object, to: hangs.to, items: [[object.from, hangs.to]] } : object;
  const taken = hangs
    ? { ...part, phrases: phrases.filter((one) => one !== hangs).map((one) => (one === object ? wide : one)) }
    : part;
  const head = tokens[(object.items[0]?.[1] ?? object.to) - 1]?.lower ?? "";
  const rivals = context.known.filter(
    ({ status, claim }) =>
      status === "current" &&
      claim?.subject === statement.subject.path &&
      claim.relation === "prefer" &&
      claim.value
        .toLowerCase()
        .split(/ (?:on|with|by|near|of|over|to|without|from) /)[0]
        ?.endsWith(head),
  );
  const claims = relationClaims(taken, verbPhrase(part), wide);
  const ids = rivals.map(({ id }) => id);
  const isNew = claims.every(({ claim }) =>
    rivals.every(
      (rival) =>
        rival.claim?.value.toLowerCase() !== claim?.value.toLowerCase() &&
        !differ(rival.claim?.qualifier, claim?.qualifier),
    ),
  );
  return ids.length > 0 && isNew ? claims.map((claim) => ({ ...claim, replaces: { ids } })) : claims;
}

/** Both said, and of other circumstances: "on short flights", "on long ones". */
function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.toLowerCase() !== other.toLowerCase();
}

/** "I smoke", "I vape": the verb alone tells something where it is a habit. */
function bareClaims(part: Part, base: string): AddProposal[] {
  const { context, statement } = part;
  const { verb } = statement.clause;
  const isHabit =
    verb.tense === "present" &&
    !verb.progressive &&
    !verb.perfect &&
    /^(?:not |never )?(?:smoke|vape|drink|drive|swim|cycle|run|ski|surf|snore|sing|dance|climb|knit|sew|paint|bake|cook|garden|fish|hunt|meditate|pray|freelance|commute|box|fence|row|sail|skate|snowboard|juggle|code|program|crochet|vote|stammer|stutter|volunteer|foster)$/.test(
      base,
    );
  if (!isHabit) return [];
  return [
    adding(context, place(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined)),
      claim: claimOf(statement.subject.path, base, "", qualifierOf(part)),
      kind: "fact",
    }),
  ];
}

/** The verbs of a clause as a relation: "learn", "plan to hike", "not eat", "used to live". */
export function verbPhrase(part: { statement: Statement }): string {
  const { verb } = part.statement.clause;
  const links = verb.chain.filter(({ verb: name }) => !["start", "begin", "keep", "continue"].includes(name));
  const words: string[] = [];
  for (const link of links)
    words.push(link.verb === "use" ? "used to" : link.next === "to" ? `${link.verb} to` : link.verb);
  const last = links.at(-1)?.next === "gerund" ? gerundOf(verb.lemma, part) : verb.lemma;
  if (verb.modal === "can" && verb.denied && ["stand", "bear", "stomach", "abide"].includes(verb.lemma))
    return "hate";
  if (verb.modal === "can" && links.length === 0) words.unshift("can");
  const base = [...words, last].join(" ");
  return verb.denied ? `${verb.denied} ${base}` : base;
}

function gerundOf(lemma: string, part: { statement: Statement }): string {
  const { clause } = part.statement;
  const token = clause.tokens
    .slice(clause.verb.from, clause.verb.to)
    .findLast(({ class: kind }) => kind === "verb");
  return token && /ing$/.test(token.lower) ? lemma.replace(/^\S+/, token.lower) : lemma;
}

/** One proposal for each member of the list that the relation holds. */
function relationClaims(part: Part, base: string, phrase: Phrase | undefined, whole?: string): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const { verb } = clause;
  const head = verb.lemma.split(" ")[0] ?? "";
  const isPast = isOver(part);
  const relation = relationNamed(part, base, isPast && STATIVE.has(head) && !base.startsWith("used to"));
  const listed = phrase ? listedBehind(part, phrase) : undefined;
  if (listed) return listedClaims(part, relation, listed);
  const mine = phrase ? minesOf(part, phrase) : [];
  if (mine.length > 0) return mineClaims(part, relation, mine);
  const items = phrase && phrase.items.length > 0 ? splitItems(part, phrase) : [undefined];
  const details = detailsOf(part, relation, isPast);
  return items.flatMap((item) => {
    const value = item
      ? said(context, tokens, ...item)
      : tidy(whole ?? (phrase ? said(context, tokens, phrase.from, phrase.to) : ""));
    if (item && isVague(tokens, item)) return [];
    const isOne = items.length > 1;
    const text = asOne(sentenceOf(part, restWith(part, phrase, item), leadText(part)), isOne);
    const qualifier = asOne(qualifierOf(part, phrase), isOne);
    const claim = claimOf(subject.path, relation, value, phrase ? qualifier : (statement.circumstance ?? ""));
    const claims = [
      adding(context, place(part), { text, claim, ...details, ...replacedNow(part, relation, value) }),
    ];
    if (relation === "work as") claims.push(...workplace(part));
    return claims;
  });
}

/** Of each of several: "as productivity tools" is "as a productivity tool". */
function asOne(text: string, isOne: boolean): string {
  if (!isOne) return text;
  return text.replace(
    /\bas (?!an? |the |my |their )((?:[\p{L}-]+ ){0,2})([\p{L}-]+s)\b(?=[.,]|$)/u,
    (_all, before: string, noun: string) => {
      const phrase = `${before}${singular(noun)}`;
      return `as ${/^[aeiou]/i.test(phrase) ? "an" : "a"} ${phrase}`;
    },
  );
}

interface Listed {
  readonly items: readonly (readonly [number, number])[];
  /** "courses" */
  readonly kind: string;
}

/** "three courses: statistics, ceramics and Japanese": the list behind the number. */
function listedBehind(part: Part, phrase: Phrase): Listed | undefined {
  const { tokens } = part;
  const item = phrase.items[0];
  if (!item || phrase.items.length > 1) return undefined;
  const noun = tokens[item[1] - 1];
  const counted = tokens
    .slice(...item)
    .some(
      ({ class: kind, lower }) =>
        kind === "number" || ["several", "some", "few", "these", "following"].includes(lower),
    );
  if (!noun || !counted || singular(noun.lower) === noun.lower || !/[,:(–—-]/.test(noun.after))
    return undefined;
  const list = readList(tokens, item[1], tokens.length);
  if (!list || list.items.length < 2) return undefined;
  return { items: list.items, kind: singular(noun.lower) };
}

function listedClaims(part: Part, relation: string, listed: Listed): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const last = tokens[listed.items.at(-1)?.[1] ?? 0] ?? tokens.at(-1);
  const end = Math.max(
    statement.end,
    tokens[(listed.items.at(-1)?.[1] ?? 1) - 1]?.end ?? last?.end ?? statement.end,
  );
  const article = /^[aeiou]/.test(listed.kind) ? "an" : "a";
  return listed.items.map((item) => {
    const value = said(context, tokens, ...item);
    const text = compose(
      subject.display,
      inflect(clause.verb, subject.plural),
      thirdPerson(value, context, subject),
      `as ${article} ${listed.kind}`,
    );
    return adding(
      context,
      { start: statement.start, end },
      { text, claim: claimOf(subject.path, relation, value, `as ${article} ${listed.kind}`) },
    );
  });
}

/** "I like MY STEAK RARE and MY TEA WITH LEMON": each with how it is liked. */
function minesOf(part: Part, phrase: Phrase): string[] {
  const { context, tokens, statement } = part;
  const { verb, rest } = statement.clause;
  const first = tokens[phrase.from];
  if (
    !/^(?:like|love|take|prefer|drink|eat|have)$/.test(verb.lemma) ||
    first?.class !== "possessive" ||
    verb.denied ||
    verb.tense === "past"
  )
    return [];
  const parts = said(context, tokens, phrase.from, rest[1]).split(/(?:,| and| but)+ (?=my |our )/i);
  const bare = said(context, tokens, phrase.from, phrase.items[0]?.[1] ?? phrase.to);
  return parts[0] === bare ? [] : parts;
}

function mineClaims(part: Part, relation: string, values: readonly string[]): AddProposal[] {
  const { context, statement } = part;
  const { subject, clause } = statement;
  return values.map((value) =>
    adding(context, place(part), {
      text: compose(
        subject.display,
        inflect(clause.verb, subject.plural),
        thirdPerson(value, context, subject),
      ),
      claim: claimOf(subject.path, relation, value),
    }),
  );
}

/** Relations of which people have one at a time, though the table leaves more: with "now" the new one replaces. */
const ONE_NOW = new Set(
  "go to|attend|bank with|be with|work in|work on|study|drive|ride|take|live with|train at|play for|see|be on|be at|read|watch|commute by|be into|shop at|sleep in|support|wear|eat|drink|be scared of|study with|insure with|stay at|volunteer at|teach at|use for|be subscribed to".split(
    "|",
  ),
);
const SCHOOL =
  /\b(?:school|nursery|college|university|uni|primary|academy|kindergarten|preschool|high|secondary|grammar|daycare|creche)\b/i;

/** "she goes to Hillside now": ends the one before it. */
function replacedNow(part: Part, relation: string, value: string): { replaces?: { ids: string[] } } {
  const { context, statement } = part;
  if (!ONE_NOW.has(relation)) return {};
  const slot = context.known.filter(
    ({ status, claim }) =>
      status === "current" &&
      claim?.subject === statement.subject.path &&
      claim.relation === relation &&
      claim.value.toLowerCase() !== value.toLowerCase(),
  );
  const schools =
    relation === "go to" && SCHOOL.test(value)
      ? slot.filter(({ claim }) => SCHOOL.test(claim?.value ?? ""))
      : [];
  const words = context.content.slice(statement.start, statement.end + 14);
  const begins = statement.clause.verb.chain.some(({ verb }) => verb === "start" || verb === "begin");
  const isBegun =
    begins && slot.length === 0
      ? context.known.filter(
          ({ status, claim }) =>
            status === "current" &&
            claim?.subject === statement.subject.path &&
            claim.relation === relation &&
            claim.value.toLowerCase() === value.toLowerCase(),
        )
      : [];
  if (isBegun.length === 1) return { replaces: { ids: isBegun.map(({ id }) => id) } };
  const isNow = /\b(?:now|these days|nowadays)\b/i.test(words) && !isOver(part) && slot.length === 1;
  const ids = (isNow ? slot : schools).map(({ id }) => id);
  return ids.length > 0 ? { replaces: { ids } } : {};
}

const VAGUE = new Set(
  "it this that these those them him her something anything nothing everything one ones stuff thing things someone somebody anyone me us you myself all both there here none".split(
    " ",
  ),
);

function isVague(tokens: readonly Token[], [from, to]: readonly [number, number]): boolean {
  const last = tokens[to - 1];
  return (
    last === undefined ||
    (to - from === 1 && VAGUE.has(last.lower)) ||
    (to - from > 1 && ["stuff", "things", "ones"].includes(last.lower) && to - from < 3)
  );
}

/** Lists fall apart where the members stand for themselves. */
function splitItems(part: Part, phrase: Phrase): (readonly [number, number])[] {
  if (
    phrase.items.length > 1 &&
    part.statement.clause.verb.tense === "past" &&
    part.tokens.slice(phrase.from, phrase.to).some(({ lower }) => lower === "or")
  ) {
    return [[phrase.from, phrase.to]];
  }
  return phrase.items.length > 1
    ? [...phrase.items]
    : [[phrase.from, phrase.to] as const].map(([from, to]) => [phrase.items[0]?.[0] ?? from, to] as const);
}

/** "I work as a barista at the station": the place is a claim of its own. */
function workplace(part: Part): AddProposal[] {
  const { context, tokens, statement, phrases } = part;
  const where = phrases.find(({ kind, head }) => kind === "preposition" && (head === "at" || head === "for"));
  if (!where) return [];
  const value = said(context, tokens, where.items[0]?.[0] ?? where.from, where.to);
  return [
    adding(context, place(part), {
      text: compose(statement.subject.display, "works at", value),
      claim: claimOf(statement.subject.path, "work at", value),
    }),
  ];
}

/** Whether the clause tells of something that is over. */
function isOver({ statement }: Part): boolean {
  const { verb } = statement.clause;
  return verb.tense === "past" || verb.chain[0]?.verb === "use";
}

function relationNamed(part: Part, base: string, isPastState: boolean): string {
  const { verb } = part.statement.clause;
  if (isPastState) return `used to ${base}`;
  const deny = /^(not|never) /.exec(base);
  const bare = deny ? base.slice(deny[0].length) : base;
  const plain = bare.replace(/^get (?=to\b)/, "have got ").replace(/^have get/, "have");
  const named = canonicalRelation(
    verb.passive && !plain.startsWith("be ") && verb.chain.length === 0
      ? `be ${participle(part)} ${plain.split(" ").slice(1).join(" ")}`.trim()
      : plain,
  );
  return deny ? `${deny[1]} ${named}` : named;
}

function participle({ statement }: Part): string {
  const { clause } = statement;
  return (
    clause.tokens.slice(clause.verb.from, clause.verb.to).findLast(({ class: kind }) => kind === "verb")
      ?.lower ?? clause.verb.lemma
  );
}

const PLANNING = new Set([
  "plan",
  "be going",
  "intend",
  "hope",
  "aim",
  "want",
  "need",
  "have",
  "promise",
  "agree",
  "decide",
]);

function detailsOf(
  part: Part,
  relation: string,
  isPast: boolean,
): Pick<AddParts, "when" | "validFrom"> & { kind?: Kind; importance?: number; holds?: "one" | "many" } {
  const { statement, dates } = part;
  const { verb } = statement.clause;
  const [date] = dates;
  const when = date ? { when: date.iso } : {};
  if (verb.tense === "future" || verb.chain.some((link) => PLANNING.has(link.verb)) || isWish(part)) {
    return { kind: "commitment", importance: 0.6, ...when };
  }
  if (isPast) return { kind: "event", holds: "many", importance: 0.4, ...when };
  if (verb.perfect && !verb.progressive && !relation.startsWith("have been")) {
    return date && !isSince(part) ? { kind: "event", importance: 0.5, ...when } : { ...since(part) };
  }
  if (verb.progressive && date && !isSince(part)) return { kind: "event", importance: 0.6, ...when };
  return { ...since(part), ...(date && !isSince(part) && verb.lemma !== "prefer" ? when : {}) };
}

function isSince({ context, statement }: Part): boolean {
  return /\bsince\b/i.test(context.content.slice(statement.start, statement.end));
}

/** "since September": true from then on. */
function since(part: Part): { validFrom?: string } {
  const [date] = part.dates;
  return date && isSince(part) ? { validFrom: momentOf(date.iso) } : {};
}

/** "promised Grandma I'd fix her radio": what is promised stands in the clause after it. */
function promiseClaims(part: Part): AddProposal[] {
  const { context, statement } = part;
  const whole = context.content.slice(statement.start, statement.end);
  const value = tidy(whole.replace(/^.*?\bpromis\w*\s+/i, ""));
  if (value === "") return [];
  const told = thirdPerson(absolute(value, part.dates, whole), context, statement.subject);
  const { verb } = statement.clause;
  const text = compose(
    statement.subject.display,
    verb.denied ? "did not promise" : verb.tense === "past" || verb.perfect ? "promised" : "promises",
    told,
  );
  return [
    adding(context, place(part), {
      text,
      claim: claimOf(statement.subject.path, relationWith(verb.denied, "promise"), value),
      kind: "commitment",
      importance: 0.7,
      ...whenOf(part),
    }),
  ];
}

const OWNING = new Set([
  "have",
  "own",
  "get",
  "adopt",
  "buy",
  "keep",
  "pick up",
  "rescue",
  "foster",
  "bring home",
  "name",
  "call",
]);

/** "has a parrot called Kiwi": the parrot is somebody's, and has a name. */
function possessions(part: Part): AddProposal[] {
  const { context, tokens, statement, phrases } = part;
  const { verb } = statement.clause;
  if (!OWNING.has(verb.lemma) || verb.denied) return [];
  const object = phrases.find(({ kind }) => kind === "noun");
  if (!object) return [];
  return object.items.flatMap((item) => {
    const noun = nounOf(tokens, ...item);
    const thing = headWord(tokens, { ...noun, words: noun.words });
    if (thing === "" || (noun.possessive !== undefined && !FIRST_POSSESSIVE.has(noun.possessive))) return [];
    const owner = statement.subject;
    const one = thing
      .split(" ")
      .map((word, i, all) => (i === all.length - 1 ? singular(word) : word))
      .join(" ");
    const display = `${owner.display}'s ${one}`;
    const entity: Entity = { path: `${owner.path}/${one}`, display, animate: true, plural: false };
    const names = noun.name
      ? textOf(tokens, noun.name).split(/, | and | & /)
      : namesBehind(part, object, item);
    return names.map((name) => called(part, entity, name, { holds: names.length > 1 ? "many" : "one" }));
  });
}

/** "two cats, Tom and Jerry": names right behind, in a list of their own. */
function namesBehind(part: Part, _object: Phrase, item: readonly [number, number]): string[] {
  const { tokens, context } = part;
  const noun = tokens[item[1] - 1];
  if (!noun || BE.has(noun.lower) || !/[,:(–—-]/.test(noun.after)) return [];
  const list = readList(tokens, item[1], tokens.length);
  if (!list?.items.every((one) => isName(tokens, ...one) && one[1] - one[0] <= 2)) return [];
  const isPlural = singular(noun.lower) !== noun.lower;
  return isPlural === list.items.length > 1 ? list.items.map((one) => said(context, tokens, ...one)) : [];
}
