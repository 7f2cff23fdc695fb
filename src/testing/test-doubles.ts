import type { Message } from "../domain/message.ts";
import { splitWords } from "../domain/search/search-terms.ts";
import { estimateTokens } from "../domain/text/split-text.ts";
import type { CallOptions } from "../ports/call-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { AddProposal, Extractor, Proposal } from "../ports/language/extractor.ts";
import type { Completion, LanguageModel, Prompt } from "../ports/language/language-model.ts";
import type { QuestionReader } from "../ports/language/question-reader.ts";
import type { Reranker } from "../ports/language/reranker.ts";
import { makeMessage } from "./memory-store/change-sets.ts";

/**
 * The model's reaction to a prompt: it says a text, an object replaces parts of the answer, an error is
 * thrown.
 */
export type Says = (prompt: Prompt, options: CallOptions) => ScriptedReply | Promise<ScriptedReply>;
type ScriptedReply = string | Error | Partial<Completion>;

/** A language model that answers by a script, and keeps its prompts. */
export interface ScriptedModel extends LanguageModel {
  /** Every prompt, oldest first. */
  readonly asked: Prompt[];
}

/** A model without a server, for tests: it answers by a script. */
export function scriptedModel(says: Says): ScriptedModel {
  const asked: Prompt[] = [];
  const complete = async (prompt: Prompt, options: CallOptions = {}): Promise<Completion> => {
    options.signal?.throwIfAborted();
    asked.push(prompt);
    const reply = await untilAborted(Promise.resolve(says(prompt, options)), options.signal);
    if (reply instanceof Error) throw reply;
    const given = typeof reply === "string" ? { text: reply } : reply;
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
      const completion = await complete(prompt, options);
      for (const part of completion.text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
        options.signal?.throwIfAborted();
        yield part;
      }
      return completion;
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

/** One item of a model's answer, in the form that the model extractor's prompt requests. */
export interface ModelItem {
  /** The number of the message that it is about, from 1. */
  readonly turn: number;
  /** What it proposes. */
  readonly do: "add" | "end" | "wrong" | "forget";
  /** The exact words of the message. */
  readonly quote: string;
  /** The subject of the claim. */
  readonly who: string;
  /** The relation of the claim. */
  readonly verb: string;
  /** The value of the claim. */
  readonly what: string;
  /** The qualifier of the claim. */
  readonly how: string;
  /** The kind of memory. */
  readonly kind: string;
  /** From when it is true (ISO 8601); empty if unknown. */
  readonly from: string;
  /** Until when it is true (ISO 8601); empty if unknown. */
  readonly to: string;
  /** When it expires (ISO 8601); empty for never. */
  readonly expires: string;
  /** The number of the known memory that it ends; 0 for none. */
  readonly old: number;
  /** Confidence, 0 to 9. */
  readonly sure: number;
  /** Importance, 0 to 9. */
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

/** An item with the given fields, and defaults for the others. */
export function modelItem(fields: Partial<ModelItem>): ModelItem {
  return { ...PLAIN, ...fields };
}

/** An answer with such items, as a model writes it. */
export function itemsAnswer(...items: readonly Partial<ModelItem>[]): string {
  return JSON.stringify({ items: items.map(modelItem) });
}

/** The number of a turn in a prompt, by words of that turn. */
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

/** Finds nothing in a question. Recall and answers then depend on words and vectors only. */
export function blankQuestionReader(): QuestionReader {
  return {
    isQuestion: (message) => message.trim().endsWith("?"),
    read: () => ({ asks: "unknown", relations: [] }),
  };
}

/** The default time of messages to an extractor: a Tuesday, at noon. */
export const SAID_AT = "2026-03-10T12:00:00.000Z";

/** A message of the user that no extractor has read yet. */
export function makeUserMessage(content: string, fields: Partial<Message> = {}): Message {
  return makeMessage("m", { turn: 1, content, at: SAID_AT, storedAt: SAID_AT, digest: "pending", ...fields });
}

/**
 * The additions that an extractor proposes for one message of the user, without earlier messages or memories.
 */
export async function extractAdditions(extractor: Extractor, content: string): Promise<AddProposal[]> {
  const proposals = await extractor.propose({ messages: [makeUserMessage(content)], earlier: [], known: [] });
  return proposals.filter((one) => one.propose === "add");
}

/**
 * An embedder for tests: it hashes each word into one of `dimensions` components, so texts are near if they
 * share words.
 */
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

/** A reranker without a model, for tests: the share of a query's words that a text has. */
export function wordReranker(): Reranker {
  return {
    name: "words",
    local: true,
    async score(query, texts, { signal } = {}) {
      signal?.throwIfAborted();
      const wanted = new Set(splitWords(query));
      return texts.map((text) => {
        const words = new Set(splitWords(text));
        return [...wanted].filter((word) => words.has(word)).length / Math.max(1, wanted.size);
      });
    },
  };
}
