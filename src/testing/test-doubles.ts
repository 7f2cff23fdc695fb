import type { Message } from "../domain/message.ts";
import { splitWords } from "../domain/search/search-terms.ts";
import { estimateTokens } from "../domain/text/split-text.ts";
import type { CallOptions } from "../ports/call-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { AddProposal, Extractor, Proposal } from "../ports/language/extractor.ts";
import type { Completion, LanguageModel, Prompt } from "../ports/language/language-model.ts";
import type { QuestionReader } from "../ports/language/question-reader.ts";
import { makeMessage } from "./memory-store/change-sets.ts";

/** What the model does with a prompt: a text is said, an object takes the place of parts of the answer, an error is thrown. */
export type Says = (prompt: Prompt, options: CallOptions) => ScriptedReply | Promise<ScriptedReply>;
type ScriptedReply = string | Error | Partial<Completion>;

export interface ScriptedModel extends LanguageModel {
  /** Every prompt, oldest first. */
  readonly asked: Prompt[];
}

/** A model without a server, for tests: it says what a script says. */
export function scriptedModel(says: Says): ScriptedModel {
  const asked: Prompt[] = [];
  const complete = async (prompt: Prompt, options: CallOptions = {}): Promise<Completion> => {
    options.signal?.throwIfAborted();
    asked.push(prompt);
    const said = await untilAborted(Promise.resolve(says(prompt, options)), options.signal);
    if (said instanceof Error) throw said;
    const given = typeof said === "string" ? { text: said } : said;
    const text = stripThoughts(given.text ?? "");
    const value = prompt.shape ? parseJson(text) : undefined;
    return {
      finish: "stop",
      model: "scripted-1",
      usage: {
        tokensIn: prompt.turns.reduce((sum, { content }) => sum + estimateTokens(content), 1),
        tokensCached: 0,
        tokensOut: estimateTokens(text),
      },
      ...(value === undefined ? {} : { value }),
      ...given,
      text,
    };
  };
  return {
    name: "scripted",
    host: "nowhere.test",
    asked,
    complete,
    async *stream({ shape: _none, ...prompt }, options = {}) {
      const whole = await complete(prompt, options);
      for (const part of whole.text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
        options.signal?.throwIfAborted();
        yield part;
      }
      return whole;
    },
  };
}

function stripThoughts(text: string): string {
  return text.replace(/<think>[\s\S]*?<\/think>/g, "").trim();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.search(/[{[]/), text.search(/[}\]][^}\]]*$/) + 1));
  } catch {
    return undefined;
  }
}

async function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return value;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** One item of a model's answer about what was said, as the prompt of the model extractor asks for it. */
export interface ModelItem {
  readonly turn: number;
  readonly do: "add" | "end" | "wrong" | "forget";
  readonly quote: string;
  readonly who: string;
  readonly verb: string;
  readonly what: string;
  readonly how: string;
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  readonly expires: string;
  readonly old: number;
  readonly sure: number;
  readonly weight: number;
}

const PLAIN: ModelItem = {
  turn: 1,
  do: "add",
  quote: "",
  who: "user",
  verb: "use",
  what: "",
  how: "",
  kind: "fact",
  from: "",
  to: "",
  expires: "",
  old: 0,
  sure: 9,
  weight: 5,
};

/** An item with some of its fields, the others plain. */
export function modelItem(fields: Partial<ModelItem>): ModelItem {
  return { ...PLAIN, ...fields };
}

/** An answer with such items, as a model writes it. */
export function itemsAnswer(...items: readonly Partial<ModelItem>[]): string {
  return JSON.stringify({ items: items.map(modelItem) });
}

