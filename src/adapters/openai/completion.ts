import type { CallOutcome, TokenUsage } from "../../domain/model-usage.ts";
import { createServerSentEventReader } from "../../domain/text/server-sent-events.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import type { Completion, Prompt } from "../../ports/language/language-model.ts";
import { isJsonObject, type JsonFields, parseJson } from "../shared/model-calls/json-values.ts";
import { parseLenientJson } from "./lenient-json.ts";

/** The content of a response, from one body or from the parts of a stream. */
export interface ChatAnswer {
  content: string;
  /** Thoughts that the server separates from the answer. */
  thoughts: string;
  isRefused: boolean;
  finish?: string;
  model?: string;
  usage?: JsonFields;
}

/** Parses a response body; undefined if it is not an answer. Some servers report errors with a success status. */
export function parseChatAnswer(body: unknown): ChatAnswer | undefined {
  if (!isJsonObject(body) || body.error) return undefined;
  const [choice] = Array.isArray(body.choices) ? body.choices : [];
  if (!isJsonObject(choice)) return undefined;
  const message = isJsonObject(choice.message) ? choice.message : choice;
  return {
    content: joinText(message.content ?? message.text),
    thoughts: joinText(message.reasoning_content ?? message.reasoning),
    isRefused: typeof message.refusal === "string" && message.refusal !== "",
    ...(typeof choice.finish_reason === "string" ? { finish: choice.finish_reason } : {}),
    ...(typeof body.model === "string" ? { model: body.model } : {}),
    ...(isJsonObject(body.usage) ? { usage: body.usage } : {}),
  };
}

/** Parses one event of a stream; undefined for an error or an unknown event. */
export function parseChatDelta(event: unknown): ChatAnswer | undefined {
  if (!isJsonObject(event) || event.error) return undefined;
  const [choice] = Array.isArray(event.choices) ? event.choices : [];
  const { delta, ...rest } = isJsonObject(choice) ? choice : {};
  return parseChatAnswer({ ...event, choices: [{ ...rest, message: isJsonObject(delta) ? delta : {} }] });
}

/** A text, or the joined texts of a list of parts. */
function joinText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isJsonObject(part) && typeof part.text === "string" ? part.text : ""))
    .join("");
}

export function toCompletion(answer: ChatAnswer, prompt: Prompt, model: string): Completion {
  const { shape } = prompt;
  const fits = shape && createShapeCheck(shape.schema);
  // Some servers return the whole output of a model as thoughts.
  const value = fits && (findJson(answer.content, fits) ?? findJson(answer.thoughts, fits));
  return {
    text: removeThoughts(answer.content),
    ...(value === undefined ? {} : { value }),
    finish: toFinish(answer),
    usage: toUsage(answer, prompt),
    model: answer.model ?? model,
  };
}

function toFinish({ isRefused, finish }: ChatAnswer): Completion["finish"] {
  if (isRefused || finish === "content_filter") return "refused";
  return finish === "length" || finish === "max_tokens" ? "length" : "stop";
}

/** The outcome of a call, as it is recorded. */
export function toCallOutcome(
  { finish, value }: Completion,
  { shape }: Prompt,
): Extract<CallOutcome, "ok" | "invalid" | "refused" | "cut"> {
  if (finish === "refused") return "refused";
  if (finish === "length") return "cut";
  return shape && !createShapeCheck(shape.schema)(value) ? "invalid" : "ok";
}

function toUsage({ usage = {}, content, thoughts }: ChatAnswer, prompt: Prompt): TokenUsage {
  const { prompt_tokens: tokensIn, completion_tokens: tokensOut, prompt_tokens_details: details } = usage;
  if (!isCount(tokensIn)) return { ...estimateUsage(prompt), tokensOut: estimateTokens(content + thoughts) };
  const cached = isJsonObject(details) ? details.cached_tokens : usage.prompt_cache_hit_tokens;
  return {
    tokensIn,
    tokensCached: isCount(cached) ? Math.min(cached, tokensIn) : 0,
    tokensOut: isCount(tokensOut) ? tokensOut : estimateTokens(content + thoughts),
  };
}

/** The completion for a prompt that the provider's filter stopped. */
export function createFilteredCompletion(prompt: Prompt, model: string): Completion {
  return { text: "", finish: "refused", usage: estimateUsage(prompt), model };
}

