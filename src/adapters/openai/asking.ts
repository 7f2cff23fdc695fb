import type { Prompt } from "../../ports/language-model.ts";
import type { ServerCall } from "./calling.ts";
import { estimateUsage } from "./chat-answer.ts";
import type { ServerCapabilities } from "./habits.ts";

/** What a model is asked, and how its server wants to be asked. */
export interface ChatCompletionRequest {
  readonly model: string;
  readonly prompt: Prompt;
  readonly capabilities: ServerCapabilities;
}

/** So often is a request made anew, otherwise, after a refusal. */
export const MAX_AMENDMENTS = 4;

/** Tokens of an answer that nobody bounds. */
const DEFAULT_ANSWER_TOKENS = 1000;

export function toServerCall({ model, prompt }: ChatCompletionRequest): ServerCall {
  const { purpose, units = 1, maxTokens = DEFAULT_ANSWER_TOKENS } = prompt;
  return { purpose, model, units, tokensIn: estimateUsage(prompt).tokensIn, tokensOut: maxTokens };
}
