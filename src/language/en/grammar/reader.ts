import type { Claim } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { Proposal } from "../../../ports/language/extractor.ts";
import { takenOver } from "./changes/change-swaps.ts";
import { byOthers } from "./changes/changes.ts";
import { idiomEndings } from "./changes/endings.ts";
import { beside, piecesOf, wishesOf } from "./claims/beside.ts";
import { asksForName, instructionOf } from "./claims/instructions.ts";
import { furtherPredicates } from "./claims/name-claims.ts";
import {
  type Before,
  isOfPossessor,
  mentionsOf,
  mentionsOfFragment,
  quotedSpeaker,
  subjectOf,
  TELLING,
  toldOf,
} from "./clauses/clause-subjects.ts";
import { type Clause, clausesOf, withoutVocatives } from "./clauses/clauses.ts";
import { discourse, speakerEntity } from "./clauses/entities.ts";
import type { Entity } from "./clauses/entity.ts";
import { asides } from "./clauses/relatives.ts";
import { type Context, type Statement, tidy } from "./context.ts";
import { putRight, starredValue, swapOf } from "./corrections/corrections.ts";
import { takenBack } from "./corrections/taken-back.ts";
import type { RulesReading } from "./known-memory.ts";
import { type JudgedClause, judgeClauses, openSpans } from "./no-facts/factuality.ts";
import { isRefused, quotedSpans } from "./no-facts/guards.ts";
import { isPassedOver, isUnreal } from "./no-facts/unreal.ts";
import { replyTo } from "./scraps/asked.ts";
import { datedLead, dueThen } from "./scraps/dated.ts";
import { echoed, toldBefore, toldIn } from "./scraps/echoes.ts";
import { elliptical } from "./scraps/ellipsis.ts";
import { agesInBrackets, backOn, bared, farewells, fragmentClaims, onlyThat } from "./scraps/fragments.ts";
import { isAmongPeople } from "./standing/among-people.ts";
import { readStatement } from "./statements.ts";
import { withoutEmoticons } from "./words/holes.ts";
import { nameTitles } from "./words/noun-repairs.ts";
import { tagSentences } from "./words/tagger.ts";
import type { Token } from "./words/token.ts";

/** Reads the statements of one message, sentence by sentence, with a possible pause before each. */
export function* readStatements(
  message: Message,
  reading: RulesReading,
  spans: readonly { start: number; end: number }[],
): Generator<void, Proposal[], void> {
  const speaker = speakerEntity(message.name);
  const content = withoutEmoticons(message.content);
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
  const { known, earlier } = reading;
  const context: Context = {
    message,
    content,
    discourse: talk,
    known,
    ended: reading.ended ?? (() => []),
    earlier,
    made,
    readAs: (text, place) => readAs(context, text, place),
  };
  const quotes = quotedSpans(content);
  tagged.delete(message);
  for (const { start, end } of spans) {
    yield;
    const text = content.slice(start, end);
    if (isRefused(text)) continue;
    const starred = starredValue(context, text, { start, end });
    if (starred) {
      context.made.push(starred);
      continue;
    }
    const sentences = tagSentences(text, start);
    tagged.set(message, [...(tagged.get(message) ?? []), ...sentences]);
    for (const tokens of sentences) {
      markQuotes(tokens, quotes);
      nameTitles(tokens);
      context.made.push(...readSentence(context, tokens));
    }
  }
  return context.made;
}

/** Sentences as they were tagged, for the turns that follow: tagging is most of the work. They go with the message. */
const tagged = new WeakMap<Message, Token[][]>();

/** Where a message that was read tells no fact as it stands: what is denied, doubted, pretended. */
export function openSpansOf(message: Message): { start: number; end: number }[] {
  return (tagged.get(message) ?? []).flatMap((tokens) => openSpans(clausesOf(tokens)));
}