/** The estimated usage of a prompt, if the answer does not report it, or not yet. */
export function estimateUsage({ turns }: Prompt): TokenUsage {
  const tokensIn = turns.reduce((sum, { content }) => sum + estimateTokens(content) + 4, 0);
  return { tokensIn, tokensCached: 0, tokensOut: 0, isEstimated: true };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The most characters of an answer that are examined; models write no more than this. */
const MAX_ANSWER_CHARACTERS = 400_000;
/** The most positions that are tried as a beginning of JSON. */
const MAX_JSON_STARTS = 60;

/** The tags around a model's thoughts. */
const THOUGHT_MARKS = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/gi;

/** An answer without the model's thoughts; empty if the thoughts never end. */
export function removeThoughts(text: string): string {
  let rest = "";
  let depth = 0;
  let from = 0;
  for (const mark of text.matchAll(THOUGHT_MARKS)) {
    if (depth === 0) rest += text.slice(from, mark.index);
    from = mark.index + mark[0].length;
    if (mark[1] === "") depth += 1;
    // Some templates open the thought themselves, so that the answer only contains the closing tag.
    else if (depth === 0) rest = "";
    else depth -= 1;
  }
  return (depth === 0 ? rest + text.slice(from) : rest).trim();
}

/**
 * Extracts the JSON of an answer from its surroundings: thoughts, a code fence, other text, an escaped string. Gives the first
 * value that fits, or else the first value; undefined if there is none. Never throws.
 */
export function findJson(answer: string, fits: (value: unknown) => boolean = isJsonObject): unknown {
  const text = answer.slice(0, MAX_ANSWER_CHARACTERS);
  const candidates: unknown[] = [];
  for (const part of [removeThoughts(text), text]) {
    for (const value of findJsonValues(part)) {
      if (fits(value)) return value;
      candidates.push(value);
    }
  }
  return candidates[0];
}

function* findJsonValues(text: string): Generator<unknown> {
  const parsed = parseJson(text.trim());
  if (typeof parsed === "string") {
    // JSON inside a JSON string.
    const inner = parseJson(parsed);
    if (typeof inner === "object" && inner !== null) yield inner;
  } else if (typeof parsed === "object" && parsed !== null) {
    yield parsed;
    return;
  }
  const opening = /[{[]/g;
  let tries = 0;
  for (let found = opening.exec(text); found && tries < MAX_JSON_STARTS; found = opening.exec(text)) {
    tries += 1;
    const read = parseLenientJson(text, found.index);
    if (!read) continue;
    yield read.value;
    opening.lastIndex = Math.max(opening.lastIndex, read.end);
  }
}

/** Checks that an answer has the fields that a JSON Schema requires at the top level, and no more. */
export function createShapeCheck(schema: { readonly [key: string]: unknown }): (value: unknown) => boolean {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return (value) => isJsonObject(value) && required.every((name) => Object.hasOwn(value, name));
}

const THOUGHT_MARK = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/i;
/** A possible beginning of a tag at the end of a part. */
const PARTIAL_THOUGHT_MARK = /<\/?[a-z]{0,10}$/i;

/** Removes thoughts from a text that arrives in parts. */
export function createThoughtFilter(): { push(part: string): string; end(): string } {
  let pending = "";
  let depth = 0;
  const push = (part: string): string => {
    let rest = pending + part;
    let shown = "";
    pending = "";
    for (let mark = THOUGHT_MARK.exec(rest); mark; mark = THOUGHT_MARK.exec(rest)) {
      if (depth === 0) shown += rest.slice(0, mark.index);
      depth = Math.max(0, depth + (mark[1] === "" ? 1 : -1));
      rest = rest.slice(mark.index + mark[0].length);
    }
    const begun = PARTIAL_THOUGHT_MARK.exec(rest);
    if (begun) {
      pending = begun[0];
      rest = rest.slice(0, begun.index);
    }
    return depth === 0 ? shown + rest : shown;
  };
  return { push, end: () => (depth === 0 ? pending : "") };
}

/** The longest accepted event of a stream. */
const MAX_EVENT_CHARACTERS = 4_000_000;

/** The data of a stream of server-sent events, one item for each event. Throws a `RangeError` if one is too long. */
export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, void> {
  const found: string[] = [];
  const reader = createServerSentEventReader({
    onData: (data) => found.push(data),
    maxLength: MAX_EVENT_CHARACTERS,
    onTooLong() {
      throw new RangeError("an event of the stream is too long");
    },
  });
  for await (const piece of body) {
    reader.take(piece);
    yield* found.splice(0);
  }
  reader.end();
  yield* found.splice(0);
}
