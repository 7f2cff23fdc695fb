// Fits the model that tells requests to forget from other sentences: node scripts/forgetting/fit-requests.ts [--data DIR] [--show]
// Reads `requests.txt`, tries the result on `requests-more.txt`, writes `src/language/en/grammar/forgetting/request-weights.ts`, prints the result of a ten-fold test.
// The sentences of real chats are no requests: those with odd numbers are fitted, those with even numbers only counted.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { mayAsk } from "../../src/language/en/grammar/forgetting/erasures.ts";
import { findRequestCandidates } from "../../src/language/en/grammar/forgetting/request-features.ts";
import { spansToRead } from "../../src/language/en/grammar/rules.ts";
import { type Half, readChats, userTurns } from "./chats.ts";
import { bestScore, calibrate, fit, type TrainingExample, toProbability } from "./logistic.ts";
import { readMarkedSentences } from "./marked-sentences.ts";

const { values: options } = parseArgs({
  options: { data: { type: "string", default: "../shared/data" }, show: { type: "boolean", default: false } },
});

const FOLDS = 10;
const FITTING = { decay: 0.0005, leastCount: 12 };
/** How much a sentence of a chat counts beside a written one: there are ten times as many, and all of one kind. */
const CHAT_WEIGHT = 0.1;
/** A weight below this is left out. */
const LEAST_WEIGHT = 0.1;

/** Log-odds in favour of a request: to ask once too often costs less than to pass over a request. */
const FAVOUR = 0.6;

interface Sentence extends TrainingExample {
  readonly text: string;
}

function toSentence(text: string, isRequest: boolean, weight: number): Sentence {
  const candidates = findRequestCandidates(text).map(({ features }) => [...new Set(features)]);
  return { text, isRequest, candidates, weight };
}

function readSentences(file: string): Sentence[] {
  return readMarkedSentences(file).map(({ text, isRequest }) => toSentence(text, isRequest, 1));
}

/** What the user's messages in real chats say, each sentence once, as far as the recogniser would look at it. */
function readChatSentences(half: Half): Sentence[] {
  const texts = readChats(options.data, half)
    .flatMap(userTurns)
    .flatMap(({ message, earlier }) =>
      spansToRead(message, { messages: [message], earlier, known: [] })
        .asking.map(({ start, end }) => message.content.slice(start, end))
        .filter(mayAsk),
    );
  return [...new Set(texts)].map((text) => toSentence(text, false, CHAT_WEIGHT));
}

const written = readSentences("requests.txt");
const examples = [...written, ...readChatSentences("odd")];
const held: { example: Sentence; score: number; isRequest: boolean; weight: number }[] = [];
for (let fold = 0; fold < FOLDS; fold += 1) {
  const weights = fit(
    examples.filter((_one, i) => i % FOLDS !== fold),
    FITTING,
  );
  for (const example of examples.filter((_one, i) => i % FOLDS === fold)) {
    const { candidates, isRequest, weight } = example;
    held.push({ example, score: bestScore(weights, candidates), isRequest, weight });
  }
}
// Calibrated on what is written: in chats nobody asks, and a request would never be likely.
const calibration = calibrate(held.filter(({ weight }) => weight === 1));
const { scale } = calibration;
const shift = calibration.shift + FAVOUR;
const verdicts = held
  .filter(({ weight }) => weight === 1)
  .map(({ example, score }) => ({ example, p: toProbability(scale * score + shift) }));
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
if (options.show)
  for (const { example, p } of verdicts)
    if (example.isRequest === p < 0.5)
      console.log(`${example.isRequest ? "+" : "-"} ${p.toFixed(2)} ${example.text}`);

const weights = new Map(
  [...fit(examples, FITTING)].filter(([name, weight]) => name === "bias" || Math.abs(weight) >= LEAST_WEIGHT),
);
const probabilityOf = ({ candidates }: Sentence): number =>
  toProbability(scale * bestScore(weights, candidates) + shift);
const tried = readSentences("requests-more.txt").map((one) => ({ ...one, p: probabilityOf(one) }));
const requests = tried.filter(({ isRequest }) => isRequest).length;
for (const least of [0.5, 0.8, 0.9, 0.98]) {
  const found = tried.filter(({ p }) => p >= least);
  const right = found.filter(({ isRequest }) => isRequest).length;
  console.log(
    `not fitted on, p ${least}: ${right} of ${requests} requests found; ${right} of ${found.length} right`,
  );
}
for (const half of ["odd", "even"] as const) {
  const all = readChatSentences(half).map(probabilityOf);
  const likely = [0.5, 0.8, 0.9, 0.98].map(
    (least) => `${all.filter((p) => p >= least).length} from p ${least}`,
  );
  console.log(`chats, ${half} half: ${all.length} sentences, ${likely.join(", ")}`);
}
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
