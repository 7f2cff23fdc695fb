import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { embedSentence, SENTENCE_DIMENSIONS } from "../../src/language/en/embedding/sentence-vectors.ts";
import { readVerdicts, type SheetRow, verdictsOn } from "./labels.ts";

/**
 * Fits the gate on labelled candidates: a multinomial logistic regression (keep, intent, drop) with an L2 penalty. It prints what five
 * folds, divided by message, say of it, and writes the weights with --out.
 *
 * usage: node scripts/statements/fit.ts --rows ROWS.jsonl --labels labels.tsv [--out src/language/en/statements/gate-weights.ts]
 */
const { values } = parseArgs({
  options: {
    rows: { type: "string" },
    labels: { type: "string" },
    out: { type: "string" },
    penalty: { type: "string", default: "4" },
    "vector-penalty": { type: "string", default: "4" },
    least: { type: "string", default: "4" },
  },
});

interface Example {
  readonly row: SheetRow;
  /** The share of the judges for keep, intent and drop. */
  readonly target: readonly [number, number, number];
  readonly names: readonly string[];
  readonly numbers: readonly number[];
  readonly vector: Float32Array;
}

/** Vectors have length one; scaled, a dimension weighs as much as a sign that is there or not. */
const SCALE = 5;
/** Signs that the file of weights has a meaning of its own for. */
const UNWRITABLE = /[`;\\$]/;
const penalty = Number(values.penalty);
const vectorPenalty = Number(values["vector-penalty"]);
const examples = readExamples();
report(examples);
if (values.out) writeWeights(fit(examples), values.out);

function readExamples(): Example[] {
  const verdicts = readVerdicts(values.labels);
  return readFileSync(values.rows ?? "", "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as SheetRow)
    .flatMap((row) => {
      const judges = verdictsOn(verdicts, row);
      if (!judges) return [];
      const target: [number, number, number] = [0, 0, 0];
      for (const verdict of judges)
        target[verdict === "G" || verdict === "B" ? 0 : verdict === "I" ? 1 : 2] += 1 / judges.length;
      const entries = [
        ...Object.entries(row.features),
        [`source:${row.source}`, 1] as const,
        ["bias", 1] as const,
      ];
      // Signs that the two sources share may weigh differently: rules misread more.
      return [
        {
          row,
          target,
          names: entries.map(([name]) => name),
          numbers: entries.map(([, value]) => value),
          vector: embedSentence(row.text),
        },
      ];
    });
}

interface Weights {
  readonly names: ReadonlyMap<string, number>;
  /** Per class, one weight for each name, then one for each dimension of the vector. */
  readonly rows: readonly Float64Array[];
}

function fit(training: readonly Example[]): Weights {
  const counts = new Map<string, number>();
  for (const { names } of training)
    for (const name of names) if (!UNWRITABLE.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = new Map(
    [...counts].filter(([, n]) => n >= Number(values.least)).map(([name], i) => [name, i]),
  );
  const size = names.size + SENTENCE_DIMENSIONS;
  const rows = [0, 1, 2].map(() => new Float64Array(size));
  const encoded = training.map((example) => ({
    example,
    at: example.names.map((name) => names.get(name) ?? -1),
  }));
  // Adam on the whole batch: some hundred steps are enough for a convex loss of this size.
  const moments = rows.map(() => [new Float64Array(size), new Float64Array(size)] as const);
  for (let step = 1; step <= 300; step += 1) {
    const gradients = rows.map((row) =>
      row.map((weight, i) => ((i < names.size ? penalty : vectorPenalty) * weight) / training.length),
    );
    for (const { example, at } of encoded) {
      const chances = softmax(rows.map((row) => scoreOf(row, example, at, names.size)));
      gradients.forEach((gradient, c) => {
        const error = ((chances[c] ?? 0) - (example.target[c] ?? 0)) / training.length;
        addGradient(gradient, { example, at, error, size: names.size });
      });
    }
    const rate = 0.05 * (1 - step / 301) + 0.001;
    rows.forEach((row, c) => {
      const [first, second] = moments[c] as readonly [Float64Array, Float64Array];
      for (let i = 0; i < size; i += 1) {
        const gradient = gradients[c]?.[i] ?? 0;
        first[i] = 0.9 * (first[i] as number) + 0.1 * gradient;
        second[i] = 0.999 * (second[i] as number) + 0.001 * gradient * gradient;
        row[i] =
          (row[i] as number) -
          (rate * ((first[i] as number) / (1 - 0.9 ** step))) /
            (Math.sqrt((second[i] as number) / (1 - 0.999 ** step)) + 1e-8);
      }
    });
  }
  return { names, rows };
}

function addGradient(
  gradient: Float64Array,
  { example, at, error, size }: { example: Example; at: readonly number[]; error: number; size: number },
): void {
  at.forEach((index, k) => {
    if (index >= 0) gradient[index] = (gradient[index] as number) + error * (example.numbers[k] ?? 0);
  });
  for (let d = 0; d < SENTENCE_DIMENSIONS; d += 1)
    gradient[size + d] = (gradient[size + d] as number) + error * SCALE * (example.vector[d] as number);
}

function scoreOf(
  row: Float64Array,
  { numbers, vector }: Example,
  at: readonly number[],
  size: number,
): number {
  let score = 0;
  at.forEach((index, k) => {
    if (index >= 0) score += (row[index] as number) * (numbers[k] ?? 0);
  });
  for (let d = 0; d < SENTENCE_DIMENSIONS; d += 1)
    score += (row[size + d] as number) * SCALE * (vector[d] as number);
  return score;
}

function softmax(scores: readonly number[]): number[] {
  const most = Math.max(...scores);
  const parts = scores.map((score) => Math.exp(score - most));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((part) => part / sum);
}

function chancesOf({ names, rows }: Weights, example: Example): number[] {
  const at = example.names.map((name) => names.get(name) ?? -1);
  return softmax(rows.map((row) => scoreOf(row, example, at, names.size)));
}

function report(all: readonly Example[]): void {
  const foldOf = (message: string): number => (createHash("sha256").update(message).digest()[0] ?? 0) % 5;
  const judged = [0, 1, 2, 3, 4].flatMap((fold) => {
    const weights = fit(all.filter(({ row }) => foldOf(row.message) !== fold));
    return all
      .filter(({ row }) => foldOf(row.message) === fold)
      .map((example) => ({ example, chances: chancesOf(weights, example) }));
  });
  const loss = judged.reduce(
    (sum, { example, chances }) =>
      sum - example.target.reduce((part, t, c) => part + t * Math.log((chances[c] ?? 0) + 1e-9), 0),
    0,
  );
  console.log(`${all.length} candidates; log loss ${(loss / all.length).toFixed(3)}`);
  for (const group of ["all", "rules", "trees", "longmemeval", "locomo", "beam", "stories2"]) {
    const part = judged.filter(
      ({ example }) => group === "all" || example.row.source === group || example.row.set === group,
    );
    const good = (one: (typeof part)[number]): number => one.example.target[0];
    const total = part.reduce((sum, one) => sum + good(one), 0);
    const line = [0, 0.3, 0.4, 0.5, 0.6, 0.7].map((least) => {
      const kept = part.filter(({ chances }) => (chances[0] ?? 0) >= least);
      const right = kept.reduce((sum, one) => sum + good(one), 0);
      return `${least}: ${((100 * right) / Math.max(1, kept.length)).toFixed(0)}/${((100 * right) / total).toFixed(0)} (${kept.length})`;
    });
    console.log(`${group.padEnd(12)} precision/recall of keep: ${line.join("  ")}`);
  }
  console.log("calibration of keep (predicted: share, n)");
  for (let decile = 0; decile < 10; decile += 1) {
    const part = judged.filter(({ chances }) => Math.min(9, Math.floor((chances[0] ?? 0) * 10)) === decile);
    if (part.length === 0) continue;
    const share = part.reduce((sum, { example }) => sum + example.target[0], 0) / part.length;
    console.log(
      `  ${(decile / 10).toFixed(1)}-${((decile + 1) / 10).toFixed(1)}: ${share.toFixed(2)}, ${part.length}`,
    );
  }
}

function writeWeights({ names, rows }: Weights, file: string): void {
  const rounded = (value: number | undefined): number => Number((value ?? 0).toFixed(2));
  const signs = [...names]
    .map(([name, i]) => [name, ...rows.map((row) => rounded(row[i]))] as const)
    .filter(([, ...weights]) => weights.some((weight) => Math.abs(weight) >= 0.02))
    .map(([name, ...weights]) => `${name.replaceAll(" ", "_")} ${weights.join(" ")}`);
  const vectors = rows.map((row) =>
    Array.from(row.slice(names.size), (weight) => rounded(weight * SCALE)).join(" "),
  );
  writeFileSync(
    file,
    [
      "// Written by scripts/statements/fit.ts; docs/results/statements.md says on what.",
      "",
      "/** The weights of signs, parted by semicolons: name (a blank is an underscore), keep, intent, drop. */",
      "export const SIGN_WEIGHTS = `",
      ...wrap(signs.map((sign) => `${sign};`)),
      "`;",
      "",
      "/** The weights of the dimensions of a sentence's vector: a line each for keep, intent and drop. */",
      "export const VECTOR_WEIGHTS = [",
      ...vectors.flatMap((vector) => ["  `", ...wrap(vector.split(" ")), "`,"]),
      "] as const;",
      "",
    ].join("\n"),
  );
  console.log(`${file}: ${signs.length} signs`);
}

/** Lines of at most 120 characters. */
function wrap(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 119) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
