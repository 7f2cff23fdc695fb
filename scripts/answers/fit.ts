/**
 * Fits the weights of `src/language/en/answers/evidence/weights.ts`: `node scripts/answers/fit.ts DATA [--write] [--show] [--bars]`. DATA holds the
 * sets `stories`, `stories2` (only odd numbers are read) and `phrasings`; `questions-held.txt` and `questions-short.txt`, from which the
 * reader has not learned, are read too. Logistic regression with a quadratic penalty, by Newton's method; the figures are of five-fold cross-validation by story. The same input gives the same weights.
 */
import { existsSync, writeFileSync } from "node:fs";
import { BARS, chooseBest, DOUBTS } from "../../src/language/en/answers/evidence/answer-from-evidence.ts";
import { FEATURES, type Feature } from "../../src/language/en/answers/evidence/features.ts";
import {
  type LabelledQuestion,
  labelStories,
  leaveAnswersOut,
  readKnownAndUnknown,
  readPhrasings,
  readStories,
  readWritten,
} from "./labelled-pairs.ts";

const PENALTY = 2;
/** The penalty of weights that have a prior. */
const PRIOR_PENALTY = 6;
/** Where the penalty pulls a weight to: what no answer may do is known before any data. Other weights are pulled to 0. */
const PRIOR: Readonly<Partial<Record<Feature, number>>> = {
  unrealClause: -2,
  reported: -2,
  thirdAlone: -2,
  ownerOther: -3,
  weekdayMissed: -3,
  isOver: -2,
  topicImpossible: -2,
  later: -2,
  negated: -1.5,
  parting: -1.5,
  vague: -1,
  pastTense: -0.5,
  noNumber: -3,
  noTime: -3,
  noPerson: -2,
  nameMissed: -2,
  roleMissed: -2,
};
const FOLDS = 5;
const STEPS = 30;

const [data, ...options] = process.argv.slice(2);
if (data === undefined) throw new Error("usage: fit.ts DATA [--write] [--show] [--bars]");
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const stories = [
  ...readStories(`${data}/stories2/stories.json`, "odd"),
  ...readStories(`${data}/stories/stories.json`, "all"),
  ...readPhrasings(`${data}/phrasings/phrasings.json`),
  ...readKnownAndUnknown("odd"),
  ...(existsSync("scripts/answers/stories.json") ? readStories("scripts/answers/stories.json", "all") : []),
];
const written = readWritten();
const questions = [
  ...(await labelStories([...stories, ...written])),
  ...(await labelStories(leaveAnswersOut(stories))),
];
const names = [...new Set(questions.map(({ story }) => story))].sort();
const foldOf = new Map(names.map((name, i) => [name, i % FOLDS]));

interface Row {
  readonly x: Float64Array;
  readonly y: number;
}

const rowsOf = (some: readonly LabelledQuestion[]): Row[] =>
  some.flatMap(({ candidates }) =>
    candidates.map(({ evidence, isRight }) => ({
      x: Float64Array.from(FEATURES, (feature) => evidence.features[feature]),
      y: isRight ? 1 : 0,
    })),
  );

function fit(rows: readonly Row[]): Float64Array {
  const n = FEATURES.length;
  const w: Float64Array = new Float64Array(n);
  for (let step = 0; step < STEPS; step += 1) {
    const gradient = new Float64Array(n);
    const hessian = Array.from({ length: n }, () => new Float64Array(n));
    for (const row of rows) addRow(row, w, gradient, hessian);
    FEATURES.forEach((feature, i) => {
      const prior = PRIOR[feature];
      const penalty = i === 0 ? 1e-6 : prior === undefined ? PENALTY : PRIOR_PENALTY;
      gradient[i] = (gradient[i] ?? 0) + penalty * ((w[i] ?? 0) - (prior ?? 0));
      add(hessian[i], i, penalty);
    });
    const change = solve(hessian, gradient);
    for (let i = 0; i < n; i += 1) w[i] = (w[i] ?? 0) - (change[i] ?? 0);
  }
  return w;
}

/** What one pair adds to the first and second derivatives. */
function addRow(
  { x, y }: Row,
  w: Float64Array,
  gradient: Float64Array,
  hessian: readonly Float64Array[],
): void {
  const p = sigmoid(dot(w, x));
  for (let i = 0; i < x.length; i += 1) {
    const xi = x[i] ?? 0;
    if (xi === 0) continue;
    add(gradient, i, (p - y) * xi);
    for (let j = 0; j < x.length; j += 1) add(hessian[i], j, p * (1 - p) * xi * (x[j] ?? 0));
  }
}