/** The numbers that turns have in a prompt, by what was said in them. */
export function turnNumber(prompt: string, words: string): number {
  for (const line of prompt.split("\n")) {
    const number = /^(\d+) \[/.exec(line)?.[1];
    if (number !== undefined && line.includes(words)) return Number(number);
  }
  return 0;
}

/**
 * An extractor for tests of the engine. It knows four sentences and proposes nothing else: "I use A and B.",
 * "I live in A.", "I don't use A anymore.", "Forget A."
 */
export function scriptedExtractor(): Extractor {
  return {
    name: "scripted",
    local: true,
    async propose({ messages }) {
      return messages.flatMap(({ id, content }) =>
        Array.from(content.matchAll(/[^.!?]+[.!?]?/g)).flatMap(({ 0: sentence, index }) => {
          const start = index + (sentence.length - sentence.trimStart().length);
          return readSentence({ message: id, start, end: index + sentence.length }, sentence.trim());
        }),
      );
    },
  };
}

function readSentence(place: { message: string; start: number; end: number }, sentence: string): Proposal[] {
  const common = { ...place, kind: "fact", confidence: 0.9, importance: 0.5 } as const;
  const adds = (relation: string, values: readonly string[], holds: "one" | "many"): Proposal[] =>
    values.map((value) => ({
      ...common,
      propose: "add",
      text: `The user ${relation}s ${value}.`,
      claim: { subject: "user", relation, value },
      holds,
    }));
  const ended = /^I don't use (\w+) anymore/.exec(sentence);
  if (ended?.[1])
    return [
      { ...place, propose: "supersede", target: { subject: "user", relation: "use", value: ended[1] } },
    ];
  const used = /^I use (\w+)(?: and (\w+))?/.exec(sentence);
  if (used)
    return adds(
      "use",
      used.slice(1).filter((value) => value !== undefined),
      "many",
    );
  const lived = /^I live in (\w+)/.exec(sentence);
  if (lived?.[1]) return adds("live in", [lived[1]], "one");
  const erased = /^Forget (\w+)/.exec(sentence);
  if (erased?.[1] === "everything") return [{ ...place, propose: "erase", everything: true }];
  if (erased?.[1] === "this") return [{ ...place, propose: "erase" }];
  return erased?.[1] ? [{ ...place, propose: "erase", about: erased[1] }] : [];
}

/** Reads nothing out of a question: recall and answers then rest on words and vectors alone. */
export function blankQuestionReader(): QuestionReader {
  return {
    isQuestion: (message) => message.trim().endsWith("?"),
    read: () => ({ asks: "unknown", relations: [] }),
  };
}

/** A Tuesday, at noon: when everything is said to an extractor, where a test names no other time. */
export const SAID_AT = "2026-03-10T12:00:00.000Z";

/** A message of the user that no extractor has read yet. */
export function makeUserMessage(content: string, fields: Partial<Message> = {}): Message {
  return makeMessage("m", { turn: 1, content, at: SAID_AT, storedAt: SAID_AT, digest: "pending", ...fields });
}

/** What an extractor proposes to add for one message of the user, with nothing said or known before. */
export async function extractAdditions(extractor: Extractor, content: string): Promise<AddProposal[]> {
  const proposals = await extractor.propose({ messages: [makeUserMessage(content)], earlier: [], known: [] });
  return proposals.filter((one) => one.propose === "add");
}

/** An embedder for tests: each word falls into one of `dimensions` places. Near means: shares words. */
export function hashEmbedder(dimensions = 32): Embedder {
  return {
    fingerprint: `hash-1/${dimensions}`,
    dimensions,
    local: true,
    floor: 0.5,
    async embed(texts, options) {
      options?.signal?.throwIfAborted();
      return texts.map((text) => {
        const vector = new Float32Array(dimensions);
        for (const word of splitWords(text)) {
          let hash = 7;
          for (const letter of word) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
          vector[hash % dimensions] = (vector[hash % dimensions] ?? 0) + 1;
        }
        const length = Math.hypot(...vector);
        return length === 0 ? vector : vector.map((part) => part / length);
      });
    },
  };
}
