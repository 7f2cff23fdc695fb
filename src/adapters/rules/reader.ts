import type { Claim } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Proposal, Reading } from "../../ports/extractor.ts";
import { byOthers, changesOf } from "./changes.ts";
import { claimsOf } from "./claims.ts";
import { type Clause, clausesOf, isOrder } from "./clauses.ts";
import { type Context, type Statement, tidy } from "./context.ts";
import { putRight, swapOf } from "./corrections.ts";
import { type Discourse, discourse, type Entity, speakerEntity } from "./entities.ts";
import { isRefused, quotedSpans } from "./guards.ts";
import { instructionOf } from "./instructions.ts";
import { ANIMALS, EMPTY_SUBJECTS, FIRST_PERSON, SAYING } from "./lexicon.ts";
import { isPersonNoun } from "./persons.ts";
import { phrasesOf } from "./phrases.ts";
import { tagSentences } from "./tagger.ts";
import { isTime } from "./times.ts";
import type { Token } from "./token.ts";

/** Reads the statements of one message, sentence by sentence. */
export function readStatements(
  message: Message,
  reading: Reading,
  spans: readonly { start: number; end: number }[],
): Proposal[] {
  const speaker = speakerEntity(message.name);
  const made: Proposal[] = [];
  // What is known does not change while a message is read, and can be long; what the message itself told is short.
  const stored = claimsOfMemories(reading);
  let all: readonly Claim[] | undefined;
  let counted = 0;
  const claims = (): readonly Claim[] => {
    if (all && counted === made.length) return all;
    const told = made.flatMap((one) => (one.propose === "add" ? (one.claim ?? []) : []));
    counted = made.length;
    all = told.length === 0 ? stored() : [...stored(), ...told];
    return all;
  };
  const talk = discourse(speaker, claims, () => spokenOf(reading, message));
  const context: Context = { message, content: message.content, discourse: talk, known: reading.known, made };
  const quotes = quotedSpans(message.content);
  for (const { start, end } of spans) {
    const text = message.content.slice(start, end);
    if (isRefused(text)) continue;
    for (const tokens of tagSentences(text, start)) {
      markQuotes(tokens, quotes);
      context.made.push(...readSentence(context, tokens));
    }
  }
  return context.made;
}

/** The claims of what is known, gathered at the first call. */
function claimsOfMemories({ known }: Reading): () => readonly Claim[] {
  let claims: readonly Claim[] | undefined;
  return () => {
    claims ??= known.flatMap(({ claim }) => claim ?? []);
    return claims;
  };
}

function markQuotes(tokens: Token[], quotes: readonly { start: number; end: number }[]): void {
  for (const token of tokens)
    token.quoted = quotes.some(({ start, end }) => token.start >= start && token.end <= end);
}

/** What the last turns of the user spoke of, for pronouns alone. */
function spokenOf(reading: Reading, message: Message): Entity[] {
  const found: Entity[] = [];
  const turns = reading.earlier
    .filter(({ role, name }) => role === "user" && name === message.name)
    .slice(-3);
  const known = claimsOfMemories(reading);
  for (const turn of turns) {
    const talk = discourse(speakerEntity(turn.name), known, () => []);
    for (const tokens of tagSentences(turn.content.slice(0, 600))) {
      for (const clause of clausesOf(tokens))
        for (const entity of entitiesOf(talk, clause)) found.push(entity);
    }
  }
  return found;
}

/** Whom and what a clause names, in the order in which a pronoun would mean them: the subject last. */
function entitiesOf(talk: Discourse, clause: Clause): Entity[] {
  const { tokens, subject, rest } = clause;
  const named = phrasesOf(tokens, ...rest)
    .filter(({ kind }) => kind !== "time")
    .flatMap(({ items }) => items)
    .filter(([from]) => tokens[from] && tokens[from]?.class !== "pronoun")
    .map((item) => talk.resolve(tokens, ...item) ?? indefinite(talk, clause, item));
  if (subject && tokens[subject[0]]?.class !== "pronoun") named.push(talk.resolve(tokens, ...subject));
  const found = named.flatMap((entity) => (entity && entity.path !== talk.speaker.path ? [entity] : []));
  for (const entity of found) talk.mention(entity);
  return found;
}

