import { countEdits } from "../../../../domain/text/count-edits.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { isOneOfItsKind } from "../../relations/relations.ts";
import { toSingular } from "../../word-forms.ts";
import type { Entity } from "../clauses/entity.ts";
import { headWord, joinSpan } from "../clauses/head-words.ts";
import { readList } from "../clauses/noun-phrases.ts";
import { type ClausePart, getStatementSpan } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { type AddParts, adding, type Context, claimOf, said } from "../context.ts";
import { ANIMALS, BE, FEMALE, FIRST_POSSESSIVE, KIN, MALE } from "../words/lexicon.ts";
import { isName, nounOf } from "../words/nouns.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";
import { compose } from "./sentence.ts";

/** "My landlord is called Mr Petrakis." */
export function nameClaims(part: ClausePart): AddProposal[] {
  const { context, statement, phrases, tokens } = part;
  const noun = phrases.find(({ kind }) => kind === "noun");
  const name = noun
    ? said(context, tokens, noun.from, noun.to)
    : said(context, tokens, ...statement.clause.rest);
  if (name === "" || statement.clause.verb.denied || isFormer(part)) return [];
  return [called(part, statement.subject, name)];
}

/** "My old dog was called Bess": of another than the one of now. */
function isFormer({ statement: { clause }, tokens }: ClausePart): boolean {
  const words = clause.subject ? tokens.slice(...clause.subject) : [];
  return (
    clause.verb.tense === "past" &&
    words.some(({ lower }) => /^(?:old|first|previous|former|last)$/.test(lower))
  );
}

/** Where a name is told. */
interface Telling {
  readonly context: Context;
  readonly statement: { readonly start: number; readonly end: number };
}

export function called(
  part: Telling,
  bearer: Entity,
  name: string,
  parts: Partial<AddParts> = {},
): AddProposal {
  const entity = isAnother(part, bearer, name) ? oneOf(bearer, name) : bearer;
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
  return adding(part.context, getStatementSpan(part), {
    text: compose(bare, entity.plural ? "are called" : "is called", name),
    claim: claimOf(entity.path, "be called", name),
    importance: 0.8,
    ...(entity.plural ? { holds: "many" as const } : {}),
    ...parts,
  });
}

/** A name that takes the place of another: "is called Ada now", "we renamed her", "sorry, it's spelt …". */
const RENAMED =
  /\b(?:now|nowadays|these days|since|as of|renam\w+|chang\w+|actually|instead|no longer|not|sorry|correct\w*|mean|meant|spel\w+|new)\b/i;

/** Whether a name is that of another who bears the same noun: "my friend is called Bela", where there is a friend Alma. */
function isAnother(part: Telling, { path, plural }: Entity, name: string): boolean {
  const { context } = part;
  const noun = path.split("/").at(-1) ?? "";
  if (plural || !path.includes("/") || isOneOfItsKind(noun) || !isAboutSomebody(noun)) return false;
  const { start, end } = getStatementSpan(part);
  if (RENAMED.test(context.content.slice(start, end))) return false;
  const names = context.known.flatMap(({ status, claim }) =>
    status === "current" && claim?.subject === path && claim.relation === "be called" ? claim.value : [],
  );
  return names.length > 0 && !names.some((one) => isSpeltLike(one, name));
}

/** "Ines" and "Inés", "Gretta" and "Greta". */
function isSpeltLike(one: string, other: string): boolean {
  const [a = "", b = ""] = [one, other].map((text) =>
    text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, ""),
  );
  return countEdits(a, b, 1) <= 1;
}

