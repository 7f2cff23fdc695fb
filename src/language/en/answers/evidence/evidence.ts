import { channel } from "node:diagnostics_channel";
import type { Memory } from "../../../../domain/memory.ts";
import { splitWords } from "../../../../domain/search/search-terms.ts";
import type { Embedder } from "../../../../ports/language/embedder.ts";
import { type RateWindow, ReaderBusyError, type ReaderUse, rateWindow } from "../../transformer/reader.ts";
import { toSingular } from "../../word-forms.ts";
import type { AnswerIndex } from "../answer-index.ts";
import { essence } from "../essence.ts";
import { isMet, keysOf } from "./analysis.ts";
import { readAnswers } from "./answer-reader.ts";
import { findEnding } from "./endings.ts";
import { type Comparison, compareAmong, compareStatement, FEATURES, type Feature } from "./features.ts";
import type { Inquiry } from "./inquiry.ts";
import { type EvidenceStatement, listStatements, type StatementSources } from "./statements.ts";
import { WEIGHTS } from "./weights.ts";

/** A statement, and how probable it is that it carries the answer. */
export interface Evidence {
  readonly statement: EvidenceStatement;
  readonly features: Readonly<Record<Feature, number>>;
  /** 0 to 1. */
  readonly probability: number;
  /** Whether it ended what would have answered. */
  readonly isEnding?: true;
}

/** What was found for a question, most probable first. */
export interface Findings {
  readonly inquiry: Inquiry;
  readonly evidence: readonly Evidence[];
  /** Whether the reader had no time for all of it. Then nothing is sure. */
  readonly isUnread?: true;
}

/** Publishes the findings of each question, for `scripts/answers/fit.ts`. */
const FINDINGS = channel("keepsake:evidence");

/** What evidence is weighed with; windows are read in this thread by default. */
export interface EvidencePorts {
  readonly embedder: Embedder;
  readonly rateWindow?: RateWindow;
}

/** Statements that would answer, and are each compared with what was said after them. */
const MOST_LEADERS = 3;

/**
 * Weighs what recall found, and the answer that was composed from claims, as evidence for a question. Of a question about now, what was
 * said later ends what it outdates.
 */
export async function weighEvidence(
  ports: EvidencePorts,
  sources: StatementSources,
  inquiry: Inquiry,
  composed: readonly EvidenceStatement[],
  isAboutNow: boolean,
): Promise<Findings> {
  const { embedder } = ports;
  const reader = openReader(ports, sources);
  const isWhole = FINDINGS.hasSubscribers || inquiry.asksMany;
  const mayBeEnded = isAboutNow && sources.asOf === undefined && !FINDINGS.hasSubscribers;
  // What claims say of whom is asked about needs no other evidence.
  if (composed.length > 0 && !isWhole) {
    const read = await reader.readAnswers(inquiry.text, composed, () => 0);
    const findings = await compareAll(embedder, sources, inquiry, composed, read);
    const leader = mayBeEnded ? leaderOf(findings.evidence) : undefined;
    const holds = async (): Promise<boolean> =>
      !leader ||
      !(await reader.findEnding(leader, listStatements(sources), {
        read: () => 0,
        isOfOther: tellsOfOther(sources, leader),
      }));
    if (findings.evidence.every(isClear) && (await holds())) return reader.mark(findings);
  }
  const all = [...composed, ...listStatements(sources)];
  const nearness = await measureNearness(embedder, inquiry, all);
  const read = await reader.readAnswers(inquiry.text, all, nearness);
  const compared = isWhole ? all : chooseCompared(all, nearness, read);
  const findings = await compareAll(embedder, sources, inquiry, compared, read);
  if (FINDINGS.hasSubscribers) FINDINGS.publish(findings);
  if (!mayBeEnded) return reader.mark(findings);
  return reader.mark({ ...findings, evidence: await withoutEnded(findings.evidence) });

  /** Without what a later statement ended, which takes its place. */
  async function withoutEnded(found: readonly Evidence[]): Promise<readonly Evidence[]> {
    let evidence = found;
    for (let round = 0; round < MOST_LEADERS; round += 1) {
      const ended = leaderOf(evidence);
      const ending =
        ended &&
        mayBeSaid(evidence, ended) &&
        (await reader.findEnding(ended, all, {
          read: (one) => read.get(one) ?? 0,
          isOfOther: tellsOfOther(sources, ended),
        }));
      if (!ended || !ending) break;
      const isCompared = evidence.some(({ statement }) => statement === ending);
      const again = isCompared
        ? undefined
        : await compareAll(embedder, sources, inquiry, [...compared, ending], read);
      const added = again?.evidence.filter(({ statement }) => statement === ending) ?? [];
      evidence = markEnded([...evidence, ...added], ended, ending);
    }
    return evidence;
  }
}