/** "I have a cat", "got a new car": the speaker's from now on. */
function indefinite(talk: Discourse, clause: Clause, item: readonly [number, number]): Entity | undefined {
  const { tokens } = clause;
  const first = tokens[item[0]];
  const head = tokens.slice(...item).findLast(({ class: kind }) => kind === "noun")?.lower;
  if (!first || head === undefined || !/^(?:a|an|two|three|four|one)$/.test(first.lower)) return undefined;
  const owns = [
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
  ].includes(clause.verb.lemma);
  if (!owns) return undefined;
  const animate = isPersonNoun(head) || ANIMALS.has(head);
  return {
    path: `${talk.speaker.path}/${head}`,
    display: `${talk.speaker.path === "user" ? "The user's" : `${talk.speaker.display}'s`} ${head}`,
    animate,
    plural: false,
  };
}

const BEYOND =
  /\b(?:i wish|if only|imagine|pretend(?:ing)?|what if|suppose i|in my dreams?|i dreamt|i dreamed|had a dream|yeah right|as if i|just kidding|jk\b|not really lol)\b/i;

function readSentence(context: Context, tokens: Token[]): Proposal[] {
  const first = tokens[0];
  const last = tokens.at(-1);
  if (!first || !last) return [];
  const text = context.content.slice(first.start, last.end + last.after.length);
  if (BEYOND.test(text)) return [];
  const clauses = clausesOf(tokens);
  const whole = { start: first.start, end: last.end };
  const swapped = swapOf(context, text, whole);
  if (swapped) return swapped;
  const order = instructionOf(context, text, whole);
  const proposals: Proposal[] = [...order];
  const before = context.made.length;
  const walk: Walk = {
    context,
    clauses,
    text,
    previous: undefined,
    sayer: undefined,
    conditional: false,
    circumstance: undefined,
  };
  for (const k of clauses.keys()) proposals.push(...readClause(walk, k, order.length > 0));
  context.made.length = before;
  return putRight(context, text, whole, proposals);
}

/** What reading a sentence clause by clause remembers on its way. */
interface Walk {
  readonly context: Context;
  readonly clauses: readonly Clause[];
  readonly text: string;
  previous: { clause: Clause; subject: Entity | undefined } | undefined;
  /** Who said what is quoted next. */
  sayer: Entity | undefined;
  conditional: boolean;
  /** "when I fly", before its main clause. */
  circumstance: string | undefined;
}

function readClause(walk: Walk, k: number, isOrdered: boolean): Proposal[] {
  const { context, clauses } = walk;
  const clause = clauses[k];
  if (!clause) return [];
  const subject = subjectOf(context, clause, walk.previous, clauses[k - 1]);
  const place = placeOf(context, clause, clauses[k + 1]);
  const skip = passes(clause, walk.conditional);
  if (clause.role === "condition") walk.conditional = true;
  else if (opensSentence(clauses, k)) {
    walk.circumstance = tidy(context.content.slice(openerStart(clause, place.start, context), place.end));
  }
  if (isOrdered && !clause.subject) return [];
  const proposals = statementsOf(walk, k, { clause, subject, place, skip });
  if (subject && subject.path !== context.discourse.speaker.path) context.discourse.mention(subject);
  remember(context, clause, subject);
  walk.previous = { clause, subject: subject ?? (clause.shares ? walk.previous?.subject : undefined) };
  return proposals;
}

/** A circumstance that stands before every main clause: "when I fly, …". */
function opensSentence(clauses: readonly Clause[], k: number): boolean {
  const clause = clauses[k];
  if (clause?.role !== "circumstance" || ["since", "as"].includes(clause.opener ?? "")) return false;
  return !clauses.slice(0, k).some(({ role }) => role === "main");
}