function add(to: Float64Array | undefined, i: number, value: number): void {
  if (to) to[i] = (to[i] ?? 0) + value;
}

/** Solves a small positive definite system by elimination. */
function solve(matrix: readonly Float64Array[], right: Float64Array): Float64Array {
  const n = right.length;
  const a: Float64Array[] = matrix.map((row, i) => Float64Array.from([...row, right[i] ?? 0]));
  a.forEach((top, column) => {
    a.forEach((row, i) => {
      if (i === column || !row[column]) return;
      const factor = (row[column] ?? 0) / (top[column] ?? 1);
      for (let j = column; j <= n; j += 1) add(row, j, -factor * (top[j] ?? 0));
    });
  });
  return Float64Array.from({ length: n }, (_, i) => (a[i]?.[n] ?? 0) / (a[i]?.[i] ?? 1));
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] ?? 0) * (other[i] ?? 0);
  return sum;
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

interface Pick {
  readonly question: LabelledQuestion;
  readonly probability: number;
  readonly isRight: boolean;
  readonly isAnswerable: boolean;
  readonly said: string;
}

const picks: Pick[] = [];
for (let fold = 0; fold < FOLDS; fold += 1) {
  const weights = fit(rowsOf(questions.filter(({ story }) => foldOf.get(story) !== fold)));
  for (const question of questions.filter(({ story }) => foldOf.get(story) === fold)) {
    const scored = question.candidates
      .map(({ evidence, isRight, said }) => {
        const x = Float64Array.from(FEATURES, (feature) => evidence.features[feature]);
        return { ...evidence, isRight, said, probability: sigmoid(dot(weights, x)) };
      })
      .sort((one, other) => other.probability - one.probability);
    const chosen = chooseBest(scored);
    const best = scored.find(({ statement }) => statement === chosen?.statement);
    const isAnswerable = scored.some(({ isRight }) => isRight);
    picks.push({
      question,
      probability: best?.probability ?? 0,
      isRight: best?.isRight ?? false,
      isAnswerable,
      said: best?.said ?? "",
    });
  }
}
const rows = rowsOf(questions);
print(`${questions.length} questions, ${rows.length} pairs, ${rows.filter(({ y }) => y === 1).length} right`);
const known = picks.filter(({ question }) => !question.isUnknown);
print(
  `known ${known.length}: with the answer found ${known.filter(({ isAnswerable }) => isAnswerable).length}, chosen first ${known.filter(({ isRight }) => isRight).length}`,
);
print("probability of the first | questions | right | of them unknown");
for (let low = 0; low < 10; low += 1) {
  const inside = picks.filter(({ probability }) => Math.min(9, Math.floor(probability * 10)) === low);
  const right = inside.filter(({ isRight }) => isRight).length;
  const unknown = inside.filter(({ question }) => question.isUnknown).length;
  print(`${(low / 10).toFixed(1)} | ${inside.length} | ${right} | ${unknown}`);
}
print("bar | wrong statements barred | right ones");
for (const bar of [...BARS, ...DOUBTS]) {
  const barred = questions.flatMap(({ candidates }) =>
    candidates.filter(({ evidence }) => evidence.features[bar] === 1),
  );
  const right = barred.filter(({ isRight }) => isRight);
  print(`${bar} | ${barred.length - right.length} | ${right.length}`);
  if (options.includes("--bars"))
    for (const { evidence, said } of right) print(`    ${evidence.probability.toFixed(2)} ${said}`);
}
const weights = fit(rows);
FEATURES.forEach((feature, i) => void print(`${feature.padEnd(14)} ${(weights[i] ?? 0).toFixed(2)}`));
if (options.includes("--show"))
  for (const { question, probability, isRight, isAnswerable, said } of picks)
    if (!isRight && (isAnswerable || probability > 0.4))
      print(
        `${question.story} ${probability.toFixed(2)} ${question.isUnknown ? "UNKNOWN " : ""}${question.ask} -> ${said} || ${question.candidates.find((one) => one.isRight)?.said ?? "-"}`,
      );
if (options.includes("--write")) {
  const lines = FEATURES.map((feature, i) => `  ${feature}: ${Number((weights[i] ?? 0).toFixed(2))},`);
  writeFileSync(
    "src/language/en/answers/evidence/weights.ts",
    `import type { Feature } from "./features.ts";\n\n/** Weights of the logistic model, written by \`scripts/answers/fit.ts\`. */\nexport const WEIGHTS: Readonly<Record<Feature, number>> = {\n${lines.join("\n")}\n};\n`,
  );
}