/** The claims of what is known, gathered at the first call. */
function claimsOfMemories({ known }: RulesReading): () => readonly Claim[] {
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

/** What the last turns of the user spoke of, for pronouns alone; at the beginning of a session, what was told last. */
function spokenOf(reading: RulesReading, message: Message): Entity[] {
  const known = claimsOfMemories(reading);
  const talk = discourse(speakerEntity(message.name), known, () => []);
  const turns = reading.earlier.filter(({ role, name }) => role === "user" && name === message.name);
  const sentences = turns.length > 0 ? turns.slice(-3).flatMap(sentencesIn) : lastQuotes(reading, message);
  for (const tokens of sentences) {
    const clauses = clausesOf(tokens);
    if (clauses.length === 0) mentionsOfFragment(talk, tokens);
    else mentionsOfFragment(talk, tokens, clauses[0]?.lead);
    for (const clause of clauses) mentionsOf(talk, clause);
  }
  return [...talk.spokenOf()];
}

function sentencesIn(turn: Message): Token[][] {
  const sentences = tagged.get(turn) ?? tagSentences(turn.content.slice(0, 600));
  tagged.set(turn, sentences);
  return sentences;
}

/** After so long, a new session that begins with "she" speaks of somebody new as likely as of the last one. */
const TALK_GOES_ON_MS = 30 * 86_400_000;

/** The words of the newest memory's message, as far as memories quote them; none if it was said long before. */
function lastQuotes({ known }: RulesReading, { name, at }: Message): Token[][] {
  const newest = known.findLast(({ sources }) => sources.length > 0);
  const last = newest?.sources.at(-1);
  if (!last || name !== undefined) return [];
  if (Date.parse(at) - Date.parse(newest?.at ?? at) > TALK_GOES_ON_MS) return [];
  const quotes = known.flatMap(({ sources }) => sources.filter(({ message }) => message === last.message));
  return [...new Set(quotes.map(({ quote }) => quote))].slice(0, 6).flatMap((quote) => tagSentences(quote));
}

/** Another sentence in the place of the words that stand for it. */
function readAs(context: Context, text: string, place: Place): Proposal[] {
  const message = { ...context.message, content: text };
  const inner: Context = { ...context, message, content: text, earlier: [], readAs: () => [] };
  const sentences = tagSentences(text, 0);
  return sentences.flatMap((tokens) => readSentence(inner, tokens)).map((one) => ({ ...one, ...place }));
}

function readSentence(context: Context, tokens: Token[]): Proposal[] {
  const first = tokens[0];
  const last = tokens.at(-1);
  if (!first || !last) return [];
  const text = context.content.slice(first.start, last.end + last.after.length);
  const isTalk = isAmongPeople(context);
  if (isTalk) return isUnreal(text) ? [] : readTalk(context, withoutVocatives(tokens), text);
  const whole = { start: first.start, end: last.end };
  return isUnreal(text) ? readUnreal(context, tokens, text, whole) : readTold(context, tokens, text, whole);
}

/** What a sentence tells that is read as one, before its clauses: a short answer, a swap, a reply, what is left of another. */
function readWhole(
  context: Context,
  tokens: Token[],
  {
    clauses,
    text,
    whole,
  }: { readonly clauses: readonly Clause[]; readonly text: string; readonly whole: Place },
): Proposal[] | undefined {
  const short = elliptical({ context, tokens, clauses, text: bared(text), place: whole });
  if (short) return short;
  const swap = asksForName(text) ? undefined : swapOf(context, text, whole);
  const swapped = takenOver(context, text, whole) ?? swap ?? asides(context, tokens, text, whole);
  if (swapped) return swapped;
  const reply = isBrief(clauses, tokens) ? replyTo({ context, text, place: whole }) : undefined;
  if (reply) return reply;
  const only =
    tokens.length <= 9 ? onlyThat({ context, tokens, text: bared(text), place: whole }) : undefined;
  if (only) return only;
  return /^(?:now )?back (?:on|in|at) /i.test(text) ? backOn(context, bared(text), whole) : undefined;
}

function readTold(context: Context, tokens: Token[], text: string, whole: Place): Proposal[] {
  const clauses = clausesOf(tokens);
  const read = readWhole(context, tokens, { clauses, text, whole });
  if (read) return read;
  const order = instructionOf(context, text, whole);
  const made = context.made.length;
  if (clauses.length === 0) mentionsOfFragment(context.discourse, tokens);
  if (clauses.length === 0 && isItsElided(tokens)) context.discourse.told = { of: "thing" };
  if (clauses.length === 0 && order.length === 0)
    return putRight(context, text, whole, fragmentsAndMore({ context, tokens, text, place: whole }));
  const judged = judgeClauses(clauses);
  const progress: Progress = { text, ...progressOf(judged), isOrder: order.length > 0, conditional: false };
  const proposals = [
    ...order,
    ...farewells(context, text, whole),
    ...dueThen(context, text, whole),
    ...datedLead(context, clauses[0]),
    ...progress.clauses.flatMap((_clause, k) => readClause(context, progress, k)),
  ];
  noteTold(context, progress);
  proposals.push(...agesInBrackets(context, text, whole), ...furtherPredicates(context, text, whole));
  const ended = endedBeside(context, bared(text), whole, proposals);
  // "Figma is history" ends it, and is no fact about Figma.
  const told = ended.length > 0 ? proposals.filter((one) => !isAboutThing(one)) : proposals;
  proposals.splice(0, proposals.length, ...told, ...ended);
  const open = openSpans(clauses);
  const others = beside({ context, tokens, text, place: whole }, proposals);
  proposals.push(...others.filter((one) => isPresumed(one) || !isWithin(one, open)));
  context.made.length = made;
  return putRight(context, text, whole, proposals);
}

/** Of whom one says "I don't think my wife smokes" there is one all the same. */
function isPresumed(one: Proposal): boolean {
  return one.propose === "add" && /^(?:have|be called)$/.test(one.claim?.relation ?? "");
}

function isWithin({ start, end }: Place, spans: readonly Place[]): boolean {
  return spans.some((span) => span.start < end && start < span.end);
}

/** What a thing is that is nobody's: "Figma is history". */
function isAboutThing(one: Proposal): boolean {
  return one.propose === "add" && one.claim?.relation === "be" && !one.claim.subject.startsWith("user");
}

/** A set phrase that ends something, where the clauses of the sentence changed nothing. */
function endedBeside(context: Context, text: string, place: Place, told: readonly Proposal[]): Proposal[] {
  const isChange = told.some(
    (one) => one.propose !== "add" || one.replaces !== undefined || one.holds === "one",
  );
  return isChange ? [] : idiomEndings(context, text, place);
}

/** A sentence without a verb, and what it tells beside. */
function fragmentsAndMore(sentence: Parameters<typeof beside>[0]): Proposal[] {
  const { context, tokens, text, place } = sentence;
  const read = [...farewells(context, text, place), ...fragmentClaims(context, tokens, text, place)];
  const told = [...read, ...endedBeside(context, bared(text), place, read)];
  return [...told, ...beside(sentence, told)];
}

/** What is not so can take back what was said, or be a wish. */
function readUnreal(context: Context, tokens: Token[], text: string, place: Place): Proposal[] {
  const taken = takenBack(context, bared(text), place);
  if (taken) return taken;
  const wishes = wishesOf(context, text, place);
  // "I like jazz, I wish I could play": what stands beside the wish is told all the same.
  const others = wishes.length === 0 ? [] : piecesOf(tokens).filter((piece) => piece.length > 2);
  const told = others.length < 2 ? [] : others.flatMap((piece) => readPiece(context, piece));
  return [...told, ...wishes];
}

function readPiece(context: Context, piece: Token[]): Proposal[] {
  const text = context.content.slice(piece[0]?.start, piece.at(-1)?.end);
  return isUnreal(text) ? [] : readSentence(context, piece);
}

/** Among people, orders, scraps and corrections are for the other one: whole statements alone are read. */
function readTalk(context: Context, tokens: Token[], text: string): Proposal[] {
  const clauses = clausesOf(tokens);
  const made = context.made.length;
  const judged = judgeClauses(clauses);
  const progress: Progress = { text, ...progressOf(judged), isOrder: false, conditional: false };
  const proposals = clauses.flatMap((_clause, k) => readClause(context, progress, k));
  context.made.length = made;
  return proposals;
}

/** "nurse", "34": what may be no sentence at all, though a word of it can be a verb. */
function isBrief(clauses: readonly Clause[], tokens: readonly Token[]): boolean {
  return tokens.length <= 6 && clauses.every(({ subject }) => subject === undefined);
}

/** How far the reading of a sentence has come. */
interface Progress {
  readonly text: string;
  readonly clauses: readonly Clause[];
  /** The clauses that leave open what they say. */
  readonly open: ReadonlySet<Clause>;
  /** The sentence is an order to whoever answers. */
  readonly isOrder: boolean;
  before?: Before;
  /** The last main clause. */
  main?: Before;
  /** The last who is said to have said something. */
  sayer?: Entity | undefined;
  /** What the clause before told. */
  told?: readonly Proposal[];
  /** An "if" came before. */
  conditional: boolean;
  /** "when I fly", waiting for its main clause. */
  circumstance?: string | undefined;
}

function progressOf(judged: readonly JudgedClause[]): Pick<Progress, "clauses" | "open"> {
  const open = judged.flatMap(({ clause, isOpen }) => (isOpen ? [clause] : []));
  return { clauses: judged.map(({ clause }) => clause), open: new Set(open) };
}

function readClause(context: Context, progress: Progress, k: number): Proposal[] {
  const clause = progress.clauses[k];
  if (!clause) return [];
  if (k === 0) mentionsOfFragment(context.discourse, clause.tokens, clause.lead);
  const subject = subjectOf(context, clause, progress.before);
  const place = placeOf(context, clause);
  const skip = isPassedOver(clause, progress.conditional) || progress.open.has(clause);
  noteOpening(context, progress, k, place);
  if (progress.isOrder && !clause.subject) return [];
  const proposals = proposalsOf(context, progress, k, { subject, place, skip });
  const isAside = isSheBefore(progress, k) || isOfPossessor(clause) || isBeside(context, progress, clause);
  if (subject && subject.path !== context.discourse.speaker.path) context.discourse.mention(subject, isAside);
  remember(context, clause, subject, isAside);
  progress.before = { clause, subject: subject ?? (clause.shares ? progress.before?.subject : undefined) };
  if (clause.role === "main") progress.main = progress.before;
  return proposals;
}

/** "Its here": it is. */
function isItsElided([first, second]: readonly Token[]): boolean {
  return first?.lower === "its" && second?.class === "adverb";
}

/** Notes of whom a sentence was told, for one without a subject behind it. */
function noteTold({ discourse }: Context, { main }: Progress): void {
  if (main) discourse.told = toldOf(discourse.told, main);
}

/** Notes an "if", and a circumstance that waits for its main clause. */
function noteOpening(context: Context, progress: Progress, k: number, place: Place): void {
  const clause = progress.clauses[k];
  if (clause?.role === "condition") progress.conditional = true;
  if (clause?.role !== "circumstance" || ["since", "as"].includes(clause.opener ?? "")) return;
  if (progress.clauses.slice(0, k).some(({ role }) => role === "main")) return;
  progress.circumstance = tidy(context.content.slice(openerStart(clause, place.start, context), place.end));
}

interface Place {
  readonly start: number;
  readonly end: number;
}

interface Spoken {
  readonly subject: Entity | undefined;
  readonly place: Place;
  /** Read for whom it names alone. */
  readonly skip: boolean;
}

function proposalsOf(context: Context, progress: Progress, k: number, spoken: Spoken): Proposal[] {
  const clause = progress.clauses[k];
  if (!clause) return [];
  const { subject, place, skip } = spoken;
  const quoted = quotedSpeaker(context, clause, progress.sayer);
  if (quoted) return readStatement(context, { clause, subject: quoted, ...place }, progress.text);
  if (TELLING.has(clause.verb.lemma)) progress.sayer = subject ?? progress.sayer;
  if (skip) return [];
  if (!subject) return clause.subject ? (byOthers(context, { clause, subject: NOBODY, ...place }) ?? []) : [];
  const echo = echoed(context, progress.told ? toldIn(progress.told) : toldBefore(context, place.start), {
    clause,
    subject,
    ...place,
  });
  // Among people it would be an echo of the other one.
  if (echo.length > 0) return isAmongPeople(context) ? [] : echo;
  const statement = { clause, subject, ...place, ...circumstanceOf(context, progress, k) };
  const made = readStatement(context, widen(context, statement, progress.clauses[k + 1]), progress.text);
  context.made.push(...made);
  progress.told = made;
  progress.circumstance = undefined;
  return made;
}

/** "they", "the office": whoever it was that moved the appointment. */
const NOBODY: Entity = { path: "?", display: "Somebody", animate: true, plural: false };

function remember(context: Context, clause: Clause, subject: Entity | undefined, isAside: boolean): void {
  const found = mentionsOf(context.discourse, clause, isAside);
  if (subject && found.length > 0 && subject.path !== context.discourse.speaker.path) {
    context.discourse.mention(subject, isAside);
  }
}

/** "My grandma lives in Graz since Otto died": somebody is spoken of already. */
function isBeside({ discourse }: Context, { before }: Progress, { role }: Clause): boolean {
  const subject = before?.subject;
  const isOther = subject?.animate === true && subject.path !== discourse.speaker.path;
  return isOther && (role === "circumstance" || role === "reason");
}

/** "She lives alone since Henk died, and she plays bridge": within a sentence, "she" stays the same. */
function isSheBefore({ clauses }: Progress, k: number): boolean {
  const startsWithSheOrHe = ({ tokens, subject }: Clause): boolean =>
    subject !== undefined && /^(?:he|she)$/.test(tokens[subject[0]]?.lower ?? "");
  const own = clauses[k];
  return own !== undefined && !startsWithSheOrHe(own) && clauses.slice(0, k).some(startsWithSheOrHe);
}

const TRAILS = new Set(["when", "whenever", "while", "before", "after", "until", "where"]);

/** "when I fly", before the main clause or behind it. */
function circumstanceOf(context: Context, progress: Progress, k: number): { circumstance?: string } {
  if (progress.circumstance !== undefined) return { circumstance: progress.circumstance };
  const next = progress.clauses[k + 1];
  if (next?.role !== "circumstance" || !TRAILS.has(next.opener ?? "")) return {};
  const place = placeOf(context, next);
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
  const isPromise = /^(?:promise|swear|agree|vow|tell|assure)$/.test(statement.clause.verb.lemma);
  return isPromise && next?.role === "content"
    ? { ...statement, end: placeOf(context, next).end }
    : statement;
}

/** Where the words of a clause stand in the message, without what joins it to the next. */
function placeOf(context: Context, { tokens, lead, rest, verb, subject }: Clause): Place {
  const first = tokens[Math.min(lead[0], subject?.[0] ?? lead[0], verb.from)] ?? tokens[0];
  const last = tokens[Math.max(rest[1], verb.to) - 1] ?? tokens.at(-1);
  const start = first?.start ?? 0;
  const words = context.content.slice(start, last?.end ?? context.content.length);
  const trimmed = words.replace(/[\s,]+(?:and|but|so|or|then|because)?$/i, "");
  return { start, end: start + Math.max(1, trimmed.length) };
}