function statementsOf(
  walk: Walk,
  k: number,
  {
    clause,
    subject,
    place,
    skip,
  }: { clause: Clause; subject: Entity | undefined; place: { start: number; end: number }; skip: boolean },
): Proposal[] {
  const { context, clauses, text } = walk;
  const quoted = quotedSpeaker(context, clause, walk.sayer);
  if (quoted) return readStatement(context, { clause, subject: quoted, ...place }, text);
  if (clause.verb.lemma === "say") walk.sayer = subject ?? walk.sayer;
  if (skip) return [];
  if (!subject) return clause.subject ? (byOthers(context, { clause, subject: NOBODY, ...place }) ?? []) : [];
  const statement: Statement = {
    clause,
    subject,
    ...place,
    ...trailing(context, clauses, k, walk.circumstance),
  };
  const made = readStatement(context, widen(context, statement, clauses[k + 1]), text);
  context.made.push(...made);
  walk.circumstance = undefined;
  return made;
}

/** Tina said "I'm moving": the "I" is Tina. Only plain statements of people who are named or known. */
function quotedSpeaker(context: Context, clause: Clause, sayer: Entity | undefined): Entity | undefined {
  const { tokens, subject, verb } = clause;
  const first = subject && tokens[subject[0]];
  if (!sayer || sayer.path === context.discourse.speaker.path || !tokens[verb.from]?.quoted) return undefined;
  if (!subject && clause.shares && !clause.asks && !verb.open) return sayer;
  if (!first) return undefined;
  const isPlain = !clause.asks && !verb.open && clause.role !== "condition";
  return isPlain && FIRST_PERSON.has(first.lower) && subject[1] - subject[0] === 1 ? sayer : undefined;
}

/** "they", "the office": whoever it was that moved the appointment. */
const NOBODY: Entity = { path: "?", display: "Somebody", animate: true, plural: false };

function remember(context: Context, clause: Clause, subject: Entity | undefined): void {
  const found = entitiesOf(context.discourse, clause);
  if (subject && found.length > 0 && subject.path !== context.discourse.speaker.path)
    context.discourse.mention(subject);
}

/** "while", "when I fly" behind the main clause belongs to it too. */
function trailing(
  context: Context,
  clauses: readonly Clause[],
  k: number,
  before: string | undefined,
): { circumstance?: string } {
  if (before !== undefined) return { circumstance: before };
  const next = clauses[k + 1];
  if (
    next?.role !== "circumstance" ||
    !["when", "whenever", "while", "before", "after", "until", "where"].includes(next.opener ?? "")
  )
    return {};
  const place = placeOf(context, next, clauses[k + 2]);
  const text = tidy(context.content.slice(openerStart(next, place.start, context), place.end));
  return text.length > 60 ? {} : { circumstance: text };
}

function openerStart(clause: Clause, start: number, context: Context): number {
  if (!clause.opener) return start;
  const before = context.content.slice(0, start).toLowerCase().lastIndexOf(clause.opener);
  return before >= 0 && start - before < clause.opener.length + 4 ? before : start;
}

/** A promise reaches over the clause that says what was promised. */
function widen(context: Context, statement: Statement, next: Clause | undefined): Statement {
  if (next?.role !== "content" || !/^(?:promise|swear|agree|vow)$/.test(statement.clause.verb.lemma))
    return statement;
  return { ...statement, end: placeOf(context, next, undefined).end };
}

function passes(clause: Clause, conditional: boolean): boolean {
  const first = clause.tokens[clause.verb.from];
  if (clause.asks || first?.quoted) return true;
  // "I almost bought a boat"
  if (
    /^(?:almost|nearly|hardly|barely)$/.test(clause.tokens[clause.verb.from - 1]?.lower ?? "") ||
    clause.tokens
      .slice(clause.verb.from, clause.verb.to)
      .some(({ lower }) => /^(?:almost|nearly)$/.test(lower))
  )
    return true;
  if (clause.role === "condition" || clause.role === "circumstance" || clause.role === "reason") return true;
  return conditional && (clause.verb.open || clause.verb.tense === "past" || clause.verb.tense === "future");
}

