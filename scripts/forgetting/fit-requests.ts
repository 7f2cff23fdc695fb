// Fits the model that tells requests to forget from other sentences: node scripts/forgetting/fit-requests.ts
// Reads `requests.txt`, writes `src/language/en/grammar/forgetting/request-weights.ts`, prints the result of a ten-fold test.
import { readFileSync, writeFileSync } from "node:fs";
import { findRequestCandidates } from "../../src/language/en/grammar/forgetting/request-features.ts";

const FOLDS = 10;
const ROUNDS = 3;
const STEPS = 200;
const RATE = 0.3;
const DECAY = 0.004;

interface Example {
  readonly text: string;
  readonly isRequest: boolean;
  readonly candidates: readonly (readonly string[])[];
}

type Weights = Map<string, number>;

const examples: Example[] = readFileSync(new URL("requests.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^[+-] /.test(line))
  .map((line) => {
    const text = line.slice(2);
    return {
      text,
      isRequest: line.startsWith("+"),
      candidates: findRequestCandidates(text).map(({ features }) => [...new Set(features)]),
    };
  });

const scoreOf = (weights: Weights, features: readonly string[]): number =>
  features.reduce((sum, name) => sum + (weights.get(name) ?? 0), weights.get("bias") ?? 0);
const toProbability = (score: number): number => 1 / (1 + Math.exp(-score));
const bestOf = (weights: Weights, { candidates }: Example): number =>
  Math.max(...candidates.map((features) => scoreOf(weights, features)));

/** Logistic regression over the best candidate of each request and over all candidates of the other sentences. */
function fit(training: readonly Example[]): Weights {
  let weights: Weights = new Map();
  const counts = new Map<string, number>();
  for (const { candidates } of training)
    for (const name of new Set(candidates.flat())) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = training.flatMap((one) =>
      one.isRequest
        ? [{ features: pick(weights, one), target: 1 }]
        : one.candidates.map((features) => ({ features, target: 0 })),
    );
    const usual = rows.map(({ features, target }) => ({
      features: features.filter((name) => (counts.get(name) ?? 0) >= 2),
      target,
    }));
    weights = descend(usual);
  }
  return weights;
}

interface Row {
  readonly features: readonly string[];
  readonly target: number;
}

/** Gradient descent with a step of its own for each feature. */
function descend(rows: readonly Row[]): Weights {
  const weights: Weights = new Map([["bias", 0]]);
  const squares = new Map<string, number>();
  for (let step = 0; step < STEPS; step += 1) {
    for (const [name, slope] of gradientOf(weights, rows)) {
      const mean = slope / rows.length + (name === "bias" ? 0 : DECAY * (weights.get(name) ?? 0));
      const square = (squares.get(name) ?? 0) + mean * mean;
      squares.set(name, square);
      weights.set(name, (weights.get(name) ?? 0) - (RATE * mean) / Math.sqrt(square + 1e-8));
    }
  }
  return weights;
}

function gradientOf(weights: Weights, rows: readonly Row[]): Map<string, number> {
  const gradient = new Map<string, number>();
  for (const { features, target } of rows) {
    const error = toProbability(scoreOf(weights, features)) - target;
    for (const name of ["bias", ...features]) gradient.set(name, (gradient.get(name) ?? 0) + error);
  }
  return gradient;
}

function pick(weights: Weights, { candidates }: Example): readonly string[] {
  let [best = []] = candidates;
  for (const features of candidates) if (scoreOf(weights, features) > scoreOf(weights, best)) best = features;
  return best;
}

const held: { example: Example; score: number }[] = [];
for (let fold = 0; fold < FOLDS; fold += 1) {
  const weights = fit(examples.filter((_one, i) => i % FOLDS !== fold));
  for (const example of examples.filter((_one, i) => i % FOLDS === fold))
    held.push({ example, score: bestOf(weights, example) });
}
// Calibration: a scale and a shift of the scores, so that of the held-out sentences with probability p, p are requests.
let [scale, shift] = [1, 0];
for (let step = 0; step < 3000; step += 1) {
  let [bySlope, byShift] = [0, 0];
  for (const { example, score } of held) {
    const error = toProbability(scale * score + shift) - Number(example.isRequest);
    bySlope += (error * score) / held.length;
    byShift += error / held.length;
  }
  scale -= 0.1 * bySlope;
  shift -= 0.1 * byShift;
}
const verdicts = held.map(({ example, score }) => ({ example, p: toProbability(scale * score + shift) }));
for (const [least, most] of [
  [0, 0.1],
  [0.1, 0.3],
  [0.3, 0.5],
  [0.5, 0.7],
  [0.7, 0.9],
  [0.9, 1.01],
] as const) {
  const some = verdicts.filter(({ p }) => p >= least && p < most);
  const requests = some.filter(({ example }) => example.isRequest).length;
  console.log(`p ${least}-${Math.min(1, most)}: ${some.length} sentences, ${requests} of them requests`);
}
if (process.argv.includes("--show"))
  for (const { example, p } of verdicts)
    if (example.isRequest === p < 0.5)
      console.log(`${example.isRequest ? "+" : "-"} ${p.toFixed(2)} ${example.text}`);

const weights = fit(examples);
const rows = [...weights]
  .map(
    ([name, weight]) =>
      [name, Math.round((weight * scale + (name === "bias" ? shift : 0)) * 100) / 100] as const,
  )
  .filter(([, weight]) => weight !== 0)
  .sort(([one], [other]) => (one < other ? -1 : 1));
writeFileSync(
  new URL("../../src/language/en/grammar/forgetting/request-weights.ts", import.meta.url),
  `/** Written by \`scripts/forgetting/fit-requests.ts\`: the weights of logistic regression, by feature. */
export const REQUEST_WEIGHTS: Readonly<Record<string, number>> = {
${rows.map(([name, weight]) => `  ${JSON.stringify(name)}: ${weight},`).join("\n")}
};
`,
);
