import type { Claim } from "../../../../domain/memory.ts";
import { toBaseForm, toPastTense } from "../../../../domain/text/english-forms.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import type { ParsedSentence, ParsedToken } from "../../parser/parser.ts";
import { LIFE_EVENTS, type LifeEventRow } from "../../relations/life-events.ts";
import { getRelation } from "../../relations/relations.ts";
import { listClaimsOfState, listStates } from "../../relations/states.ts";
import { claimsOf } from "../claims/claims.ts";
import { compose } from "../claims/sentence.ts";
import type { Entity } from "../clauses/entity.ts";
import { adding, claimOf, ending, said, tidy } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, fromThen, place, sayIso, thirdRelation } from "./change.ts";
import { event } from "./ending-event.ts";

interface Step {
  readonly words: ReadonlySet<string>;
  readonly isOptional: boolean;
}

/** A row with its pattern in parts: who is the subject, the words in order, and whether `O` follows them. */
interface Matcher {
  readonly row: LifeEventRow;
  readonly subject: string;
  /** What the subject has to be. */
  readonly kinds: ReadonlySet<string> | undefined;
  readonly steps: readonly Step[];
  readonly hasObject: boolean;
  readonly isObjectOptional: boolean;
  /** Whether what was done with whom or where may not follow. */
  readonly isClosed: boolean;
}

const MATCHERS: readonly Matcher[] = LIFE_EVENTS.map((row) => {
  const [first = "S", ...words] = row.pattern.split(" ");
  const [subject = "S", kinds] = first.split(":");
  const last = words.at(-1) ?? "";
  const hasObject = last === "O" || last === "O?";
  const isClosed = last === ".";
  const steps = (hasObject || isClosed ? words.slice(0, -1) : words).map((word) => ({
    words: new Set(word.replace("?", "").split("|")),
    isOptional: word.endsWith("?"),
  }));
  return {
    row,
    subject,
    kinds: kinds === undefined ? undefined : new Set(kinds.split("|")),
    steps,
    isClosed,
    hasObject,
    isObjectOptional: last === "O?",
  };
});

const OPENING_WORDS = new Set(MATCHERS.flatMap(({ steps }) => [...(steps[0]?.words ?? [])]));