function subjectOf(
  context: Context,
  clause: Clause,
  previous: { clause: Clause; subject: Entity | undefined } | undefined,
  before: Clause | undefined,
): Entity | undefined {
  const { tokens, subject } = clause;
  const talk = context.discourse;
  if (!subject) return impliedSubject(talk, clause, previous, before);
  const first = tokens[subject[0]];
  if (!first) return undefined;
  if (clause.role === "relative") return antecedent(context, clause, before);
  const isReported =
    clause.role === "content" && before?.subject !== undefined && SAYING.has(before.verb.lemma);
  // What others say of the user is theirs: "Tina thinks I'm mad".
  if (isReported && FIRST_PERSON.has(first.lower) && previous?.subject?.path !== talk.speaker.path)
    return undefined;
  const isEmpty = EMPTY_SUBJECTS.has(first.lower) && first.lower !== "it" && subject[1] - subject[0] === 1;
  if (isEmpty || first.lower === "you") return undefined;
  return talk.resolve(tokens, ...subject) ?? renamedPerson(context, clause);
}

/** Who is meant where nobody is named: the one before, or the speaker; nobody in an order. */
function impliedSubject(
  talk: Discourse,
  clause: Clause,
  previous: { subject: Entity | undefined } | undefined,
  before: Clause | undefined,
): Entity | undefined {
  if (clause.shares) return previous?.subject ?? (before?.subject ? undefined : talk.speaker);
  if (hasOtherSubject(clause)) return undefined;
  return isOrder(clause) && !STANDING.has(clause.verb.lemma) ? undefined : talk.speaker;
}

/** Something stands before the verb that is no subject we can read: then it is not "I" that was left out. */
function hasOtherSubject(clause: Clause): boolean {
  const { tokens, lead, verb } = clause;
  for (let i = lead[0]; i < verb.from; i += 1) {
    const token = tokens[i];
    if (!token || /[,;:]/.test(tokens[verb.from - 1]?.after ?? "")) continue;
    if (
      ["determiner", "possessive"].includes(token.class) &&
      !/[,]/.test(token.after) &&
      !isTime(tokens, i, i + 2)
    )
      return tokens[i - 1]?.class !== "preposition";
  }
  return false;
}

/** "he's Danielle now": whoever was spoken of last, whatever the pronoun. */
function renamedPerson(context: Context, clause: Clause): Entity | undefined {
  const { tokens, subject, verb, rest } = clause;
  const first = subject && tokens[subject[0]];
  const next = tokens[rest[0]];
  if (!first || !/^(?:she|he|they)$/.test(first.lower) || !verb.copula || !/^\p{Lu}/u.test(next?.word ?? ""))
    return undefined;
  return ["they", "she", "he"]
    .map((pronoun) => context.discourse.meantBy(pronoun))
    .find((entity) => entity !== undefined);
}

/** Verbs that open a sentence about oneself without "I": "love this place", "need to call mum". */
const STANDING = new Set([
  "love",
  "hate",
  "like",
  "need",
  "want",
  "prefer",
  "live",
  "work",
  "miss",
  "hope",
  "plan",
  "use",
  "drive",
  "play",
  "own",
]);

/** Whom "who" means: the noun phrase right before it. */
function antecedent(context: Context, clause: Clause, before: Clause | undefined): Entity | undefined {
  const { tokens, subject } = clause;
  const end = subject?.[0] ?? 0;
  for (let start = Math.max(0, end - 5); start < end; start += 1) {
    const token = tokens[start];
    if (token?.class === "possessive" || token?.class === "name")
      return context.discourse.resolve(tokens, start, end);
  }
  return before ? context.discourse.meantBy("they") : undefined;
}

function placeOf(context: Context, clause: Clause, next: Clause | undefined): { start: number; end: number } {
  const { tokens, lead, rest, verb, subject } = clause;
  const first = tokens[Math.min(lead[0], subject?.[0] ?? lead[0], verb.from)] ?? tokens[0];
  const limit = next && next.tokens === tokens ? Math.max(rest[1], verb.to) : rest[1];
  const last = tokens[Math.max(limit, verb.to) - 1] ?? tokens.at(-1);
  const start = first?.start ?? 0;
  const end = last?.end ?? context.content.length;
  const trimmed = context.content.slice(start, end).replace(/[\s,]+(?:and|but|so|or|then|because)?$/i, "");
  return { start, end: start + Math.max(1, trimmed.length) };
}

function readStatement(context: Context, statement: Statement, sentence: string): Proposal[] {
  return changesOf(context, statement, sentence) ?? claimsOf(context, statement);
}
