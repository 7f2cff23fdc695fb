import { channel } from "node:diagnostics_channel";
import type { Memory } from "../../../../domain/memory.ts";
import { splitWords } from "../../../../domain/search/search-terms.ts";
import { toSingular } from "../../../../domain/text/english-forms.ts";
import type { Embedder } from "../../../../ports/language/embedder.ts";
import type { AnswerIndex } from "../answer-index.ts";
import { isMet, keysOf } from "./analysis.ts";
import { readAnswers } from "./answer-reader.ts";
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
}

/** What was found for a question, most probable first. */
export interface Findings {
  readonly inquiry: Inquiry;
  readonly evidence: readonly Evidence[];
}

/** Publishes the findings of each question, for `scripts/answers/fit.ts`. */
const FINDINGS = channel("keepsake:evidence");

/** Weighs what recall found, and the answer that was composed from claims, as evidence for a question. */
export async function weighEvidence(
  embedder: Embedder,
  sources: StatementSources,
  inquiry: Inquiry,
  composed: readonly EvidenceStatement[],
): Promise<Findings> {
  const isWhole = FINDINGS.hasSubscribers || inquiry.asksMany;
  // What claims say of whom is asked about needs no other evidence.
  if (composed.length > 0 && !isWhole) {
    const read = await readAnswers(inquiry.text, composed, () => 0, sources.content);
    const findings = await compareAll(embedder, sources, inquiry, composed, read);
    if (findings.evidence.every(isClear)) return findings;
  }
  const all = [...composed, ...listStatements(sources)];
  const nearness = await measureNearness(embedder, inquiry, all);
  const read = await readAnswers(inquiry.text, all, nearness, sources.content);
  const compared = isWhole ? all : chooseCompared(all, nearness, read);
  const findings = await compareAll(embedder, sources, inquiry, compared, read);
  if (FINDINGS.hasSubscribers) FINDINGS.publish(findings);
  return findings;
}

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
  read: ReadonlyMap<EvidenceStatement, number>,
): Promise<Findings> {
  const cosine = await textSimilarity(embedder, inquiry.text, statements);
  const comparison: Comparison = {
    cosine: (statement) => cosine.get(statement) ?? 0,
    read: (statement) => read.get(statement) ?? NOT_READ,
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
  read: ReadonlyMap<EvidenceStatement, number>,
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
