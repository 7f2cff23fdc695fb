import type { Received, Reply, RichReply, ToolCall, Turn } from "./script.ts";

/** An answer: JSON, or the frames of a stream as they are sent. */
export type OpenaiAnswer =
  | { readonly status: number; readonly body: { readonly [field: string]: unknown } }
  | { readonly frames: readonly string[] };

/** The inputs of an answer. */
export interface AnswerContext {
  readonly request: Received;
  readonly replies: readonly RichReply[];
  /** Counts from 1. Ids and times derive from it, so that they are the same in each run. */
  readonly number: number;
  readonly usage: TokenCounts;
}

export const toRichReply = (reply: Reply): RichReply => (typeof reply === "string" ? { text: reply } : reply);

/** A reply as one text, for counting. */
export const toWrittenText = ({
  text = "",
  refusal = "",
  reasoning = "",
  toolCalls = [],
}: RichReply): string =>
  [text, refusal, reasoning, ...toolCalls.flatMap((call) => [call.name, formatArguments(call)])].join("");

export const formatArguments = (call: ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

/** The text as a stream sends it: split at each word, unless the script splits it otherwise. */
export const listParts = ({ text = "", parts }: RichReply): readonly string[] =>
  parts ?? text.match(/\s*\S+|\s+$/g) ?? [];

/** A text in two or more pieces, like the arguments of tools. */
export const splitText = (text: string): string[] => text.match(/[\s\S]{1,12}/g) ?? [];

/** Seconds since 1970: a fixed day, plus one second per request. */
export const toCreatedTime = (number: number): number => 1_767_225_600 + number;

const DATED: { readonly [model: string]: string } = {
  "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
  "gpt-4o": "gpt-4o-2024-08-06",
  "gpt-4.1-mini": "gpt-4.1-mini-2025-04-14",
};

/** The model's name as the server returns it. */
export const toDatedName = (model: unknown): string => DATED[String(model)] ?? String(model);

/** An error in OpenAI's shape. */
export function createRefusal(
  status: number,
  message: string,
  code: string | null = null,
  parameter: string | null = null,
): OpenaiAnswer {
  return { status, body: { error: { message, type: errorType(status, code), param: parameter, code } } };
}

function errorType(status: number, code: string | null): string {
  if (status === 429) return code === "insufficient_quota" ? "insufficient_quota" : "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

interface TokenCounts {
  readonly prompt: number;
  /** Of these, from the cache. */
  readonly cached: number;
  readonly answer: number;
}

/** Counts the tokens of a request and its answer. */
export interface TokenMeter {
  count(request: Received, answer: string): TokenCounts;
  /** Tokens of a text only. */
  readonly tokensOf: (text: string) => number;
}

/** Four bytes per token: accurate enough for English, and fast. */
const estimateTokenCount = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/** OpenAI's prompt cache stores prompts of at least 1,024 tokens, in steps of 128. */
const CACHED_FROM = 1024;
const CACHED_STEP = 128;
/** The number of prompts remembered for the cache. */
const REMEMBERED = 200;
/** By OpenAI's cookbook: tokens around each message, and before the answer. */
const AROUND_MESSAGE = 3;
const BEFORE_ANSWER = 3;
/** An image in low detail, for most models. */
const IMAGE = 85;

/**
 * A meter that remembers prompts: the longest beginning shared with an earlier prompt for the same model
 * counts as cached. Tools and the answer schema precede the messages, as at OpenAI.
 */
export function createTokenMeter(tokensOf: (text: string) => number = estimateTokenCount): TokenMeter {
  const seen: { model: string; prompt: string }[] = [];
  return {
    tokensOf,
    count(request, answer) {
      const prompt = formatPrompt(request);
      const images = request.turns.reduce((sum, turn) => sum + turn.images, 0);
      const overhead = request.turns.length * AROUND_MESSAGE + BEFORE_ANSWER + images * IMAGE;
      const model = String(request.body.model);
      const shared = findLongestShared(
        prompt,
        seen.filter((earlier) => earlier.model === model).map((earlier) => earlier.prompt),
      );
      const total = tokensOf(prompt) + overhead;
      const known = Math.min(tokensOf(prompt.slice(0, shared)), total);
      seen.push({ model, prompt });
      if (seen.length > REMEMBERED) seen.shift();
      return {
        prompt: total,
        cached: known < CACHED_FROM ? 0 : known - (known % CACHED_STEP),
        answer: tokensOf(answer),
      };
    },
  };
}

/** The prompt as one text: the other inputs, then the messages. */
function formatPrompt({ body, turns }: Received): string {
  const schema = body.response_format ?? body.text;
  const beside = [body.tools, schema]
    .filter((part) => part !== undefined)
    .map((part) => JSON.stringify(part));
  return [...beside, ...turns.map(formatLine)].join("\n");
}

function formatLine({ role, text, toolCalls = [] }: Turn): string {
  const calls = toolCalls.map((call) => `${call.name}(${String(call.arguments)})`);
  return [role, text, ...calls].filter((part) => part !== "").join("\n");
}

function findLongestShared(prompt: string, earlier: readonly string[]): number {
  return Math.max(0, ...earlier.map((other) => countShared(prompt, other)));
}

/** The number of leading characters that two texts share. */
function countShared(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (one.slice(low, middle) === other.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
