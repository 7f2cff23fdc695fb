import type { Claim } from "../../../../domain/memory.ts";
import { hasSameWords } from "../../../../domain/search/search-terms.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { parseEnglish, tokenizeEnglish } from "../../parser/english-trees.ts";
import type { ParsedSentence } from "../../parser/parser.ts";
import { LIFE_EVENTS, type LifeEventRow } from "../../relations/life-events.ts";
import { getRelation } from "../../relations/relations.ts";
import { isSharedWithMany, listClaimsOfState, listExcluded, listStates } from "../../relations/states.ts";
import { toPastTense } from "../../word-forms.ts";
import { claimsOf } from "../claims/claims.ts";
import { compose } from "../claims/sentence.ts";
import type { Entity } from "../clauses/entity.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import { adding, claimOf, ending, said, thirdPerson, tidy } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import { FEMALE, KIN, MALE } from "../words/lexicon.ts";
import { isPersonNoun, isTrade } from "../words/persons.ts";
import { type Change, fromThen, sayWhen, thirdRelation } from "./change.ts";
import { event } from "./ending-event.ts";
import {
  baseOf,
  compilePattern,
  hasWordsOf,
  listForms,
  matchWords,
  type PatternMatch,
  type WordPattern,
} from "./pattern-matcher.ts";

interface Matcher {
  readonly row: LifeEventRow;
  readonly pattern: WordPattern;
}

const MATCHERS: readonly Matcher[] = LIFE_EVENTS.map((row) => ({
  row,
  pattern: compilePattern(row.pattern),
}));

const OPENING_WORDS = new Set(MATCHERS.flatMap(({ pattern }) => [...(pattern.steps[0]?.words ?? [])]));

/** "Tom and I broke up", "I got married", "Techno has grown on me": what is so from then on, and what has ended. */
export function lived(change: Change): Proposal[] | undefined {
  const { context, statement } = change;
  const { verb, tokens } = statement.clause;
  if (!tokens.some(({ lower }) => OPENING_WORDS.has(baseOf(lower)))) return undefined;
  if (verb.open || verb.tense === "future" || verb.modal) return undefined;
  const text = context.content.slice(statement.start, statement.end);
  const forms = listForms(tokenizeEnglish(text));
  const isDenied = verb.denied !== undefined;
  const matchers = MATCHERS.filter(
    ({ row, pattern }) => isDenied === (row.isDenied === true) && hasWordsOf(forms, pattern),
  );
  if (matchers.length === 0) return undefined;
  const sentences = parseEnglish(text);
  for (const matcher of matchers) {
    if (matcher.pattern.kinds && !isOwnOf(change, matcher.pattern.kinds)) continue;
    const proposals = firstOf(sentences, (sentence) => {
      const found = matchWords(sentence, matcher.pattern);
      return found && isDone(change, sentence, found) ? toProposals(change, matcher, found) : undefined;
    });
    if (proposals) return proposals;
  }
  return undefined;
}

