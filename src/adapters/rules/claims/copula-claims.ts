import { singular } from "../../../domain/english.ts";
import { attributeHoldsOne } from "../../../domain/relations.ts";
import type { AddProposal, Target } from "../../../ports/extractor.ts";
import { type Entity, headWord } from "../clauses/entities.ts";
import { NAMING } from "../clauses/noun-phrases.ts";
import {
  leadText,
  type Part,
  place,
  qualifierOf,
  relationWith,
  restWith,
  sentenceOf,
  whenOf,
} from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, type Context, claimOf, said } from "../context.ts";
import { ANIMALS, FEMALE, FIRST_POSSESSIVE, LASTING, MALE, PASSING } from "../words/lexicon.ts";
import { isNationality } from "../words/nationalities.ts";
import { isName, nounOf } from "../words/nouns.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";
import { ageClaims, isAge } from "./age-claims.ts";
import { fanClaims } from "./fans.ts";
import { called, nameOwner, oneOf } from "./name-claims.ts";
import { measuredBefore, relationClaims } from "./relation-claims.ts";
import { compose } from "./sentence.ts";
import { formerTrade } from "./trades.ts";

/** "I've been to Vietnam and Laos." */
export function visitClaims(part: Part): AddProposal[] {
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

/** "I'm …", "my sister is …", "the rent's due …". */
export function copulaClaims(part: Part): AddProposal[] {
  const { statement, phrases } = part;
  const { subject, clause } = statement;
  const telling = phrases.filter((phrase) => phrase.kind !== "other" && !isNow(part, phrase));
  const [first] = telling;
  const inclined = fanClaims(part) ?? inclination(part);
  if (inclined) return inclined;
  const name = nameAtEnd(part);
  if (first?.head?.startsWith("born")) return bornClaims(part, telling);
  if (!first || (clause.verb.tense === "past" && subject.path === "user" && first.kind === "adjective"))
    return [];
  if (first.kind === "adjective") return adjectiveClaims(part, first);
  if (first.kind === "noun") return [...nounClaims(part, first), ...name];
  if (first.kind === "time") return timeClaims(part, first);
  if (first.kind === "preposition") return prepositionClaims(part, first);
  if (first.kind === "infinitive") return aimClaims(part, first);
  return [];
}

/** "my dog's a rescue from Romania called Pip": whose name it is. */
function nameAtEnd(part: Part): AddProposal[] {
  const { tokens, statement, context } = part;
  const { subject, clause } = statement;
  if (!subject.path.includes("/") || clause.verb.denied) return [];
  const [from, to] = clause.rest;
  const at = tokens.findIndex(({ lower }, i) => i > from && i < to && NAMING.has(lower));
  let end = at + 1;
  while (at > 0 && end < to && isCapital(tokens[end])) end += 1;
  return at > 0 && end > at + 1 ? [called(part, subject, said(context, tokens, at + 1, end))] : [];
}

const INCLINED =
  /^(?<more>more of )?an? (?<what>[\p{L}'’-]+(?: [\p{L}'’-]+)?) (?:person|guy|girl|man|woman|lover|family)(?: than an? (?<other>[\p{L}'’ -]+?)(?: (?:person|guy|girl|man|woman))?)?$/iu;

/** "I'm more of a tea person than a coffee person", "I'm a cat person": what one prefers, or likes. */
function inclination(part: Part): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const told = INCLINED.exec(said(context, tokens, ...clause.rest))?.groups;
  if (
    !told?.what ||
    clause.verb.tense === "past" ||
    /^(?:nice|good|bad|new|different|changed|better|happy|family|business|poor|lucky|private|people|religious|old|young|grown|busy|calm|patient|disabled|trans|straight|gay)$/i.test(
      told.what,
    )
  )
    return undefined;
  const isMore = told.more !== undefined;
  const relation = relationWith(clause.verb.denied, isMore ? "prefer" : "be into");
  const rest = said(context, tokens, ...clause.rest);
  return [
    adding(context, place(part), {
      text: compose(subject.display, clause.verb.denied ? "is not" : subject.plural ? "are" : "is", rest),
      claim: claimOf(subject.path, relation, told.what, told.other ? `over ${told.other}` : ""),
      kind: "preference",
      importance: 0.6,
    }),
  ];
}

/** "my goal this year is to read 30 books" */
function aimClaims(part: Part, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  if (!subject.path.includes("/") || clause.verb.denied || clause.verb.tense === "past") return [];
  const value = said(context, tokens, phrase.from, clause.rest[1]);
  return [
    adding(context, place(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined), leadText(part)),
      claim: claimOf(subject.path, "be", value),
      kind: "commitment",
      importance: 0.7,
    }),
  ];
}

