import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { formatDateInWords } from "../../format-date.ts";
import { isSingleValued } from "../../relations/relations.ts";
import { NAMING } from "../clauses/noun-phrases.ts";
import {
  type ClausePart,
  getStatementSpan,
  isSince,
  leadText,
  qualifierOf,
  relationWith,
  restWith,
  sentenceOf,
  whenOf,
} from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, said } from "../context.ts";
import { isYearlyDay, namesMonth, type SaidDate } from "../time/dates.ts";
import { LASTING, PASSING } from "../words/lexicon.ts";
import { isCapital } from "../words/token.ts";
import { isAge } from "./age-claims.ts";
import { isFavourite } from "./favourites.ts";
import { called } from "./name-claims.ts";
import { nounClaims } from "./noun-claims.ts";
import { relationClaims } from "./relation-claims.ts";
import { compose } from "./sentence.ts";

/** "I've been to Vietnam and Laos." */
export function visitClaims(part: ClausePart): AddProposal[] {
  const { statement, phrases, context, tokens } = part;
  const [target] = phrases;
  const deny = statement.clause.verb.denied;
  const relation = `${deny ? `${deny} ` : ""}have been to`;
  return (target?.items ?? []).map((item) =>
    adding(context, getStatementSpan(part), {
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
export function copulaClaims(part: ClausePart): AddProposal[] {
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
  if (first.kind === "noun") return [...nounClaims(part, first), ...besideAge(part, first), ...name];
  if (first.kind === "time") return timeClaims(part, first);
  if (first.kind === "preposition") return prepositionClaims(part, first);
  if (first.kind === "infinitive") return aimClaims(part, first);
  return [];
}

/** "45 and single": what stands beside the age. */
function besideAge(part: ClausePart, first: Phrase): AddProposal[] {
  const { context, tokens, phrases } = part;
  if (!isAge(said(context, tokens, first.from, first.to))) return [];
  const next = phrases.slice(phrases.indexOf(first) + 1).find(({ kind }) => kind === "adjective");
  const isJoined = next && tokens.slice(first.to, next.from).some(({ lower }) => lower === "and");
  if (!next || next.head !== undefined || !isJoined) return [];
  const { clause } = part.statement;
  const alone = { ...part.statement, clause: { ...clause, rest: [next.from, next.to] as const } };
  return adjectiveClaims({ ...part, statement: alone, phrases: [next] }, next);
}

/** "my dog's a rescue from Romania called Pip": whose name it is. */
function nameAtEnd(part: ClausePart): AddProposal[] {
  const { tokens, statement, context } = part;
  const { subject, clause } = statement;
  if (!subject.path.includes("/") || clause.verb.denied) return [];
  const [from, to] = clause.rest;
  const at = tokens.findIndex(({ lower }, i) => i > from && i < to && NAMING.has(lower));
  let end = at + 1;
  while (at > 0 && end < to && isCapital(tokens[end])) end += 1;
  return at > 0 && end > at + 1 ? [called(part, subject, said(context, tokens, at + 1, end))] : [];
}

/** "my goal this year is to read 30 books" */
function aimClaims(part: ClausePart, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  if (!subject.path.includes("/") || clause.verb.denied || clause.verb.tense === "past") return [];
  const value = said(context, tokens, phrase.from, clause.rest[1]);
  return [
    adding(context, getStatementSpan(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined), leadText(part)),
      claim: claimOf(subject.path, "be", value),
      kind: "commitment",
      importance: 0.7,
    }),
  ];
}

/** "was born in Leeds on 3 May 1987": where, and when. */
function bornClaims(part: ClausePart, telling: readonly Phrase[]): AddProposal[] {
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
      adding(context, getStatementSpan(part), {
        text: compose(subject.display, subject.plural ? "were born" : "was born", joint, value),
        claim: claimOf(subject.path, relation, value),
        importance: 0.8,
      }),
    ];
  });
}

/** "is now", "is still": a time that says nothing of its own. */
function isNow({ tokens }: ClausePart, phrase: Phrase): boolean {
  return (
    phrase.kind === "time" &&
    phrase.to - phrase.from === 1 &&
    /^(?:now|still|currently|again|anymore|soon|today)$/.test(tokens[phrase.from]?.lower ?? "")
  );
}

