import type { Prompt } from "../../ports/language-model.ts";
import type { Call } from "./calling.ts";
import type { Habits } from "./habits.ts";

/** What a model is asked, and how its server wants to be asked. */
export interface Asking {
  readonly model: string;
  readonly prompt: Prompt;
  readonly habits: Habits;
}

/** So often is a request made anew, otherwise, after a refusal. */
export const AMENDS = 4;

export function callOf({ model, prompt }: Asking): Call {
  return { purpose: prompt.purpose, model, units: prompt.units ?? 1 };
}