/** "was born in Leeds on 3 May 1987": where, and when. */
function bornClaims(part: Part, telling: readonly Phrase[]): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject } = statement;
  return telling.flatMap((phrase) => {
    const item = phrase.items[0];
    const joint = phrase.head?.replace(/^born /, "") ?? "";
    if (!item || !["in", "on", "at"].includes(joint) || statement.clause.verb.denied) return [];
    const value = said(context, tokens, item[0], phrase.to);
    const isTime = /^\d{4}$|[a-z].*\d|\d.*[a-z]/i.test(value) && joint !== "at";
    const relation = isTime ? "be born on" : "be born in";
    return [
      adding(context, place(part), {
        text: compose(subject.display, subject.plural ? "were born" : "was born", joint, value),
        claim: claimOf(subject.path, relation, value),
        importance: 0.8,
      }),
    ];
  });
}

/** "is now", "is still": a time that says nothing of its own. */
export function isNow({ tokens }: Part, phrase: Phrase): boolean {
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
  if (phrase.head !== undefined)
    return relationClaims(part, relationWith(clause.verb.denied, `be ${phrase.head}`), phrase);
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
  const state = boundState(part, phrase);
  if (state) return state;
  if (head === "at" && isHour(part, phrase)) return timeClaims(part, phrase);
  if (
    statement.subject.path === context.discourse.speaker.path &&
    ["in", "at", "on", "off", "out", "out of", "near"].includes(head) &&
    !/^(?:on|in)$/.test(head)
  )
    return [];
  return relationClaims(part, relationWith(statement.clause.verb.denied, `be ${head}`), phrase);
}

/** "in a relationship with Yuto", "in love with her", "in a band with Bo": with whom is what it is about. */
function boundState(part: Part, phrase: Phrase): AddProposal[] | undefined {
  const { context, tokens, phrases, statement } = part;
  const next = phrases[phrases.indexOf(phrase) + 1];
  const what = said(context, tokens, phrase.items[0]?.[0] ?? phrase.from, phrase.to);
  const isState = phrase.head === "in" && /^(?:a relationship|love|touch|charge)$/i.test(what);
  if (!isState || next?.kind !== "preposition" || next.items.length === 0) return undefined;
  const relation = relationWith(statement.clause.verb.denied, `be in ${what.toLowerCase()} ${next.head}`);
  return relationClaims({ ...part, phrases: phrases.filter((one) => one !== phrase) }, relation, next);
}

