import type { Message } from "../../../domain/message.ts";
import type { TextSpan } from "../../../domain/text/split-text.ts";
import { toLocalTime } from "../../../domain/time.ts";
import type { AddProposal, Proposal } from "../../../ports/language/extractor.ts";
import { embedSentence } from "../embedding/sentence-vectors.ts";
import { absolute, isRelativeDate } from "../grammar/claims/sentence.ts";
import { speakerEntity } from "../grammar/clauses/entities.ts";
import { isRefused, quotedSpans } from "../grammar/no-facts/guards.ts";
import { isUnreal, NEARLY } from "../grammar/no-facts/unreal.ts";
import { openSpansOf } from "../grammar/reader.ts";
import { weigh } from "../grammar/standing/weights.ts";
import { datesIn, momentOf } from "../grammar/time/dates.ts";
import { ANIMALS, FEMALE, KIN, MALE } from "../grammar/words/lexicon.ts";
import { isPersonNoun } from "../grammar/words/persons.ts";
import { getRelation } from "../relations/relations.ts";
import { toSingular } from "../word-forms.ts";
import { agreementFeatures, findClauseAt, isOfAnotherSubject, isOfVagueThing } from "./agreement.ts";
import { claimOfClause } from "./clause-claim.ts";
import { isAside } from "./clauses.ts";
import { clauseFeatures, type Features, type Surroundings } from "./features.ts";
import { SIGN_WEIGHTS, VECTOR_WEIGHTS } from "./gate-weights.ts";
import { type ReadClause, readClauses } from "./read-clauses.ts";
import { splitLists } from "./split-lists.ts";
import { childrenBy } from "./tree.ts";
import { wordClause } from "./wording.ts";

/** Below this chance of being worth keeping, what the rules read is dropped. */
const RULES_LEAST = 0.5;
/** The same in a short message that asks: little but the question stands beside what is told ("I love tea. You?"). */
const SHORT_LEAST = 0.2;
/** The same where it fills a slot of one value: name, home, work. */
const SLOT_LEAST = 0.08;
/** A message of at most so many characters that asks nothing is told so that it is remembered: what the rules read of it is kept. */
const SHORT_MESSAGE = 160;
/** From this chance on, a clause that the rules did not read becomes a memory. */
const TREES_LEAST = 0.6;
/** By so much a tree's reading must be likelier to be good than the rules' to take its place. */
const MARGIN = 0.15;

/**
 * Puts what the rules propose for a message beside its trees. A statement that is hardly worth keeping is dropped; changes, corrections
 * and requests stay. A clause that the rules passed over, and that is worth keeping, is added as its tree reads it.
 */
export function reconcile(
  message: Message,
  spans: readonly TextSpan[],
  all: readonly Proposal[],
): Proposal[] {
  const speaker = message.name ?? "the user";
  const clauses = readClauses(message.content, speaker, spans);
  // What somebody is quoted with is told of whoever said it: the tree does not know who that is.
  const quotes = quotedSpans(message.content);
  const isKept = (one: Proposal): boolean =>
    isExempt(one) ||
    quotes.some(({ start, end }) => start <= one.start && one.start < end) ||
    !(isOfAnotherSubject(one, clauses) || (one.propose === "add" && isOfVagueThing(one, clauses)));
  const proposals = message.name === undefined ? all.filter(isKept) : all;
  const around: Surroundings = {
    isAmongPeople: message.name !== undefined,
    length: message.content.length,
  };
  const isReal = spans.filter((span) => isReadable(message.content.slice(span.start, span.end)));
  const open = openSpansOf(message);
  const byTrees = clauses
    .filter((read) => !open.some((span) => overlaps(span, read)))
    .filter(({ start, end }) => isReal.some((span) => span.start <= start && end <= span.end))
    .filter(({ start }) => !quotes.some((quote) => quote.start <= start && start < quote.end))
    .flatMap((read) => scoreClause(read, around) ?? []);
  if (isShortTelling(message)) return [...proposals, ...addMissed(message, byTrees, proposals)];
  const chances = proposals.map((one) => (one.propose === "add" ? chanceOf(one, clauses, around) : 1));
  // "I like ramen, pho and laksa": what one clause told together stays together.
  const best = (one: Proposal): number =>
    Math.max(
      ...proposals.map((other, k) =>
        other.start === one.start && other.end === one.end ? (chances[k] ?? 0) : 0,
      ),
    );
  const kept = proposals.filter((one) => {
    if (one.propose !== "add" || isExempt(one)) return true;
    const rival = byTrees.find(({ read }) => overlaps(one, read));
    return best(one) >= leastFor(message, one) && !(rival && isBetter(rival.keep, best(one), one));
  });
  const added = byTrees
    .filter(({ read, keep }) => keep >= TREES_LEAST && !kept.some((one) => overlaps(one, read)))
    .flatMap(({ read, keep }) => addClauses(message, read, keep));
  return [...kept, ...added].sort((one, other) => one.start - other.start);
}

