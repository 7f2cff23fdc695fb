// Logistic regression over named features, for the scripts that fit what reads requests to forget.

/** Something to learn from: the best of its candidates says whether it is a request. */
export interface TrainingExample {
  readonly isRequest: boolean;
  /** The features of each candidate. */
  readonly candidates: readonly (readonly string[])[];
  /** How much it counts. */
  readonly weight: number;
}

export type Weights = ReadonlyMap<string, number>;

export interface FitOptions {
  /** How strongly weights are drawn to 0. */
  readonly decay: number;
  /** A feature that occurs in fewer sentences counts nothing. */
  readonly leastCount: number;
}

const ROUNDS = 3;
const STEPS = 200;
const RATE = 0.3;

export function scoreOf(weights: Weights, features: readonly string[]): number {
  return features.reduce((sum, name) => sum + (weights.get(name) ?? 0), weights.get("bias") ?? 0);
}

export function toProbability(score: number): number {
  return 1 / (1 + Math.exp(-score));
}

/** The score of the best candidate. */
export function bestScore(weights: Weights, candidates: TrainingExample["candidates"]): number {
  return Math.max(...candidates.map((features) => scoreOf(weights, features)));
}

interface Row {
  readonly features: Int32Array;
  readonly target: 0 | 1;
  readonly weight: number;
}

/** Fits the best candidate of each request and all candidates of the other sentences. */
export function fit(examples: readonly TrainingExample[], options: FitOptions): Weights {
  const names = usualNames(examples, options.leastCount);
  const place = new Map(names.map((name, i) => [name, i]));
  const toFeatures = (features: readonly string[]): Int32Array =>
    Int32Array.from(["bias", ...features].flatMap((name) => place.get(name) ?? []));
  let weights: Weights = new Map();
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = new Map<string, Row>();
    for (const { isRequest, candidates, weight } of examples)
      for (const features of isRequest ? [pick(weights, candidates)] : candidates)
        addRow(rows, { features: toFeatures(features), target: isRequest ? 1 : 0, weight });
    const fitted = descend([...rows.values()], names.length, options);
    weights = new Map(names.map((name, i) => [name, fitted[i] ?? 0]));
  }
  return weights;
}

/** Equal rows are one row with the sum of their weights. */
function addRow(rows: Map<string, Row>, row: Row): void {
  const key = `${row.target} ${row.features.toSorted().join(" ")}`;
  const weight = (rows.get(key)?.weight ?? 0) + row.weight;
  rows.set(key, { ...row, weight });
}

function usualNames(examples: readonly TrainingExample[], least: number): string[] {
  const counts = new Map<string, number>();
  for (const { candidates } of examples)
    for (const name of new Set(candidates.flat())) counts.set(name, (counts.get(name) ?? 0) + 1);
  return ["bias", ...[...counts].flatMap(([name, count]) => (count >= least ? [name] : []))];
}

function pick(weights: Weights, candidates: TrainingExample["candidates"]): readonly string[] {
  let [best = []] = candidates;
  for (const features of candidates) if (scoreOf(weights, features) > scoreOf(weights, best)) best = features;
  return best;
}

/** Gradient descent with a step of its own for each feature. The first feature is the bias. */
function descend(rows: readonly Row[], size: number, { decay }: FitOptions): Float64Array {
  const weights = new Float64Array(size);
  const squares = new Float64Array(size);
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  for (let step = 0; step < STEPS; step += 1)
    for (const [i, slope] of gradientOf(weights, rows).entries()) {
      const mean = slope / total + (i === 0 ? 0 : decay * at(weights, i));
      const square = at(squares, i) + mean * mean;
      squares[i] = square;
      weights[i] = at(weights, i) - (RATE * mean) / Math.sqrt(square + 1e-8);
    }
  return weights;
}

function gradientOf(weights: Float64Array, rows: readonly Row[]): Float64Array {
  const gradient = new Float64Array(weights.length);
  for (const { features, target, weight } of rows) {
    const score = features.reduce((sum, i) => sum + at(weights, i), 0);
    const error = weight * (toProbability(score) - target);
    for (const i of features) gradient[i] = at(gradient, i) + error;
  }
  return gradient;
}

function at(values: Float64Array, i: number): number {
  return values[i] ?? 0;
}

/** A scale and a shift of scores, so that of the held-out sentences with probability p, p are requests. */
export function calibrate(
  held: readonly { readonly score: number; readonly isRequest: boolean; readonly weight: number }[],
): { scale: number; shift: number } {
  const total = held.reduce((sum, { weight }) => sum + weight, 0);
  let [scale, shift] = [1, 0];
  for (let step = 0; step < 3000; step += 1) {
    let [byScale, byShift] = [0, 0];
    for (const { score, isRequest, weight } of held) {
      const error = weight * (toProbability(scale * score + shift) - Number(isRequest));
      byScale += (error * score) / total;
      byShift += error / total;
    }
    scale -= 0.1 * byScale;
    shift -= 0.1 * byShift;
  }
  return { scale, shift };
}
