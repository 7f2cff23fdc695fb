import type { CallOutcome, TokenUsage } from "../../domain/model-call.ts";
import { estimateTokens } from "../../domain/tokens.ts";
import type { Completion, Prompt } from "../../ports/language-model.ts";
import { isJsonObject, type JsonFields } from "./json.ts";
import { createShapeCheck, findJson, removeThoughts } from "./reading.ts";

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