/** What the reader made of statements; of one that it did not read, what that tells. */
interface Readings {
  get(statement: EvidenceStatement): number | undefined;
  readonly unread: number;
}

/** The reader as one answer uses it, until it is too busy for that: from then on it reads nothing. */
interface AnswerReader {
  readAnswers(
    question: string,
    statements: readonly EvidenceStatement[],
    nearness: (statement: EvidenceStatement) => number,
  ): Promise<Readings>;
  findEnding(
    ended: EvidenceStatement,
    said: readonly EvidenceStatement[],
    how: Parameters<typeof findEnding>[3],
  ): Promise<EvidenceStatement | undefined>;
  /** Says of findings whether the reader was too busy for them. */
  mark(findings: Findings): Findings;
}

function openReader(ports: EvidencePorts, sources: StatementSources): AnswerReader {
  const rate = ports.rateWindow ?? ((window, rating) => rateWindow(window, rating));
  const use: ReaderUse = { user: sources.user };
  let isBusy = false;
  const rateForUse: RateWindow = (window, rating) => rate(window, rating, use);
  const unlessBusy = async <Result>(work: () => Promise<Result>, otherwise: Result): Promise<Result> => {
    if (isBusy) return otherwise;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ReaderBusyError)) throw error;
      isBusy = true;
      return otherwise;
    }
  };
  return {
    async readAnswers(question, statements, nearness) {
      const read = await unlessBusy(
        () => readAnswers(question, statements, nearness, sources.content, rateForUse),
        undefined,
      );
      const unread = read ? NOT_READ : NOT_KNOWN;
      return { get: (statement) => read?.get(statement), unread };
    },
    findEnding: (ended, said, how) =>
      unlessBusy(
        () => findEnding({ ...ports, rateWindow: rateForUse }, asSaid(sources, ended), said, how),
        undefined,
      ),
    mark: (findings) => (isBusy ? { ...findings, isUnread: true } : findings),
  };
}

/** What ended an answer is as probable as that was, but doubted where it is no answer by itself: it says why there is none. */
const SHOWN = 0.75;

/** What would answer: what claims say, else the most probable; where it still holds and is one thing alone. */
function leaderOf(evidence: readonly Evidence[]): EvidenceStatement | undefined {
  const holding = evidence.filter(({ features }) => features.isOver === 0);
  const { statement } = holding.find((one) => one.statement.from === "claims") ?? holding[0] ?? {};
  if (!statement?.said) return statement?.isListed ? undefined : statement;
  return statement.said.used.length === 1 && !/^no\b/i.test(statement.said.text) ? statement : undefined;
}

/** The probability from which something found is quoted. Calibrated by `scripts/answers/fit.ts`. */
export const FOUND = 0.21;

/** Whether a statement is said if nothing ended it. What ended one that is not is not said for it either: it need not be looked for. */
function mayBeSaid(evidence: readonly Evidence[], one: EvidenceStatement): boolean {
  if (one.from === "claims") return true;
  return evidence.some(({ statement, probability }) => statement === one && probability >= FOUND);
}

