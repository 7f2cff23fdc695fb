import type { CallOutcome, TokenUsage } from "../../domain/model-usage.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import type { Completion, Prompt } from "../../ports/language/language-model.ts";
import { isJsonObject, type JsonFields, parseJson, parseLenientJson } from "./lenient-json.ts";

/** What a server said, from one body or from the parts of a stream. */
export interface ChatAnswer {
  content: string;
  /** Told apart from the answer by the server. */
  thoughts: string;
  isRefused: boolean;
  finish?: string;
  model?: string;
  usage?: JsonFields;
}

/** What an answer's body says; nothing where it is none. Servers that have trouble say so with a status of success, too. */
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

/** What one event of a stream tells; nothing where it tells of an error, or of nothing that is known. */
export function parseChatDelta(event: unknown): ChatAnswer | undefined {
  if (!isJsonObject(event) || event.error) return undefined;
  const [choice] = Array.isArray(event.choices) ? event.choices : [];
  const { delta, ...rest } = isJsonObject(choice) ? choice : {};
  return parseChatAnswer({ ...event, choices: [{ ...rest, message: isJsonObject(delta) ? delta : {} }] });
}

/** A text, or the texts of a list of parts. */
function joinText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isJsonObject(part) && typeof part.text === "string" ? part.text : ""))
    .join("");
}

export function toCompletion(said: ChatAnswer, prompt: Prompt, model: string): Completion {
  const { shape } = prompt;
  const fits = shape && createShapeCheck(shape.schema);
  // Some servers put all that a model writes where its thoughts belong.
  const value = fits && (findJson(said.content, fits) ?? findJson(said.thoughts, fits));
  return {
    text: removeThoughts(said.content),
    ...(value === undefined ? {} : { value }),
    finish: toFinish(said),
    usage: toUsage(said, prompt),
    model: said.model ?? model,
  };
}

function toFinish({ isRefused, finish }: ChatAnswer): Completion["finish"] {
  if (isRefused || finish === "content_filter") return "refused";
  return finish === "length" || finish === "max_tokens" ? "length" : "stop";
}

/** How an answer is to be set down. */
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

/** A prompt that the provider's filter stopped. */
export function createFilteredCompletion(prompt: Prompt, model: string): Completion {
  return { text: "", finish: "refused", usage: estimateUsage(prompt), model };
}

/** Of a prompt whose answer did not tell, or not yet, what it took. */
export function estimateUsage({ turns }: Prompt): TokenUsage {
  const tokensIn = turns.reduce((sum, { content }) => sum + estimateTokens(content) + 4, 0);
  return { tokensIn, tokensCached: 0, tokensOut: 0, isEstimated: true };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** So much of an answer is looked at; more than this no model writes. */
const MAX_ANSWER_CHARACTERS = 400_000;
/** So many places where JSON might begin are tried. */
const MAX_JSON_STARTS = 60;

/** How models mark what they think aloud. */
const THOUGHT_MARKS = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/gi;

/** An answer without what the model thought aloud; nothing of one that never ends to think. */
export function removeThoughts(text: string): string {
  let rest = "";
  let depth = 0;
  let from = 0;
  for (const mark of text.matchAll(THOUGHT_MARKS)) {
    if (depth === 0) rest += text.slice(from, mark.index);
    from = mark.index + mark[0].length;
    if (mark[1] === "") depth += 1;
    // Some templates open the thought themselves, so that the answer holds its end alone.
    else if (depth === 0) rest = "";
    else depth -= 1;
  }
  return (depth === 0 ? rest + text.slice(from) : rest).trim();
}

/**
 * The JSON of an answer, out of whatever it is wrapped in: thoughts, a fence, words before and after, an escaped text. Of
 * several the first that is what was asked for, else the first. Nothing where there is none. Never throws.
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
  const whole = parseJson(text.trim());
  if (typeof whole === "string") {
    // JSON in a text of JSON.
    const inner = parseJson(whole);
    if (typeof inner === "object" && inner !== null) yield inner;
  } else if (typeof whole === "object" && whole !== null) {
    yield whole;
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

/** Whether an answer has what a JSON Schema requires at its top; it is not checked further. */
export function createShapeCheck(schema: { readonly [key: string]: unknown }): (value: unknown) => boolean {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return (value) => isJsonObject(value) && required.every((name) => Object.hasOwn(value, name));
}

const THOUGHT_MARK = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/i;
/** What may be the beginning of a mark, at the end of a part. */
const PARTIAL_THOUGHT_MARK = /<\/?[a-z]{0,10}$/i;

/** Leaves out of a text that comes in parts what stands between marks of thinking aloud. */
export function createThoughtFilter(): { push(part: string): string; end(): string } {
  let held = "";
  let depth = 0;
  const push = (part: string): string => {
    let rest = held + part;
    let shown = "";
    held = "";
    for (let mark = THOUGHT_MARK.exec(rest); mark; mark = THOUGHT_MARK.exec(rest)) {
      if (depth === 0) shown += rest.slice(0, mark.index);
      depth = Math.max(0, depth + (mark[1] === "" ? 1 : -1));
      rest = rest.slice(mark.index + mark[0].length);
    }
    const begun = PARTIAL_THOUGHT_MARK.exec(rest);
    if (begun) {
      held = begun[0];
      rest = rest.slice(0, begun.index);
    }
    return depth === 0 ? shown + rest : shown;
  };
  return { push, end: () => (depth === 0 ? held : "") };
}

/** Longer than this no line of a stream is. */
const MAX_LINE_CHARACTERS = 4_000_000;

/**
 * The data of a stream of server-sent events (HTML Living Standard, 9.2), one for each event, wherever the pieces were cut.
 * Comments and other fields are passed over; an event without its empty line at the end of the stream counts.
 */
export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, void> {
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    if (line !== "" || data.length === 0) continue;
    yield data.join("\n");
    data = [];
  }
  if (data.length > 0) yield data.join("\n");
}

async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    if (rest.length > MAX_LINE_CHARACTERS) throw new RangeError("a line of the stream has no end");
    // A carriage return at the end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield* (rest + decoder.decode()).split(/\r\n|\n|\r/);
}
