import type { Received, Turn } from "./script.ts";

export interface TokenCounts {
  readonly prompt: number;
  /** Of these, from the cache. */
  readonly cached: number;
  readonly answer: number;
}

/** Counts what a request and its answer take. */
export interface TokenMeter {
  count(request: Received, answer: string): TokenCounts;
  /** Of a text alone. */
  readonly tokensOf: (text: string) => number;
}

/** Four bytes a token: near enough for English, and quick. */
export const estimateTokenCount = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/** OpenAI's prompt cache holds prompts from 1,024 tokens on, in steps of 128. */
const CACHED_FROM = 1024;
const CACHED_STEP = 128;
/** Prompts that are remembered for it. */
const REMEMBERED = 200;
/** As OpenAI's cookbook counts them: around each message, and before the answer. */
const AROUND_MESSAGE = 3;
const BEFORE_ANSWER = 3;
/** An image in low detail, for most models. */
const IMAGE = 85;

/**
 * A meter that knows which prompts it has seen: tokens of the longest beginning that a prompt shares with an earlier one
 * for the same model count as cached. Tools and the schema of the answer stand before the messages, as at OpenAI's.
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

/** The prompt as one text: what is sent beside the messages, and the messages. */
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

/** How many characters two texts have in common from the start on. */
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
