// Fits how a sentence's verb and all its words together say that it asks to forget: node scripts/forgetting/fit-certainty.ts [--data DIR]
// Reads written sentences and conversations that neither reading was fitted on, and real chats with odd numbers, which ask nothing.
// Prints the weights of `TOGETHER` in `request-sentences.ts`, and what they make of chats with even numbers.
import { parseArgs } from "node:util";
import { splitSentences } from "../../src/domain/text/split-text.ts";
import { readRequest } from "../../src/language/en/grammar/forgetting/request-network.ts";
import {
  probabilityTogether,
  scoreRequest,
  toLimitedOdds,
} from "../../src/language/en/grammar/forgetting/request-sentences.ts";
import { type Half, readChats, userTurns } from "./chats.ts";
import { toProbability } from "./logistic.ts";
import { readMarkedSentences } from "./marked-sentences.ts";
import { readConversations } from "./written-conversations.ts";

const { values: options } = parseArgs({ options: { data: { type: "string", default: "../shared/data" } } });

/** A sentence that one of the readings may take for a request, as both see it, in log-odds. */
interface Row {
  readonly isRequest: boolean;
  readonly words: number;
  readonly verb: number;
  readonly together: number;
}

const LEAST_BY_WORDS = 0.2;
const LEAST_BY_VERB = 0.5;
const LONGEST = 300;
const FIRST_SENTENCES = 40;

/** Nothing for a sentence that neither reading takes for a request. */
function toRows(text: string, among: number, isRequest: boolean): Row[] {
  const byWords = readRequest(text).probability;
  const byVerb = scoreRequest(text, among)[0]?.probability ?? 0;
  if (byWords < LEAST_BY_WORDS && byVerb < LEAST_BY_VERB) return [];
  const together = probabilityTogether({ probability: byWords, byVerb, byWords });
  return [{ isRequest, words: toLimitedOdds(byWords), verb: toLimitedOdds(byVerb), together }];
}

const written = readMarkedSentences("requests-unfitted.txt").flatMap(({ text, isRequest }) =>
  toRows(text, 1, isRequest),
);
const told = ["conversations-new.txt", "conversations-after.txt"]
  .flatMap(readConversations)
  .flatMap(({ messages, request }) =>
    messages.flatMap(({ role, isCall, text }, i) => {
      if (role !== "user" || isCall) return [];
      const sentences = splitSentences(text);
      return sentences.flatMap(({ start, end }, k) =>
        toRows(
          text.slice(start, end),
          sentences.length,
          request?.message === i && request.sentences.includes(k),
        ),
      );
    }),
  );

function readChatRows(half: Half): Row[] {
  return readChats(options.data, half)
    .flatMap(userTurns)
    .flatMap(({ message: { content } }) => {
      const sentences = splitSentences(content);
      return sentences
        .slice(0, FIRST_SENTENCES)
        .map(({ start, end }) => content.slice(start, end))
        .filter((text) => text.length < LONGEST)
        .flatMap((text) => toRows(text, sentences.length, false));
    });
}

/** Logistic regression of two features, by gradient descent. */
function fit(rows: readonly Row[]): [number, number, number] {
  let weights: [number, number, number] = [0, 1, 0];
  for (let step = 0; step < 4000; step += 1) {
    const slopes: [number, number, number] = [0, 0, 0];
    for (const { isRequest, words, verb } of rows) {
      const error = toProbability(weights[0] + weights[1] * words + weights[2] * verb) - Number(isRequest);
      slopes[0] += error;
      slopes[1] += error * words;
      slopes[2] += error * verb;
    }
    weights = weights.map((weight, i) => weight - (0.1 * (slopes[i] ?? 0)) / rows.length) as typeof weights;
  }
  return weights;
}

const rows = [...written, ...told, ...readChatRows("odd")];
const [bias, words, verb] = fit(rows);
console.log(`${rows.length} sentences, ${rows.filter(({ isRequest }) => isRequest).length} requests`);
console.log(`bias ${bias.toFixed(2)}, words ${words.toFixed(2)}, verb ${verb.toFixed(2)}`);
for (const least of [0.5, 0.7, 0.9, 0.95, 0.98]) {
  const sure = rows.filter(({ together }) => together >= least);
  const right = sure.filter(({ isRequest }) => isRequest).length;
  console.log(`from ${least} on, with the weights of now: ${sure.length}, of which ${right} are requests`);
}
const unseen = readChatRows("even").filter(({ together }) => together >= 0.95).length;
console.log(`chats with even numbers, which ask nothing, from 0.95 on: ${unseen}`);