/** "Tom and I broke up", "I got married", "Techno has grown on me": what is so from then on, and what has ended. */
export function lived(change: Change): Proposal[] | undefined {
  const { context, statement } = change;
  const { verb, tokens } = statement.clause;
  if (!tokens.some(({ lower }) => OPENING_WORDS.has(baseOf(lower)))) return undefined;
  if (verb.open || verb.tense === "future" || verb.modal) return undefined;
  const sentences = parseEnglish(context.content.slice(statement.start, statement.end));
  for (const matcher of MATCHERS) {
    if ((verb.denied !== undefined) !== (matcher.row.isDenied === true)) continue;
    if (matcher.kinds && !isOwnOf(change, matcher.kinds)) continue;
    const proposals = firstOf(sentences, (sentence) => {
      const found = matchWords(sentence, matcher);
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

/** Where a pattern was found: its first word, and the words of `O`. */
interface PatternMatch {
  readonly first: number;
  readonly object: string;
}

function matchWords(
  { tokens }: ParsedSentence,
  { steps, isClosed, hasObject, isObjectOptional }: Matcher,
): PatternMatch | undefined {
  for (let first = 0; first < tokens.length; first += 1) {
    const at = followSteps(tokens, first, steps);
    if (at === undefined || (isClosed && /^(?:at|as|with|for)$/.test(tokens[at]?.lower ?? ""))) continue;
    const object = hasObject ? objectAt(tokens, at) : "";
    if (hasObject && object === "" && !isObjectOptional) continue;
    return { first, object };
  }
  return undefined;
}

/** The index behind the last word of a pattern that begins at `first`. */
function followSteps(
  tokens: readonly ParsedToken[],
  first: number,
  steps: readonly Step[],
): number | undefined {
  let at = first;
  for (const [k, { words, isOptional }] of steps.entries()) {
    let next = at;
    // Between two words of a pattern an adverb may stand: "fell completely out of love", "am not with".
    while (k > 0 && /^(?:ADV|PART)$/.test(tokens[next]?.pos ?? "") && !isWord(tokens[next], words)) next += 1;
    if (isWord(tokens[next], words)) at = next + 1;
    else if (!isOptional || k === 0) return undefined;
  }
  return at;
}

function isWord(token: ParsedToken | undefined, words: ReadonlySet<string>): boolean {
  return token !== undefined && (words.has(token.lower) || words.has(baseOf(token.lower)));
}

function baseOf(word: string): string {
  return toBaseForm(word.replace(/in'$/, "ing"));
}

/** Labels of what belongs to a noun; the rest is said beside it: "yesterday", "in May", "because …". */
const IN_NOUN = /^(?:det|amod|compound|flat|fixed|nummod|nmod:poss|case|nmod|goeswith|appos)$/;

/** The noun phrase that begins at a word, in the words of the message; empty where none does. */
function objectAt(tokens: readonly ParsedToken[], at: number): string {
  const first = tokens[at];
  if (!first || first.label === "obl:unmarked" || first.pos === "PUNCT" || first.pos === "ADP") return "";
  let head = at;
  while ((tokens[head]?.head ?? -1) > head && IN_NOUN.test(tokens[head]?.label ?? ""))
    head = tokens[head]?.head ?? -1;
  const noun = tokens[head];
  if (!noun || !/^(?:NOUN|PROPN|PRON|VERB|ADJ|NUM|X)$/.test(noun.pos) || noun.label === "obl:unmarked")
    return "";
  let end = head + 1;
  while (end < tokens.length && isWithin(tokens, end, head)) end += 1;
  const words = tokens.slice(at, end);
  return words.reduce(
    (text, token, i) => text + (i > 0 && token.start > (words[i - 1]?.end ?? 0) ? " " : "") + token.text,
    "",
  );
}

function isWithin(tokens: readonly ParsedToken[], index: number, head: number): boolean {
  let at = index;
  while (at > head && IN_NOUN.test(tokens[at]?.label ?? "")) at = tokens[at]?.head ?? -1;
  return at === head;
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
  return (
    verb.tense === "past" ||
    verb.perfect ||
    word.tag === "VBD" ||
    word.tag === "VBN" ||
    SAME_IN_PAST.has(base)
  );
}

function toProposals(change: Change, matcher: Matcher, { object }: PatternMatch): Proposal[] | undefined {
  const { context, statement } = change;
  const { row, subject, hasObject } = matcher;
  const who = subject === "S" ? statement.subject : context.discourse.speaker;
  const partner = subject === "O" ? subjectText(change) : hasObject ? "" : partnerIn(change);
  if (subject === "O" && statement.subject.path === who.path) return undefined;
  const other = tidy(object || partner);
  const means = (partner !== "" ? row.meansWith : undefined) ?? row.means;
  const state = means === undefined ? undefined : claimMeant(means, who, other);
  if (means !== undefined && state === undefined) return undefined;
  const ended = (row.ends ?? []).flatMap((one) => claimsInState(change, who, one, other));
  const target = targetOf([...new Set(ended)]);
  // Of states of which nothing is known, the words are read as any others.
  const isTold = row.event !== undefined && partner !== "" && subject === "S";
  if (!state && !target && !isTold) return undefined;
  if (row.isBeside)
    return [...(target ? [ending(context, place(change), target)] : []), ...claimsOf(context, statement)];
  const replaces = target ? { replaces: target } : {};
  if (!state) return [{ ...happened(change, row, who, other), ...replaces }];
  const isTaste = getRelation(state.relation.replace(/^not /, "")).kind === "preference";
  return [
    ...(isTaste || subject !== "S" ? [] : [happened(change, row, who, other)]),
    adding(context, place(change), {
      text: compose(who.display, verbOf(who, state.relation), state.value),
      claim: state,
      importance: 0.8,
      ...(isTaste ? { kind: "preference" } : {}),
      ...replaces,
      ...fromThen(change),
    }),
  ];
}

/** "The user broke up with Emil on 3 May 2026", or the words as they were said. */
function happened(change: Change, row: LifeEventRow, who: Entity, other: string): AddProposal {
  const { lemma } = change.statement.clause.verb;
  const [head = lemma, ...rest] = (row.event ?? lemma).replace(/ O$/, "").split(" ");
  const said = event(change, lemma, lemma);
  if (row.event === undefined || said.claim === undefined) return said;
  const relation = [head, ...rest].join(" ");
  const claim = claimOf(who.path, relation, row.event.endsWith(" O") ? other || "their partner" : other);
  const [date] = change.dates;
  const day = date ? `on ${sayIso(date.iso)}` : "";
  const isNamed = row.event.endsWith(" O");
  const past = [toPastTense(head), ...rest].join(" ");
  return { ...said, claim, ...(isNamed ? { text: compose(who.display, past, claim.value, day) } : {}) };
}

/** The claim that a row stands for; undefined without what it needs. "S | be | O" needs a word for a state: "vegan". */
function claimMeant(means: string, who: Entity, other: string): Claim | undefined {
  const [, relation = "", value = ""] = means.split(" | ");
  if (value !== "O") return claimOf(who.path, relation, value);
  if (other === "" || /^(?:it|that|this|them|those|these)$/i.test(other)) return undefined;
  const claim = claimOf(who.path, relation, other);
  return relation === "be" && listStates(claim).length === 0 ? undefined : claim;
}

/** "our baby girl Nora": the speaker's own, and of a kind. */
function isOwnOf(change: Change, kinds: ReadonlySet<string>): boolean {
  const { path } = change.statement.subject;
  const words = subjectText(change).toLowerCase().split(" ");
  return (
    path.startsWith(`${change.context.discourse.speaker.path}/`) && words.some((word) => kinds.has(word))
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
function claimsInState({ context }: Change, who: Entity, state: string, other: string): Held[] {
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
      (named.length === 0 || mayBe(all, claim, named)),
  );
}

/** Whether a claim can be about the one who is named: another name says that it is not. */
function mayBe(
  all: readonly Held[],
  { subject, relation, value }: Held["claim"],
  named: readonly string[],
): boolean {
  const names = all.filter(
    ({ claim }) =>
      claim.subject === subject && /^be(?: called)?$/.test(claim.relation) && /^\p{Lu}/u.test(claim.value),
  );
  const words = telling(
    `${subject.replaceAll("/", " ")} ${relation} ${value} ${names.map(({ claim }) => claim.value).join(" ")}`,
  );
  if (named.some((word) => words.includes(word))) return true;
  return names.length === 0 && !/ (?:to|with)$|^date$/.test(relation);
}

function verbOf({ plural }: Entity, relation: string): string {
  return plural ? relation.replace(/^be\b/, "are").replace(/^not be\b/, "are not") : thirdRelation(relation);
}