const SELF_HELD = /^(?:home|back|there|here|away|out|off|in)$/;

function adjectiveClaims(part: ClausePart, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement, dates } = part;
  const { subject, clause } = statement;
  if (phrase.head !== undefined)
    return relationClaims(part, relationWith(clause.verb.denied, `be ${phrase.head}`), phrase);
  const value = said(context, tokens, phrase.from, phrase.to);
  const word = tokens[phrase.to - 1]?.lower ?? "";
  if (PASSING.has(word) || PASSING.has(tokens[phrase.from]?.lower ?? "") || SELF_HELD.test(word)) return [];
  // "vegan since 2018": so ever since, and not on that day.
  const isDated = dates.length > 0 && !isSince(part);
  if (word === "due" || isDated) return isDated ? timeClaims(part, phrase) : [];
  const isLasting =
    LASTING.has(word) ||
    LASTING.has(value.toLowerCase()) ||
    tokens[phrase.from]?.tags.has("Demonym") === true;
  if (!isLasting && subject.path === context.discourse.speaker.path && /ed$|ing$/.test(word)) return [];
  return [
    adding(context, getStatementSpan(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined), leadText(part)),
      claim: claimOf(subject.path, relationWith(clause.verb.denied, "be"), value, qualifierOf(part, phrase)),
      ...attributeTraits(part),
      confidence: isLasting ? 0.9 : 0.6,
      importance: isLasting ? 0.8 : 0.4,
    }),
  ];
}

/** "favourite colour": a taste, of which there is one. */
function attributeTraits({ statement }: ClausePart): Pick<AddProposal, "kind" | "holds"> {
  const { subject, clause } = statement;
  const thing = subject.path.split("/").slice(1).at(-1) ?? "";
  const isOne = clause.verb.denied === undefined && isSingleValued(thing);
  return { kind: isFavourite(thing) ? "preference" : "fact", holds: isOne ? "one" : "many" };
}

/** "is next Friday", "is due on the 5th". */
function timeClaims(part: ClausePart, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement, dates } = part;
  const { subject, clause } = statement;
  if (subject.path === context.discourse.speaker.path || clause.verb.denied) return [];
  const value = said(context, tokens, phrase.from, phrase.to)
    .replace(/^(?:due|on|at|in)\s+/gi, "")
    .replace(/^(?:on|at|in)\s+/i, "");
  const isDue = tokens[phrase.from]?.lower === "due" || phrase.head?.startsWith("due");
  const [date] = dates;
  const rest = qualifierOf(part, phrase);
  const yearly = date && isDue !== true ? sayYearly(part, date) : undefined;
  if (yearly !== undefined) {
    const claim = claimOf(subject.path, "be on", yearly.day || value, rest);
    return [
      adding(context, getStatementSpan(part), {
        text: yearly.text,
        claim,
        kind: "fact",
        holds: "one",
        importance: 0.7,
      }),
    ];
  }
  return [
    adding(context, getStatementSpan(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined)),
      claim: claimOf(subject.path, isDue ? "be due on" : "be on", value, rest),
      kind: date ? "event" : "fact",
      holds: "one",
      importance: 0.7,
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}

/**
 * A birthday without its year, unless the year was said: the sentence, and the day where the words hang on when they were said.
 * Undefined for a day that does not return each year.
 */
function sayYearly(
  part: ClausePart,
  { start, end, iso }: SaidDate,
): { text: string; day: string } | undefined {
  const { context, statement } = part;
  if (!isYearlyDay(statement.subject.path)) return undefined;
  const words = context.content.slice(statement.start + start, statement.start + end);
  if (/\b\d{4}\b/.test(words)) return undefined;
  const day = formatDateInWords(iso, { weekday: false });
  const plain = day.replace(/ \d{4}\b/, "");
  const text = sentenceOf(part, restWith(part, undefined, undefined)).replace(day, plain);
  return { text, day: namesMonth(words) ? "" : plain };
}