/** Whether a sentence may tell something by its tree: no order to a model, and nothing imagined ("Let's say I earn 90k"). */
function isReadable(sentence: string): boolean {
  return !isRefused(sentence) && !isUnreal(sentence);
}

/** The clauses of a short telling that the rules passed over, as their trees read them. */
function addMissed(
  message: Message,
  byTrees: readonly ScoredClause[],
  proposals: readonly Proposal[],
): AddProposal[] {
  const isMissed = (read: ReadClause): boolean =>
    !proposals.some(
      (one) =>
        one.start < read.end &&
        read.start < one.end &&
        !(read.clause.about === "owned" && isOnlyHad(one, read)),
    );
  return byTrees
    .filter(({ read, keep }) => keep >= TREES_LEAST && isOwnStatement(read) && isMissed(read))
    .flatMap(({ read, keep }) => addClauses(message, read, keep));
}

/**
 * A main clause, or an aside ("…, which I feed daily"), about the speaker or a person or animal of the speaker's. What somebody says or refuses is no fact yet: "She refuses that
 * we move".
 */
function isOwnStatement({ clause: { tree, head, about, role, subject } }: ReadClause): boolean {
  const isMain = /^(?:root|conj|parataxis)$/.test(role) || isAside(tree, head);
  if (!isMain || childrenBy(tree, head, "ccomp").length > 0) return false;
  const noun = toSingular(tree.tokens[subject ?? -1]?.lower ?? "");
  const isAnimate = isPersonNoun(noun) || [KIN, FEMALE, MALE, ANIMALS].some((words) => words.has(noun));
  return ["speaker", "group", "dropped"].includes(about) || (about === "owned" && isAnimate);
}

/** "My husband still works", "my uncle Piet still works": that there is one, or his name, and nothing that he does. */
function isOnlyHad(one: Proposal, { clause, offset }: ReadClause): boolean {
  if (one.propose !== "add" || !one.claim) return false;
  const { relation, value } = one.claim;
  // "My landlord is Piet" says nothing but the name: its words go on to the verb.
  const verb = offset + (clause.tree.tokens[clause.head]?.start ?? 0);
  if (relation === "be called") return one.end <= verb;
  return relation === "have" && /^an? [\p{L}-]+$/u.test(value);
}

/** "I want to learn to sail.": a short message that asks for nothing. Among people such messages are small talk as well. */
function isShortTelling(message: Message): boolean {
  return isShort(message) && !message.content.includes("?");
}

function isShort({ content, name }: Message): boolean {
  return name === undefined && content.length <= SHORT_MESSAGE;
}

interface ScoredClause {
  readonly read: ReadClause;
  readonly keep: number;
}

function scoreClause(read: ReadClause, around: Surroundings): ScoredClause | undefined {
  if (!isTold(read) || read.wording.unresolved > 0) return undefined;
  const { clause, wording } = read;
  return { read, keep: scoreStatement(clauseFeatures(clause, wording, around), wording.text, "trees").keep };
}

/** Whether the tree's reading takes the place of the rules': clearly likelier to be good, and no slot is at stake. */
function isBetter(tree: number, rules: number, { holds }: AddProposal): boolean {
  return tree >= TREES_LEAST && holds !== "one" && tree > rules + MARGIN;
}

/** Changes, corrections and wishes for answers are not judged as statements. */
function isExempt(one: Proposal): boolean {
  if (one.propose !== "add") return true;
  return one.replaces !== undefined || one.corrects === true || one.kind === "instruction";
}

function leastFor(message: Message, { holds }: AddProposal): number {
  if (holds === "one") return SLOT_LEAST;
  return isShort(message) ? SHORT_LEAST : RULES_LEAST;
}

/** What an intent without a date counts for: "I'm looking for a feeder, any tips?" is over in days, a flight on 3 May is not. */
const UNDATED_INTENT = 0.15;

/** The chance that a proposal of the rules is worth keeping. */
function chanceOf(one: AddProposal, clauses: readonly ReadClause[], around: Surroundings): number {
  const read = findClauseAt(clauses, one);
  const features = new Map(agreementFeatures(one, read));
  if (read)
    for (const [name, value] of clauseFeatures(read.clause, read.wording, around)) features.set(name, value);
  // The rules found whom "it" means: the clause alone does not show it.
  if (!/\b(?:it|this|that|these|those|he|she|they)\b/i.test(one.text))
    for (const name of ["unresolved", "about:pointed", "about:person", "chat:pointed", "chat:person"])
      features.delete(name);
  const { keep, intent } = scoreStatement(features, one.text, "rules");
  return keep + (one.when === undefined ? UNDATED_INTENT : 1) * intent;
}

function overlaps(one: { start: number; end: number }, other: { start: number; end: number }): boolean {
  const common = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  return common > 0.5 * Math.min(one.end - one.start, other.end - other.start);
}

