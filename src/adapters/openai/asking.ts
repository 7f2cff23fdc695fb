import type { Prompt } from "../../ports/language-model.ts";
import type { Call } from "./calling.ts";
import { estimated } from "./chat-answer.ts";
import type { Habits } from "./habits.ts";

/** What a model is asked, and how its server wants to be asked. */
export interface Asking {
  readonly model: string;
  readonly prompt: Prompt;
  readonly habits: Habits;
}

/** So often is a request made anew, otherwise, after a refusal. */
export const AMENDS = 4;

/** Tokens of an answer that nobody bounds. */
const USUAL_ANSWER = 1000;

export function callOf({ model, prompt }: Asking): Call {
  const { purpose, units = 1, maxTokens = USUAL_ANSWER } = prompt;
  return { purpose, model, units, tokensIn: estimated(prompt).tokensIn, tokensOut: maxTokens };
}