function prepositionClaims(part: ClausePart, phrase: Phrase): AddProposal[] {
  const { statement, context } = part;
  const head = phrase.head ?? "";
  if (phrase.items.length === 0) return [];
  const state = boundState(part, phrase);
  if (state) return state;
  if (head === "at" && isHour(part, phrase)) return timeClaims(part, phrase);
  if (
    statement.subject.path === context.discourse.speaker.path &&
    ["in", "at", "on", "off", "out", "out of", "near"].includes(head) &&
    !/^(?:on|in)$/.test(head) &&
    // "off work since Tuesday", "off sugar for two months": that lasts.
    !(
      statement.clause.verb.perfect &&
      (isSince(part) || part.phrases.some(({ head: joint }) => joint === "for"))
    )
  )
    return [];
  return relationClaims(part, relationWith(statement.clause.verb.denied, `be ${head}`), phrase);
}

/** "in a relationship with Yuto", "in love with her", "in a band with Bo": with whom is what it is about. */
function boundState(part: ClausePart, phrase: Phrase): AddProposal[] | undefined {
  const { context, tokens, phrases, statement } = part;
  const next = phrases[phrases.indexOf(phrase) + 1];
  const what = said(context, tokens, phrase.items[0]?.[0] ?? phrase.from, phrase.to);
  const isState = phrase.head === "in" && /^(?:a relationship|love|touch|charge)$/i.test(what);
  if (!isState || next?.kind !== "preposition" || next.items.length === 0) return undefined;
  const relation = relationWith(statement.clause.verb.denied, `be in ${what.toLowerCase()} ${next.head}`);
  return relationClaims({ ...part, phrases: phrases.filter((one) => one !== phrase) }, relation, next);
}

/** "at 10", "at ten": of a thing, an hour. */
function isHour({ tokens, statement }: ClausePart, { items }: Phrase): boolean {
  const [from, to] = items[0] ?? [0, 0];
  const word = tokens[from]?.lower ?? "";
  const isOne = to - from === 1 && !statement.subject.animate;
  return (
    isOne && /^(?:[01]?\d|2[0-4]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$/.test(word)
  );
}

const FAN =
  /^(?:(?:such|quite|really|also|kind of|kinda|a bit of|not much of|just|the|an?|huge|big|biggest|massive|real|true|avid|total|lifelong|diehard|die-hard|hardcore|complete|major|bit of a|proud|long time|longtime) )*(?<what>[\p{L}\p{N}'’-]+(?: [\p{L}\p{N}'’-]+){0,2}) (?:fan|buff|nut|geek|fanatic|enthusiast|junkie|addict|lover|aficionado)s?$/iu;

/** "I'm a huge rugby fan", "such a history buff": a fan of it. */
function fanClaims(part: ClausePart): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const rest = said(context, tokens, ...clause.rest);
  const told = FAN.exec(rest)?.groups?.what;
  if (
    told === undefined ||
    clause.verb.tense === "past" ||
    /^(?:drug|sex|ceiling|your|my|his|her|their)\b|\b(?:to|of|with|by|from|in|on|about|for|at)$/i.test(told)
  )
    return undefined;
  const denied = clause.verb.denied;
  return [
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, subject.plural ? "are" : "is", denied ?? "", rest),
      claim: claimOf(subject.path, relationWith(denied, "be a fan of"), told),
      kind: "preference",
    }),
  ];
}

const INCLINED =
  /^(?<more>more of )?an? (?<what>[\p{L}'’-]+(?: [\p{L}'’-]+)?) (?:person|guy|girl|man|woman|lover|family)(?: than an? (?<other>[\p{L}'’ -]+?)(?: (?:person|guy|girl|man|woman))?)?$/iu;

/** "I'm more of a tea person than a coffee person", "I'm a cat person": what one prefers, or likes. */
function inclination(part: ClausePart): AddProposal[] | undefined {
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
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, clause.verb.denied ? "is not" : subject.plural ? "are" : "is", rest),
      claim: claimOf(subject.path, relation, told.what, told.other ? `over ${told.other}` : ""),
      kind: "preference",
      importance: 0.6,
    }),
  ];
}