/** "at 10", "at ten": of a thing, an hour. */
function isHour({ tokens, statement }: Part, { items }: Phrase): boolean {
  const [from, to] = items[0] ?? [0, 0];
  const word = tokens[from]?.lower ?? "";
  const isOne = to - from === 1 && !statement.subject.animate;
  return (
    isOne && /^(?:[01]?\d|2[0-4]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$/.test(word)
  );
}

/** "I'm Karl", "I'm a nurse at St Olaf", "my salary is 61k". */
function nounClaims(part: Part, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const value = said(context, tokens, phrase.from, phrase.to);
  const parent = nameOwner(subject);
  const [item] = phrase.items;
  if (parent && !clause.verb.denied)
    return [called(part, parent, parent.plural || !item ? value : said(context, tokens, ...item))];
  if (!item || value === "" || (clause.verb.tense === "past" && clause.verb.denied)) return [];
  const isSpeaker = subject.path === context.discourse.speaker.path;
  const children = childrenOf(part, item, isSpeaker);
  if (children) return children;
  const listed = namesListed(part, phrase);
  if (listed.length > 0) return listed;
  if (isAge(value) && (subject.animate || isSpeaker)) return ageClaims(part, value);
  return namedOrLasting(part, phrase, item, value);
}

function namedOrLasting(part: Part, phrase: Phrase, item: Stretch, value: string): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const noun = nounOf(tokens, ...item);
  const bare = noun.determiner === undefined && noun.possessive === undefined;
  if (bare && !clause.verb.denied && isPersonName(tokens, item, subject, context)) {
    return [called(part, subject, value)];
  }
  const member = memberClaims(part, phrase, item);
  if (member) return member;
  return isPassingNoun(tokens, item, part) ? [] : lastingClaims(part, phrase, item, noun);
}

/** "I'm a mum of two": two kids. */
function childrenOf(part: Part, item: Stretch, isSpeaker: boolean): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const text = said(context, tokens, ...item);
  const many =
    /^(?:an? |the )?(?:\w+ )?(?:mum|mom|mother|dad|father|parent|daddy|mummy) (?:of|to) (?<many>\w+)(?: (?:kids|children|boys|girls|sons|daughters))?$/i.exec(
      text,
    )?.groups?.many;
  if (
    many === undefined ||
    !isSpeaker ||
    statement.clause.verb.denied ||
    statement.clause.verb.tense === "past"
  )
    return undefined;
  const kids = /^(?:one|1)$/i.test(many) ? "one kid" : `${many} kids`;
  const subject = statement.subject;
  return [
    adding(context, place(part), {
      text: compose(subject.display, "is", text),
      claim: claimOf(subject.path, "be", text),
      importance: 0.8,
    }),
    adding(context, place(part), {
      text: compose(subject.display, "has", kids),
      claim: claimOf(subject.path, "have", kids),
      importance: 0.8,
    }),
  ];
}

/** "My kids are Hugo, Elsa and a baby on the way": each that has a name. */
function namesListed(part: Part, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  if (!subject.plural || !subject.path.includes("/") || clause.verb.denied) return [];
  const names = phrase.items.filter((item) => isName(tokens, ...item));
  const head = singular(subject.path.split(/[/ ]/).at(-1) ?? "");
  if (names.length < 2 || !(isPersonNoun(head) || ANIMALS.has(head) || FEMALE.has(head) || MALE.has(head)))
    return [];
  const isFamily = FEMALE.has(head) || MALE.has(head) || ["kid", "child", "baby", "twin"].includes(head);
  return phrase.items.flatMap((item) => {
    const value = said(context, tokens, ...item);
    if (names.includes(item)) return [called(part, oneOf(subject, value), value)];
    if (isFamily) return [];
    return [
      adding(context, place(part), {
        text: compose(subject.display, "are", value),
        claim: claimOf(subject.path, "be", value),
        holds: "many",
      }),
    ];
  });
}

/** What somebody or something is for longer than a day. */
function lastingClaims(
  part: Part,
  phrase: Phrase,
  item: readonly [number, number],
  noun: ReturnType<typeof nounOf>,
): AddProposal[] {
  const isOwn = FIRST_POSSESSIVE.has(noun.possessive ?? "");
  return (isOwn ? attributeOfSpeaker(part, noun, item) : undefined) ?? bePlain(part, phrase, item);
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
    relationWith(part.statement.clause.verb.denied, `be a ${head} of`),
    wide,
  );
}

