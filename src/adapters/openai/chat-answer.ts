import type { Outcome, TokenUsage } from "../../domain/model-call.ts";
import { estimateTokens } from "../../domain/tokens.ts";
import type { Completion, Prompt } from "../../ports/language-model.ts";
import { type Fields, isObject } from "./json.ts";
import { fitsShape, jsonIn, withoutThoughts } from "./reading.ts";

/** What a server said, from one body or from the parts of a stream. */
export interface Said {
  content: string;
  /** Told apart from the answer by the server. */
  thoughts: string;
  isRefused: boolean;
  finish?: string;
  model?: string;
  usage?: Fields;
}

/** What an answer's body says; nothing where it is none. Servers that have trouble say so with a status of success, too. */
export function saidIn(body: unknown): Said | undefined {
  if (!isObject(body) || body.error) return undefined;
  const [choice] = Array.isArray(body.choices) ? body.choices : [];
  if (!isObject(choice)) return undefined;
  const message = isObject(choice.message) ? choice.message : choice;
  return {
    content: textOf(message.content ?? message.text),
    thoughts: textOf(message.reasoning_content ?? message.reasoning),
    isRefused: typeof message.refusal === "string" && message.refusal !== "",
    ...(typeof choice.finish_reason === "string" ? { finish: choice.finish_reason } : {}),
    ...(typeof body.model === "string" ? { model: body.model } : {}),
    ...(isObject(body.usage) ? { usage: body.usage } : {}),
  };
}

/** What one event of a stream tells; nothing where it tells of an error, or of nothing that is known. */
export function deltaIn(event: unknown): Said | undefined {
  if (!isObject(event) || event.error) return undefined;
  const [choice] = Array.isArray(event.choices) ? event.choices : [];
  const { delta, ...rest } = isObject(choice) ? choice : {};
  return saidIn({ ...event, choices: [{ ...rest, message: isObject(delta) ? delta : {} }] });
}

/** A text, or the texts of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("");
}

export function completionOf(said: Said, prompt: Prompt, model: string): Completion {
  const { shape } = prompt;
  const fits = shape && fitsShape(shape.schema);
  // Some servers put all that a model writes where its thoughts belong.
  const value = fits && (jsonIn(said.content, fits) ?? jsonIn(said.thoughts, fits));
  return {
    text: withoutThoughts(said.content),
    ...(value === undefined ? {} : { value }),
    finish: finishOf(said),
    usage: usageOf(said, prompt),
    model: said.model ?? model,
  };
}

function finishOf({ isRefused, finish }: Said): Completion["finish"] {
  if (isRefused || finish === "content_filter") return "refused";
  return finish === "length" || finish === "max_tokens" ? "length" : "stop";
}

/** How an answer is to be set down. */
export function outcomeOf(
  { finish, value }: Completion,
  { shape }: Prompt,
): Extract<Outcome, "ok" | "invalid" | "refused" | "cut"> {
  if (finish === "refused") return "refused";
  if (finish === "length") return "cut";
  return shape && !fitsShape(shape.schema)(value) ? "invalid" : "ok";
}

function usageOf({ usage = {}, content, thoughts }: Said, prompt: Prompt): TokenUsage {
  const { prompt_tokens: tokensIn, completion_tokens: tokensOut, prompt_tokens_details: details } = usage;
  if (!isCount(tokensIn)) return { ...estimated(prompt), tokensOut: estimateTokens(content + thoughts) };
  const cached = isObject(details) ? details.cached_tokens : usage.prompt_cache_hit_tokens;
  return {
    tokensIn,
    tokensCached: isCount(cached) ? Math.min(cached, tokensIn) : 0,
    tokensOut: isCount(tokensOut) ? tokensOut : estimateTokens(content + thoughts),
  };
}

/** A prompt that the provider's filter stopped. */
export function filtered(prompt: Prompt, model: string): Completion {
  return { text: "", finish: "refused", usage: estimated(prompt), model };
}

/** Of a prompt whose answer did not tell, or not yet, what it took. */
export function estimated({ turns }: Prompt): TokenUsage {
  const tokensIn = turns.reduce((sum, { content }) => sum + estimateTokens(content) + 4, 0);
  return { tokensIn, tokensCached: 0, tokensOut: 0, isEstimated: true };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