/** The evidence with a statement over, and what ended it in its place. */
function markEnded(
  evidence: readonly Evidence[],
  ended: EvidenceStatement,
  ending: EvidenceStatement,
): Evidence[] {
  const before = evidence.find(({ statement }) => statement === ended)?.probability ?? 0;
  const shown = ended.from === "claims" ? SHOWN : Math.min(SHOWN, before);
  return evidence
    .map((one): Evidence => {
      if (one.statement === ending)
        return { ...one, isEnding: true, probability: Math.max(one.probability, shown) };
      return isSameAs(one.statement, ended) ? { ...one, features: { ...one.features, isOver: 1 } } : one;
    })
    .sort((one, other) => other.probability - one.probability);
}

/** The same words, or a memory made of them. */
function isSameAs(one: EvidenceStatement, other: EvidenceStatement): boolean {
  if (one === other) return true;
  const [a, b] = [one.source, other.source];
  if (a && b) return a.message === b.message && a.start < b.end && b.start < a.end;
  return one.memory !== undefined && one.memory === other.memory;
}

/** A statement in the user's own words, where it was said. */
function asSaid(
  { content }: StatementSources,
  { text, at, source }: EvidenceStatement,
): { text: string; at: string } {
  const message = source && content.messages.get(source.message);
  return { text: message?.content.slice(source?.start, source?.end) || text, at };
}

/**
 * Whether a later statement is about another memory of before: it holds another value of the same claim, or another name. "I gave up the
 * banjo" does not end the cello, nor "I quit my job at the Rio" the other job.
 */
function tellsOfOther(
  { index }: StatementSources,
  leader: EvidenceStatement,
): (later: EvidenceStatement) => boolean {
  const claim = leader.memory?.claim;
  const own = new Set(essence(claim?.value ?? leader.text));
  const alike = claim ? [...(index.slots.get(claim.subject)?.get(claim.relation) ?? [])] : [];
  const others = alike.filter((memory) => memory.claim?.value !== claim?.value);
  return ({ text, at }) => {
    const words = new Set(essence(text));
    if ([...words].some((word) => own.has(word))) return false;
    const isWhole = (value: string): boolean => {
      const telling = essence(value);
      return telling.length > 0 && telling.every((word) => words.has(word));
    };
    if (others.some((memory) => memory.at < at && isWhole(memory.claim?.value ?? ""))) return true;
    // The first word of a sentence has a capital in any case.
    const names = (text.slice(1).match(NAME) ?? []).flatMap((name) => essence(name));
    return names.some((name) => [...(index.words.get(name) ?? [])].some((memory) => memory.at < at));
  };
}

const NAME = /\p{Lu}[\p{L}\p{N}]+/gu;

/** What claims say so surely that no other evidence is looked at. */
const CLEAR = 0.8;

function isClear({ features, probability }: Evidence): boolean {
  return features.roleMissed === 0 && probability >= CLEAR && lacksNothing(features);
}

/** Whether there is what is asked for: a time, a number, a person, a name. */
export function lacksNothing({ noTime, noNumber, noPerson }: Evidence["features"]): boolean {
  return noTime + noNumber + noPerson === 0;
}

async function compareAll(
  embedder: Embedder,
  sources: StatementSources,
  inquiry: Inquiry,
  statements: readonly EvidenceStatement[],
  read: Readings,
): Promise<Findings> {
  const cosine = await textSimilarity(embedder, inquiry.text, statements);
  const comparison: Comparison = {
    cosine: (statement) => cosine.get(statement) ?? 0,
    read: (statement) => read.get(statement) ?? read.unread,
    aliases: asksOfOthers(inquiry) ? aliasesIn(sources.index) : new Map(),
    topScore: Math.max(0, ...statements.map(({ score }) => score)),
    times: [...new Set(statements.map(({ at }) => at))].sort(),
  };
  const features = compareAmong(statements.map((one) => compareStatement(inquiry, one, comparison)));
  const evidence = statements
    .map((statement, i): Evidence => {
      const compared = features[i] as Record<Feature, number>;
      return { statement, features: compared, probability: probabilityOf(compared) };
    })
    .sort((one, other) => other.probability - one.probability);
  return { inquiry, evidence };
}

