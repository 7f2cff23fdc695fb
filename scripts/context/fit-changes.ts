import { readFileSync, writeFileSync } from "node:fs";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import {
  createStatementReader,
  mayEnd,
  type ReadStatement,
  readPair,
  weighTerms,
} from "../../src/language/en/needs/outdated-statements.ts";

/**
 * Fits the weights by which a later statement ends an earlier one: `node scripts/context/fit-changes.ts [PAIRS.txt…]`.
 * Each file has lines `older > newer` (ends it) and `older = newer` (both hold). Statements of different lines have nothing
 * to do with each other. A tenth of the lines at a time is left out; what is found there is printed.
 */
interface Example {
  readonly line: number;
  readonly values: readonly number[];
  readonly ends: boolean;
  readonly weight: number;
}

/** Weight of a pair of a talk that holds both: there are thousands. */
const TALK_WEIGHT = 0.15;
const WEIGHTS_FILE = new URL("../../src/language/en/needs/outdated-weights.ts", import.meta.url);
const ROUNDS = 400;
const RATE = 2;
const SHRINK = 0.002;
/** Weight of all pairs of different lines together, beside the pairs of one line. */
const FOREIGN_WEIGHT = 4;

const files = process.argv.slice(2);
const lines = [new URL("changes.txt", import.meta.url), ...files]
  .flatMap((file) => readFileSync(file, "utf8").split("\n"))
  .filter((line) => line.trim() !== "" && !line.startsWith("#"))
  .map((line) => {
    const [, older = "", sign, newer = ""] = /^(.*?) ([>=]) (.*)$/.exec(line) ?? [];
    return { older, newer, ends: sign === ">" };
  });
const read = createStatementReader(staticEmbedder());
const olders = await read(lines.map(({ older }) => older));
const newers = await read(lines.map(({ newer }) => newer));
const weightOf = weighTerms([...olders, ...newers]);
const examples = [...collectExamples(), ...(await collectFromTalks())];

function collectExamples(): Example[] {
  const own: Example[] = [];
  const foreign: Omit<Example, "weight">[] = [];
  for (const [i, newer] of newers.entries()) {
    if (!mayEnd(newer)) {
      if (lines[i]?.ends) console.log("not a sign of change:", newer.text);
      continue;
    }
    own.push({
      line: i,
      values: readPair(olders[i] as ReadStatement, newer, weightOf),
      ends: lines[i]?.ends ?? false,
      weight: 1,
    });
    for (const [j, older] of olders.entries()) {
      if (older.text !== lines[i]?.older && i !== j && !isAlike(older, olders[i] as ReadStatement))
        foreign.push({ line: i, values: readPair(older, newer, weightOf), ends: false });
    }
  }
  const weight = (FOREIGN_WEIGHT * own.length) / foreign.length;
  return [...own, ...foreign.map((one) => ({ ...one, weight }))];
}

/** Whole talks: every pair of days apart that is not marked holds both. */
async function collectFromTalks(): Promise<Example[]> {
  const talks = readFileSync(new URL("talks.txt", import.meta.url), "utf8")
    .split(/^## .*\n/m)
    .slice(1);
  const found = await Promise.all(talks.map((talk, n) => collectFromTalk(talk, -1 - n)));
  return found.flat();
}

/** Each talk is a fold of its own. */
async function collectFromTalk(talk: string, fold: number): Promise<Example[]> {
  let day = 0;
  const said = talk.split("\n").flatMap((line) => {
    if (line === "") day += 1;
    const ends = [...line.matchAll(/@(\d+) /g)].map(([, at]) => Number(at) - 1);
    return line === "" ? [] : [{ text: line.replace(/^(?:@\d+ )+/, ""), ends, day }];
  });
  const statements = await read(said.map(({ text }) => text));
  const weights = weighTerms(statements);
  return said.flatMap((later, i) => {
    const newer = statements[i] as ReadStatement;
    if (!mayEnd(newer)) return [];
    return said.flatMap((earlier, j): Example[] => {
      if (earlier.day >= later.day) return [];
      const ends = later.ends.includes(j);
      const values = readPair(statements[j] as ReadStatement, newer, weights);
      return [{ line: fold, values, ends, weight: ends ? 1.5 : TALK_WEIGHT }];
    });
  });
}

/** Two statements about the same thing may both be ended by one. */
function isAlike(one: ReadStatement, other: ReadStatement): boolean {
  const a = one.vector;
  const b = other.vector;
  return (
    a !== undefined && b !== undefined && a.reduce((sum, part, i) => sum + part * (b[i] as number), 0) > 0.35
  );
}

function fit(all: readonly Example[]): number[] {
  const size = all[0]?.values.length ?? 0;
  const weights = new Array<number>(size).fill(0);
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  for (let round = 0; round < ROUNDS; round += 1) {
    const slope = new Array<number>(size).fill(0);
    for (const { values, ends, weight } of all) {
      const error = (chance(values, weights) - Number(ends)) * weight;
      for (let i = 0; i < size; i += 1) slope[i] = (slope[i] as number) + error * (values[i] as number);
    }
    for (let i = 0; i < size; i += 1)
      weights[i] =
        (weights[i] as number) -
        RATE * ((slope[i] as number) / total + (i > 0 ? SHRINK * (weights[i] as number) : 0));
  }
  return weights;
}

function chance(values: readonly number[], weights: readonly number[]): number {
  return 1 / (1 + Math.exp(-values.reduce((sum, value, i) => sum + value * (weights[i] as number), 0)));
}

const folds = 10;
const foldOf = (line: number): number => Math.abs(line) % folds;
const scored: { ends: boolean; score: number; own: boolean; talk: boolean; line: number }[] = [];
for (let fold = 0; fold < folds; fold += 1) {
  const weights = fit(examples.filter(({ line }) => foldOf(line) !== fold));
  for (const { line, values, ends, weight } of examples)
    if (foldOf(line) === fold)
      scored.push({
        line,
        ends,
        score: chance(values, weights),
        own: line >= 0 && weight === 1,
        talk: line < 0,
      });
}
for (const least of [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) {
  const hits = scored.filter(({ score }) => score >= least);
  const right = hits.filter(({ ends }) => ends).length;
  const inTalks = hits.filter(({ talk }) => talk);
  const all = scored.filter(({ ends }) => ends).length;
  const foreign =
    hits.filter(({ own, talk }) => !own && !talk).length /
    scored.filter(({ own, talk }) => !own && !talk).length;
  const near =
    hits.filter(({ own, ends }) => own && !ends).length /
    scored.filter(({ own, ends }) => own && !ends).length;
  console.log(
    `>= ${least}: ends found ${((100 * right) / all).toFixed(0)} %; of what both hold ${(100 * near).toFixed(1)} %; of foreign pairs ${(100 * foreign).toFixed(2)} %; in talks ${inTalks.filter(({ ends }) => ends).length} right, ${inTalks.filter(({ ends }) => !ends).length} wrong`,
  );
}
const weights = fit(examples).map((one) => Number(one.toFixed(3)));
writeFileSync(
  WEIGHTS_FILE,
  `/** Fitted by \`scripts/context/fit-changes.ts\`; one weight for each value of \`readPair\`. */
export const OUTDATED_WEIGHTS: readonly number[] = [
  ${weights.join(", ")},
];
`,
);