/** "my sister NADIA lives": her name is told in passing. */
export function nameBehind(part: Telling, entity: Entity): AddProposal[] {
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

/**
 * "my partner SAM and I", "with my friend LENA": whom "my" and a noun for a person or an animal name, wherever they stand. Told once,
 * and not of one whose name is known.
 */
export function namesInPassing(context: Context, tokens: readonly Token[]): AddProposal[] {
  return tokens.flatMap((token, at) => {
    const next = tokens[at + 1];
    const isOwned = /^(?:my|our)$/.test(tokens[at - 1]?.lower ?? "") && !token.quoted && token.after === " ";
    const isSingle = toSingular(token.lower) === token.lower;
    if (!isOwned || !isSingle || !isSomebody(token.lower) || !isGivenName(next)) return [];
    const to = isGivenName(tokens[at + 2]) && next.after === " " && !next.owner ? at + 3 : at + 2;
    const entity = context.discourse.resolve(tokens.map(withoutOwner), at - 1, to);
    const place = { start: tokens[at - 1]?.start ?? 0, end: tokens[to - 1]?.end ?? 0 };
    return entity ? nameBehind({ context, statement: place }, entity) : [];
  });
}

const withoutOwner = (token: Token): Token => ({ ...token, owner: false });

function isSomebody(noun: string): boolean {
  return isPersonNoun(noun) || [KIN, FEMALE, MALE, ANIMALS].some((words) => words.has(noun));
}

function isGivenName(token: Token | undefined): token is Token {
  if (!token || token.quoted || !isCapital(token) || token.class !== "name") return false;
  return !["WeekDay", "Month", "Demonym", "Acronym"].some((tag) => token.tags.has(tag));
}

function isAboutSomebody(thing: string): boolean {
  return !/\b(?:name|number|address|day|birthday|car|phone)$/.test(thing);
}

/** "my daughter's name" names the daughter, "my name" the user. */
export function nameOwner(entity: Entity): Entity | undefined {
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

/** "I was going to adopt a dog called Rex": there may be none. */
const NOT_YET = /^(?:be going|want|wish|hope|plan|intend|mean|try|consider|offer|promise|refuse|need)\b/;

/** "has a parrot called Pip": the parrot is somebody's, and has a name. */
export function possessions(part: ClausePart): AddProposal[] {
  const { tokens, statement, phrases } = part;
  const { verb } = statement.clause;
  if (!OWNING.has(verb.lemma) || verb.denied || verb.open || verb.tense === "future") return [];
  if (verb.chain.some((link) => NOT_YET.test(link.verb))) return [];
  const object = phrases.find(({ kind }) => kind === "noun");
  if (!object) return [];
  return object.items.flatMap((item) => {
    const noun = nounOf(tokens, ...item);
    const thing = headWord(tokens, { ...noun, words: noun.words });
    if (thing === "" || (noun.possessive !== undefined && !FIRST_POSSESSIVE.has(noun.possessive))) return [];
    const owner = statement.subject;
    const one = thing
      .split(" ")
      .map((word, i, all) => (i === all.length - 1 ? toSingular(word) : word))
      .join(" ");
    const display = `${owner.display}'s ${one}`;
    const entity: Entity = { path: `${owner.path}/${one}`, display, animate: true, plural: false };
    const names = noun.name
      ? joinSpan(tokens, noun.name).split(/, | and | & /)
      : namesBehind(part, object, item);
    if (names.length > 1) return names.map((name) => called(part, oneOf(entity, name), name));
    return names.map((name) => called(part, entity, name));
  });
}

/** One of several who bear the same noun has a path of its own: "user/kid Ada". */
export function oneOf(entity: Entity, name: string): Entity {
  const parts = entity.path.split("/");
  const last = toSingular(parts.pop() ?? "");
  const words = last.split(" ").length;
  const display = [...entity.display.split(" ").slice(0, -words), last].join(" ");
  return { ...entity, path: [...parts, `${last} ${name}`].join("/"), display, plural: false };
}

/** "two cats, Tom and Jerry": names right behind, in a list of their own. */
function namesBehind(part: ClausePart, _object: Phrase, item: readonly [number, number]): string[] {
  const { tokens, context } = part;
  const noun = tokens[item[1] - 1];
  if (!noun || BE.has(noun.lower) || !/[,:(–—-]/.test(noun.after)) return [];
  const list = readList(tokens, item[1], tokens.length);
  const isCalled = (one: Stretch): boolean =>
    isName(tokens, ...one) && one[1] - one[0] <= 2 && tokens[one[0]]?.class !== "pronoun";
  if (!list?.items.every(isCalled)) return [];
  const isPlural = toSingular(noun.lower) !== noun.lower;
  return isPlural === list.items.length > 1 ? list.items.map((one) => said(context, tokens, ...one)) : [];
}

const NAME_OR_AGE_FIRST =
  /^(?:\p{L}+[,!] )?(?:i am|i['’]?m) (?<first>\d{1,3}|\p{Lu}[\p{L}'’-]+)(?:,| and) (?<others>.+?)[.!]*$/iu;
const FURTHER = /^(?:an? \p{L}.*|from (?:an? |the )?\p{L}.*|\d{1,3})$/iu;

/** "I'm Ada, 34, a nurse from Leeds": what one is beside a name or an age. `text` is a sentence, which stands at `place`. */
export function furtherPredicates(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): readonly Proposal[] {
  const { others = "" } = NAME_OR_AGE_FIRST.exec(text.trim())?.groups ?? {};
  return others
    .split(/, (?:and )?| and (?=from |an? )/)
    .filter((part) => FURTHER.test(part))
    .flatMap((part) => context.readAs(`I'm ${part}.`, place));
}

/** One of several who bear the same noun: "user/brother Alex", of "user/brother". */
interface NamedOne {
  readonly path: string;
  readonly base: string;
  readonly noun: string;
  readonly name: string;
}

/**
 * What a message tells of "the brother" whom it names is told of that brother, where there is another: "My brother is called Alex and he
 * lives in Leeds" tells nothing of Tom.
 */
export function attributeToNamed(proposals: readonly Proposal[]): Proposal[] {
  const named = proposals.flatMap((one) => (one.propose === "add" ? (readNamedOne(one) ?? []) : []));
  const only = named.filter((one) => named.filter(({ base }) => base === one.base).length === 1);
  if (only.length === 0) return [...proposals];
  return proposals.map((one) => only.reduce(toldOf, one));
}

function readNamedOne({ claim }: AddProposal): NamedOne | undefined {
  if (claim?.relation !== "be called" || !claim.subject.endsWith(` ${claim.value}`)) return undefined;
  const base = claim.subject.slice(0, -claim.value.length - 1);
  return { path: claim.subject, base, noun: base.split("/").at(-1) ?? "", name: claim.value };
}

/** Behind the noun: "brother lives", "brother's car", and not "brother Tom", who is another. */
const BEHIND = /^(?: (?!\p{Lu})|['’]s )/u;

function toldOf(one: Proposal, { path, base, noun, name }: NamedOne): Proposal {
  if (one.propose !== "add" || !one.claim) return one;
  const { subject } = one.claim;
  const end = one.text.indexOf(` ${noun}`) + noun.length + 1;
  const rest = one.text.slice(end);
  if ((subject !== base && !subject.startsWith(`${base}/`)) || end <= noun.length || !BEHIND.test(rest))
    return one;
  return {
    ...one,
    text: `${one.text.slice(0, end)} ${name}${rest}`,
    claim: { ...one.claim, subject: path + subject.slice(base.length) },
  };
}