/** Whether a clause can be a memory at all: about the speaker or the speaker's, told as a fact, and clear by itself. */
export function isTold({ clause, wording }: ReadClause): boolean {
  if (clause.asked || clause.conditional || clause.words.length > 30) return false;
  if (["addressee", "pointed", "other"].includes(clause.about) || isHeadCount(clause)) return false;
  if (isNearlyDone(clause)) return false;
  return clause.about === "person" ? wording.unresolved === 0 : wording.unresolved <= 1;
}

/** "Nearly bought a boat", "Hardly slept": without a subject, what stands before the verb is not in the wording. */
function isNearlyDone({ tree, head, about }: ReadClause["clause"]): boolean {
  if (about !== "dropped") return false;
  return childrenBy(tree, head, "advmod").some((i) => i < head && NEARLY.test(tree.tokens[i]?.lower ?? ""));
}

/** A memory for each of the things that a clause lists. */
function addClauses(message: Message, read: ReadClause, keep: number): AddProposal[] {
  return splitLists(read.clause).map((clause) => {
    const wording = wordClause(clause, read.names) ?? read.wording;
    return addClause(message, { ...read, clause, wording }, keep);
  });
}

/** "We are thirty women": how many there are of a group. */
function isHeadCount({ tree, head, about, copula }: ReadClause["clause"]): boolean {
  return about === "group" && copula !== undefined && childrenBy(tree, head, "nummod").length > 0;
}

function addClause(message: Message, read: ReadClause, keep: number): AddProposal {
  const { clause, wording, names, start, end } = read;
  const quote = message.content.slice(start, end);
  const isPast = [clause.head, ...clause.auxiliaries].some((i) => clause.tree.tokens[i]?.tag === "VBD");
  const dates = datesIn(quote, toLocalTime(message.at, message.zone), !isPast);
  const relative = dates.filter((date) => isRelativeDate(quote.slice(date.start, date.end)));
  const text = absolute(wording.text, relative, quote);
  const claim = claimOfClause(clause, names, speakerEntity(message.name).path);
  const relation = getRelation(claim?.relation ?? "");
  // "I've been married since 2012": so ever since, and nothing that happened on that day.
  const isSince = !isPast && /\bsince\b/i.test(quote) && (dates[0]?.iso.length ?? 0) <= 10;
  const since = isSince ? dates[0]?.iso : undefined;
  const isEvent = isPast || (dates.length > 0 && since === undefined);
  const kind = isEvent ? "event" : relation.kind;
  const weight = weigh({
    text,
    claim: claim ?? { subject: "user", relation: "", value: "" },
    kind,
    quote,
    confidence: keep,
  });
  return {
    propose: "add",
    message: message.id,
    start,
    end,
    text,
    kind,
    ...(claim ? { claim } : {}),
    holds: claim ? relation.holds : "many",
    confidence: weight.confidence,
    importance: weight.importance,
    ...(weight.why === "" ? {} : { why: weight.why }),
    ...(since === undefined ? {} : { validFrom: momentOf(since, message.zone) }),
    ...(dates[0] && since === undefined ? { when: dates[0].iso } : {}),
    ...(weight.sensitive ? { sensitive: true } : {}),
  };
}

/** How likely a statement is one to keep, an intent, or neither. The three add up to 1. */
interface Verdict {
  readonly keep: number;
  readonly intent: number;
  readonly drop: number;
}

const SIGNS: ReadonlyMap<string, readonly number[]> = new Map(
  SIGN_WEIGHTS.trim()
    .split(/;\s*/)
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [name = "", ...weights] = entry.split(" ");
      return [name.replaceAll("_", " "), weights.map(Number)] as const;
    }),
);
const VECTORS = VECTOR_WEIGHTS.map((line) => line.trim().split(/\s+/).map(Number));

/**
 * Scores a statement by its signs and the vector of its wording: a multinomial logistic regression, fitted by `scripts/statements/fit.ts`
 * on candidates that two readers judged. `source` says who worded it.
 */
function scoreStatement(features: Features, text: string, source: "rules" | "trees"): Verdict {
  const scores = [0, 0, 0];
  const add = (weights: readonly number[] | undefined, value: number): void => {
    for (let c = 0; c < 3; c += 1) scores[c] = (scores[c] ?? 0) + (weights?.[c] ?? 0) * value;
  };
  for (const [name, value] of features) add(SIGNS.get(name), value);
  add(SIGNS.get(`source:${source}`), 1);
  add(SIGNS.get("bias"), 1);
  const vector = embedSentence(text);
  VECTORS.forEach((weights, c) => {
    scores[c] = (scores[c] ?? 0) + weights.reduce((sum, weight, d) => sum + weight * (vector[d] ?? 0), 0);
  });
  const most = Math.max(...scores);
  const [keep = 0, intent = 0, drop = 0] = scores.map((score) => Math.exp(score - most));
  const sum = keep + intent + drop;
  return { keep: keep / sum, intent: intent / sum, drop: drop / sum };
}