/** Of so many statements each is compared word by word and by its tree. */
const COMPARED = 6;

/** How near each statement comes to a question by its words and by recall, before any of them is read. */
async function measureNearness(
  embedder: Embedder,
  inquiry: Inquiry,
  statements: readonly EvidenceStatement[],
): Promise<(statement: EvidenceStatement) => number> {
  const cosine = await textSimilarity(embedder, inquiry.text, statements);
  const topScore = Math.max(0, ...statements.map(({ score }) => score));
  const nearness = new Map(
    statements.map((statement) => {
      const { lead, text, score, rank, isOver, from } = statement;
      const keys = new Set(splitWords(`${lead} ${text}`).flatMap(keysOf));
      const met = inquiry.words.filter((word) => isMet(word.key, keys)).length;
      const share = inquiry.words.length === 0 ? 0 : met / inquiry.words.length;
      const near = topScore > 0 ? score / topScore : 0;
      const by =
        2.5 * share +
        1.8 * (cosine.get(statement) ?? 0) +
        0.6 * near +
        0.7 * Number(rank === 0) +
        0.5 * Number(from === "memory") -
        2 * Number(isOver);
      return [statement, by];
    }),
  );
  return (statement) => nearness.get(statement) ?? 0;
}

/** What claims say, and the statements that most probably answer; of those that were not read, the nearest. */
function chooseCompared(
  statements: readonly EvidenceStatement[],
  nearness: (statement: EvidenceStatement) => number,
  read: Readings,
): readonly EvidenceStatement[] {
  if (statements.length <= COMPARED) return statements;
  const rate = (statement: EvidenceStatement): number =>
    statement.from === "claims"
      ? Number.POSITIVE_INFINITY
      : READ_FIRST * (read.get(statement) ?? 0) + nearness(statement);
  return statements
    .map((statement) => ({ statement, by: rate(statement) }))
    .sort((one, other) => other.by - one.by)
    .slice(0, COMPARED)
    .map(({ statement }) => statement);
}

/** What the reader makes of a statement counts so much more than how near it comes. */
const READ_FIRST = 10;
/** What is too far from a question to be read hardly answers it. */
const NOT_READ = 0.03;
/** Where the reader was too busy to read anything. */
const NOT_KNOWN = 0.3;

function probabilityOf(features: Readonly<Record<Feature, number>>): number {
  let sum = 0;
  for (const feature of FEATURES) sum += (WEIGHTS[feature] ?? 0) * features[feature];
  return 1 / (1 + Math.exp(-sum));
}

async function textSimilarity(
  embedder: Embedder,
  question: string,
  statements: readonly EvidenceStatement[],
): Promise<Map<EvidenceStatement, number>> {
  if (!embedder.local) return new Map();
  const [asked, ...told] = await embedder.embed([
    question,
    ...statements.map(({ lead, text }) => (lead === "" ? text : `${lead} ${text}`)),
  ]);
  return new Map(statements.map((statement, i) => [statement, asked && told[i] ? dot(asked, told[i]) : 0]));
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] ?? 0) * (other[i] ?? 0);
  return sum;
}

function asksOfOthers({ parties }: Inquiry): boolean {
  return parties.names.length + parties.roles.length > 0;
}

/** Who is called what: "sister" is "lea", and "lea" is the "sister". */
function aliasesIn(index: AnswerIndex): Map<string, Set<string>> {
  const aliases = new Map<string, Set<string>>();
  const add = (one: string, other: string): void => {
    aliases.set(one, (aliases.get(one) ?? new Set()).add(other));
  };
  for (const [subject, relations] of index.slots) {
    const role = toSingular(splitWords(subject.split("/").at(-1) ?? "")[0] ?? "");
    for (const memory of relations.get("be called") ?? []) {
      const name = nameIn(memory);
      if (name === undefined || !subject.includes("/")) continue;
      add(role, name);
      add(name, role);
    }
  }
  return aliases;
}

function nameIn({ claim, status }: Memory): string | undefined {
  return status === "retracted" ? undefined : splitWords(claim?.value ?? "")[0];
}