function isPersonName(
  tokens: readonly Token[],
  item: readonly [number, number],
  subject: Entity,
  context: Context,
): boolean {
  if (!isName(tokens, ...item) || isShort(tokens, item)) return false;
  const slice = tokens.slice(...item);
  if (
    slice.some(
      ({ tags, lower }) =>
        isNationality(lower) || tags.has("Demonym") || LASTING.has(lower) || PASSING.has(lower),
    )
  )
    return false;
  if (subject.path === context.discourse.speaker.path) return slice.length <= 3;
  return (subject.animate || isNamed(context, subject)) && slice.length <= 4;
}

/** "HIV positive", "ADHD": letters that stand for something. */
function isShort(tokens: readonly Token[], [from, to]: Stretch): boolean {
  const isLetters = tokens.slice(from, to).every(({ word }) => /^\p{Lu}{2,5}$/u.test(word));
  return isLetters || (tokens[to]?.class === "adjective" && tokens[to - 1]?.after.trim() === "");
}

/** What goes by a name already has another name now. */
function isNamed({ known }: Context, { path }: Entity): boolean {
  return known.some(
    ({ status, claim }) => status === "current" && claim?.subject === path && claim.relation === "be called",
  );
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
  // "they're Atomic ones"
  if (last.lower === "ones" && (first.class === "name" || first.class === "adjective")) return false;
  if (last.lower === "fan" && part.phrases.some(({ head }) => head === "of")) return false;
  return PASSING_NOUNS.has(singular(last.lower)) || PASSING.has(last.lower);
}

/** "Dune is my favourite book": said of the book, told of the user. */
function attributeOfSpeaker(
  part: Part,
  noun: ReturnType<typeof nounOf>,
  item: readonly [number, number],
): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const plain = headWord(tokens, noun);
  const isLeast = tokens.slice(...item).some(({ lower }) => lower === "least");
  const head = isLeast && !plain.startsWith("least") ? `least ${plain}` : plain;
  const speaker = context.discourse.speaker;
  if (head === "" || clause.verb.denied) return undefined;
  const isPerson = isPersonNoun(head.split(" ").at(-1) ?? head);
  const inner = noun.possessive === "my" || noun.possessive === "our";
  // "one of my favourite games": there are others.
  if (tokens[item[0]]?.lower === "one") return /favou?rite|fave/.test(head) ? [] : undefined;
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
    (isPersonNoun(head) || (isName(tokens, ...(employer.items[0] ?? [0, 0])) && employer.head === "at")) &&
    !/^(?:member|regular|customer|guest|patient|fan|volunteer)$/.test(head) &&
    tokens[employer.to - 1]?.lower !== "living" &&
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
    const hasNow = !isPast && !clause.verb.denied;
    return adding(context, place(part), {
      text: sentenceOf(part, restWith(part, phrase, one), leadText(part)),
      claim: claimOf(
        subject.path,
        isPast ? "used to be" : relationWith(clause.verb.denied, "be"),
        value,
        qualifierOf(part, phrase),
      ),
      kind: kindOfBeing(thing, isPast),
      holds: hasNow && attributeHoldsOne(thing) ? "one" : "many",
      importance: isSpeaker ? 0.7 : 0.6,
      ...(hasNow ? formerTrade(context, statement, value) : {}),
      ...(hasNow ? formerMeasure(part, value) : {}),
      ...(isSpeaker || attributeHoldsOne(thing) ? {} : { confidence: 0.8 }),
      ...whenOf(part),
    });
  });
}

/** "I'm a size 10 now": the same with another number. */
function formerMeasure(part: Part, value: string): { replaces?: Target } {
  const measured = measuredBefore(part, "be", value);
  return measured ? { replaces: { ids: [measured] } } : {};
}

function kindOfBeing(thing: string, isPast: boolean): "event" | "preference" | "fact" {
  if (isPast) return "event";
  return /favou?rite/.test(thing) ? "preference" : "fact";
}

/** "I'm a nurse at St Olaf": what one is, and where; each can change by itself. */
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
      ...(past ? {} : formerTrade(part.context, part.statement, title)),
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