/** The first result that there is. The parser can take one clause for two sentences. */
function firstOf<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Result | undefined,
): Result | undefined {
  for (const item of items) {
    const result = read(item);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** Verbs before the first word of a pattern that leave it done: "had to break up". */
const DOING = new Set(["have", "decide", "manage", "get", "end up"]);
const SAME_IN_PAST = new Set(["quit", "split", "let", "put"]);

/** Whether it has happened. A wish, a plan and a habit have not. */
function isDone({ statement }: Change, { tokens }: ParsedSentence, { first }: PatternMatch): boolean {
  const { verb } = statement.clause;
  const word = tokens[first];
  if (!word) return false;
  const base = baseOf(word.lower);
  if (verb.chain.some((link) => !DOING.has(link.verb) && link.verb.split(" ")[0] !== base)) return false;
  if (tokens[first - 1]?.lower === "to" && verb.chain.length === 0) return false;
  if (base === "be") return word.tag !== "VBG";
  // "is getting remarried"
  if (verb.progressive && !verb.perfect && verb.tense !== "past") return SAME_IN_PAST.has(base);
  return (
    verb.tense === "past" ||
    verb.perfect ||
    word.tag === "VBD" ||
    word.tag === "VBN" ||
    SAME_IN_PAST.has(base)
  );
}

function toProposals(
  change: Change,
  { row, pattern }: Matcher,
  { object }: PatternMatch,
): Proposal[] | undefined {
  const lived = whoseLife(change, row, pattern, object);
  if (!lived || !isPartner(change, lived)) return undefined;
  const { context, statement } = change;
  const means = (lived.isMutual ? row.meansWith : undefined) ?? row.means;
  const state = means === undefined ? undefined : claimMeant(change, means, lived);
  if (means !== undefined && state === undefined) return undefined;
  const target = targetOf((row.ends ?? []).flatMap((one) => claimsInState(change, lived, one)));
  if (row.isBeside)
    return target && [ending(context, getStatementSpan(change), target), ...claimsOf(context, statement)];
  const replaces = target ? { replaces: target } : {};
  if (state) return begun(change, lived, state, replaces);
  // Of states of which nothing is known, the words are read as any others.
  const isTold = row.event !== undefined && lived.isMutual;
  return target || isTold ? [{ ...happened(change, lived), ...replaces }] : undefined;
}

/** Whether one can part from it as from a partner: "I left the mobile where it was" parts from nobody. */
function isPartner({ context }: Change, { row, other }: LifeEvent): boolean {
  if (!row.ends || !row.event?.endsWith(" O")) return true;
  const words = other.toLowerCase().split(" ");
  if (other === "" || /^\p{Lu}/u.test(other) || /^(?:him|her|them|each|one)$/.test(words[0] ?? ""))
    return true;
  const isPerson = words.some(
    (word) => isPersonNoun(word) || [KIN, FEMALE, MALE].some((nouns) => nouns.has(word)),
  );
  return (
    isPerson ||
    held(context).some(({ claim }) => claim.relation === "be called" && hasSameWords(claim.value, other))
  );
}

/** Undefined where the one who should be another is the speaker. */
function whoseLife(
  change: Change,
  row: LifeEventRow,
  { subject }: WordPattern,
  object: string,
): LifeEvent | undefined {
  const { context, statement } = change;
  const { speaker } = context.discourse;
  if (subject === "S") {
    const partner = object === "" ? partnerIn(change) : "";
    return {
      row,
      who: statement.subject,
      other: tidy(object || partner),
      isOwn: true,
      isMutual: partner !== "",
    };
  }
  if (subject === "O" && statement.subject.path === speaker.path) return undefined;
  const other = tidy(object || (subject === "O" ? subjectText(change) : ""));
  return { row, who: speaker, other, isOwn: false, isMutual: false };
}

/** A row that was found, in whose life, and with whom or what. */
interface LifeEvent {
  readonly row: LifeEventRow;
  readonly who: Entity;
  readonly other: string;
  /** Told by the one whose life it is. */
  readonly isOwn: boolean;
  /** "Tom and I": the other one is part of the subject. */
  readonly isMutual: boolean;
}

/** The state that begins, and the event by which it does. A taste begins without one. */
function begun(
  change: Change,
  lived: LifeEvent,
  state: Claim,
  replaces: Pick<AddProposal, "replaces">,
): Proposal[] {
  const { who, isOwn } = lived;
  const isTaste =
    getRelation(state.relation.replace(/^not /, "").split(/ (?=\S+ing$)/)[0] ?? "").kind === "preference";
  const began = adding(change.context, getStatementSpan(change), {
    text: compose(who.display, verbOf(who, state.relation), state.value),
    claim: state,
    importance: 0.8,
    ...(isTaste ? { kind: "preference" } : {}),
    ...replaces,
    ...fromThen(change),
  });
  return isTaste || !isOwn ? [began] : [happened(change, lived), began];
}

/** "The user broke up with Emil on 3 May 2026", or the words as they were said. */
function happened(change: Change, { row, who, other }: LifeEvent): AddProposal {
  const { lemma } = change.statement.clause.verb;
  const [head = lemma, ...rest] = (row.event ?? lemma).replace(/ O$/, "").split(" ");
  const said = event(change, lemma, lemma);
  if (row.event === undefined || said.claim === undefined) return said;
  const relation = [head, ...rest].join(" ");
  const partner = thirdPerson(other, change.context, who) || "their partner";
  const claim = claimOf(who.path, relation, row.event.endsWith(" O") ? partner : other);
  const [date] = change.dates;
  const day = date ? sayWhen(date.iso) : "";
  const isNamed = row.event.endsWith(" O");
  const past = [toPastTense(head), ...rest].join(" ");
  return { ...said, claim, ...(isNamed ? { text: compose(who.display, past, claim.value, day) } : {}) };
}

/** The claim that a row stands for; undefined without what it needs. "S | be | O" needs a word for a state: "vegan". */
function claimMeant(change: Change, means: string, { row, who, other }: LifeEvent): Claim | undefined {
  const [, relation = "", value = ""] = means.split(" | ");
  if (value !== "O") return claimOf(who.path, relation, value);
  if (other === "" || /^(?:it|that|this|them|those|these)$/i.test(other)) return undefined;
  const [doing = "", ...rest] = other.split(" ");
  // "love swimming" is a relation of its own.
  const isDoing = /^(?:not )?(?:like|love)$/.test(relation) && /[a-z]{2}ing$/.test(doing);
  const claim = isDoing
    ? claimOf(who.path, `${relation} ${doing}`, rest.join(" "))
    : claimOf(who.path, relation, other);
  if (relation === "be" && listStates(claim).length === 0) return undefined;
  if (row.isContrary && !isContraryTold(change, claim)) return undefined;
  // "They made me lunch."
  return relation === "work as" && !isTrade(other.split(" ").at(-1)?.toLowerCase() ?? "") ? undefined : claim;
}

function isContraryTold({ context }: Change, state: Claim): boolean {
  const patterns = listExcluded(state);
  return held(context).some(({ claim }) =>
    patterns.some(
      ({ subject, relation, value }) =>
        subject === claim.subject && relation === claim.relation && hasSameWords(value ?? "", claim.value),
    ),
  );
}

/** "our baby girl Nora": the speaker's own, and of a kind. */
function isOwnOf(change: Change, kinds: ReadonlySet<string>): boolean {
  const [owner = "", ...words] = subjectText(change).toLowerCase().split(" ");
  return (
    /^(?:my|our|the|both)$/.test(owner) &&
    words.some((word) => kinds.has(word)) &&
    !/['’]s /.test(subjectText(change))
  );
}

function subjectText({ context, statement }: Change): string {
  const { subject, tokens } = statement.clause;
  return subject ? said(context, tokens, ...subject) : "";
}

/** "Tom" in "Tom and I". */
function partnerIn(change: Change): string {
  const text = subjectText(change);
  const other = text.replace(/^(?:me|I) and /i, "").replace(/ and (?:I|me)$/i, "");
  return other === text ? "" : other;
}

/** What is told of a state, of the one who is named alone where one is. */
function claimsInState({ context }: Change, { row, who, other }: LifeEvent, state: string): Held[] {
  if (other === "" && isSharedWithMany(state)) return [];
  const patterns = listClaimsOfState(who.path, state);
  const all = held(context).filter(({ memory }) => memory !== undefined && memory.kind !== "event");
  const named = /^(?:him|her|them|it|each other)$/i.test(other) ? [] : telling(other);
  return all.filter(
    ({ claim }) =>
      patterns.some(
        ({ subject, relation, fits }) =>
          (subject === undefined || subject === claim.subject) &&
          (relation === undefined || relation === claim.relation) &&
          (fits === undefined || fits(claim)),
      ) &&
      (named.length === 0 || mayBe(all, claim, named, !row.isDenied)),
  );
}

/** Whether a claim can be about the one who is named: another name says that it is not. */
function mayBe(
  all: readonly Held[],
  { subject, relation, value }: Held["claim"],
  named: readonly string[],
  isLoose: boolean,
): boolean {
  const names = all.filter(
    ({ claim }) =>
      claim.subject === subject && /^be(?: called)?$/.test(claim.relation) && /^\p{Lu}/u.test(claim.value),
  );
  const words = telling(
    `${subject.replaceAll("/", " ")} ${relation} ${value} ${names.map(({ claim }) => claim.value).join(" ")}`,
  );
  if (named.some((word) => words.includes(word))) return true;
  return isLoose && names.length === 0 && !/ (?:to|with)$|^date$/.test(relation);
}

function verbOf({ plural }: Entity, relation: string): string {
  return plural ? relation.replace(/^be\b/, "are").replace(/^not be\b/, "are not") : thirdRelation(relation);
}
