import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import type { Entity } from "../clauses/entity.ts";
import { type ClausePart, getStatementSpan, relationWith } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, type Context, claimOf, said } from "../context.ts";
import { held } from "../forgetting/targets.ts";
import { isTimeNoun } from "../time/times.ts";
import { ANIMALS, FEMALE, LASTING, MALE, PASSING, THIRD_POSSESSIVE } from "../words/lexicon.ts";
import { isNationality } from "../words/nationalities.ts";
import { isName, nounOf } from "../words/nouns.ts";
import { isPersonNoun } from "../words/persons.ts";
import type { Stretch, Token } from "../words/token.ts";
import { ageClaims, isAge } from "./age-claims.ts";
import { lastingClaims } from "./be-plain.ts";
import { called, nameOwner, oneOf } from "./name-claims.ts";
import { relationClaims } from "./relation-claims.ts";
import { compose } from "./sentence.ts";

/** "I'm Karl", "I'm a nurse at St Olaf", "my salary is 61k". */
export function nounClaims(part: ClausePart, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const value = said(context, tokens, phrase.from, phrase.to);
  const parent = nameOwner(subject);
  const [item] = phrase.items;
  if (parent && (!clause.verb.denied || NO_NAME.test(value))) return namedBy(part, parent, item, value);
  if (!item || value === "" || (clause.verb.tense === "past" && clause.verb.denied)) return [];
  const isSpeaker = subject.path === context.discourse.speaker.path;
  const children = childrenOf(part, item, isSpeaker);
  if (children) return children;
  const listed = namesListed(part, phrase);
  if (listed.length > 0) return listed;
  if (isAge(value) && (subject.animate || isSpeaker) && !isRate(tokens, phrase.to))
    return ageClaims(part, value);
  if (isBareAmount(value) && !isCountedBefore(part)) return [];
  return namedOrLasting(part, phrase, item, value);
}

/** "my daughter's name is ELSA" */
function namedBy(part: ClausePart, parent: Entity, item: Stretch | undefined, value: string): AddProposal[] {
  if (NO_NAME.test(value)) return [];
  const name = parent.plural || !item ? value : said(part.context, part.tokens, ...item);
  return nameTold(part, parent, name);
}

/** "My name is a secret", "none of your business". */
const NO_NAME = /^(?:an? |the |none\b|nothing\b|my |your |not )|\b(?:call|me|you|your)\b/;
/** "Her name's Ida": whoever was spoken of by a name alone has it already, so that "her" means another. */
function isBearerOfName({ context, tokens, statement: { clause } }: ClausePart, { path }: Entity): boolean {
  const first = tokens[clause.subject?.[0] ?? -1]?.lower ?? "";
  return THIRD_POSSESSIVE.has(first) && !path.includes("/") && path !== context.discourse.speaker.path;
}

function nameTold(part: ClausePart, bearer: Entity, name: string): AddProposal[] {
  return isBearerOfName(part, bearer) ? [] : [called(part, bearer, name)];
}

function namedOrLasting(part: ClausePart, phrase: Phrase, item: Stretch, value: string): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const noun = nounOf(tokens, ...item);
  const bare = noun.determiner === undefined && noun.possessive === undefined;
  if (bare && !clause.verb.denied && isPersonName(tokens, item, subject, context)) {
    return [called(part, subject, value)];
  }
  const member = memberClaims(part, phrase, item) ?? leaningClaims(part, phrase, item);
  if (member) return member;
  return isPassingNoun(tokens, item, part) ? [] : lastingClaims(part, phrase, item, noun);
}

/** "94 A WEEK" */
function isRate(tokens: readonly Token[], at: number): boolean {
  return /^(?:an?|per)$/.test(tokens[at]?.lower ?? "") && isTimeNoun(tokens[at + 1]?.lower ?? "");
}

/** "80", "more like eight": how many, without of what. */
function isBareAmount(value: string): boolean {
  return /^(?:(?:more like|about|around|nearly|almost|over|under) )*(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$/i.test(
    value,
  );
}

/** "it's 80 now": clear where "it" was told with a number before, or where the thing is named beside the number. */
function isCountedBefore({ context, statement: { subject, clause } }: ClausePart): boolean {
  const first = clause.subject && clause.tokens[clause.subject[0]];
  if (!/^(?:it|that|this)$/.test(first?.lower ?? "")) return true;
  return held(context).some(({ claim }) => claim.subject === subject.path && /\d/.test(claim.value));
}

/** "I'm a mum of two": two kids. */
function childrenOf(part: ClausePart, item: Stretch, isSpeaker: boolean): AddProposal[] | undefined {
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
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, "is", text),
      claim: claimOf(subject.path, "be", text),
      importance: 0.8,
    }),
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, "has", kids),
      claim: claimOf(subject.path, "have", kids),
      importance: 0.8,
    }),
  ];
}

/** "My kids are Hugo, Elsa and a baby on the way": each that has a name. */
function namesListed(part: ClausePart, phrase: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  if (!subject.plural || !subject.path.includes("/") || clause.verb.denied) return [];
  const names = phrase.items.filter((item) => isName(tokens, ...item));
  const head = toSingular(subject.path.split(/[/ ]/).at(-1) ?? "");
  if (names.length < 2 || !(isPersonNoun(head) || ANIMALS.has(head) || FEMALE.has(head) || MALE.has(head)))
    return [];
  const isFamily = FEMALE.has(head) || MALE.has(head) || ["kid", "child", "baby", "twin"].includes(head);
  return phrase.items.flatMap((item) => {
    const value = said(context, tokens, ...item);
    if (names.includes(item)) return [called(part, oneOf(subject, value), value)];
    if (isFamily) return [];
    return [
      adding(context, getStatementSpan(part), {
        text: compose(subject.display, "are", value),
        claim: claimOf(subject.path, "be", value),
        holds: "many",
      }),
    ];
  });
}

/** "a member of Costco, the Ramblers and a gym": each of them. */
function memberClaims(
  part: ClausePart,
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

/** "a sucker for sweets and old maps": each of them. */
function leaningClaims(
  part: ClausePart,
  phrase: Phrase,
  item: readonly [number, number],
): AddProposal[] | undefined {
  const { tokens, phrases, statement } = part;
  const head = tokens[item[1] - 1]?.lower ?? "";
  const next = phrases[phrases.indexOf(phrase) + 1];
  if (!/^(?:sucker|stickler)$/.test(head) || next?.head !== "for" || next.items.length === 0)
    return undefined;
  return relationClaims(
    { ...part, phrases: phrases.filter((one) => one !== phrase) },
    relationWith(statement.clause.verb.denied, `be a ${head} for`),
    next,
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
  // "KL1009", "LM2PVD": a code.
  if (slice.some(({ word }) => /\d/.test(word))) return false;
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
  "mess wreck idiot fool nightmare disaster joke shame pity bit fan write-off pain hoot legend star angel hero pig zombie lot while thing one day night week morning evening weekend time way reason problem issue question surprise treat win loss dream mood relief history goner".split(
    " ",
  ),
);

function isPassingNoun(tokens: readonly Token[], item: readonly [number, number], part: ClausePart): boolean {
  const last = tokens[item[1] - 1];
  const first = tokens[item[0]];
  if (!last || !first) return true;
  if (first.class === "pronoun" && item[1] - item[0] === 1) return true;
  // "they're Atomic ones"
  if (last.lower === "ones" && (first.class === "name" || first.class === "adjective")) return false;
  if (last.lower === "fan" && part.phrases.some(({ head }) => head === "of")) return false;
  return PASSING_NOUNS.has(toSingular(last.lower)) || PASSING.has(last.lower);
}
