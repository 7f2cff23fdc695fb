import type { CallPurpose, TokenUsage } from "../../domain/model-usage.ts";
import type { CallOptions } from "../call-options.ts";
import type { CircuitState } from "./model-calls.ts";

/** A model that writes: OpenAI's, or any of its protocol. It never decides what is stored; `engine/decide.ts` does. */
export interface LanguageModel {
  /** As its server is asked for it: "gpt-4o-mini". */
  readonly name: string;
  /** Its server's host, for people and metrics: "api.openai.com". */
  readonly host: string;
  /**
   * One answer. `unavailable` where none can be had now, after its tries; `over_quota` where a budget is used up;
   * `invalid_input` where it will never take this prompt; an aborted signal rejects with its reason. A refusal, an answer
   * that was cut and one in no usable form are answers: see `Completion`. No message holds a text.
   */
  complete(prompt: Prompt, options?: CallOptions): Promise<Completion>;
  /** The same, its text in parts as they come; what it returns at the end is the whole. A `shape` is not asked for here. */
  stream(prompt: Prompt, options?: CallOptions): AsyncGenerator<string, Completion, void>;
  /** Of one on a server: whether it is asked now. */
  circuit?(): CircuitState;
}

export interface Prompt {
  readonly purpose: CallPurpose;
  /** What stays the same from call to call comes first, so that the provider's cache keeps it. */
  readonly turns: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
  /** The form of the answer: JSON Schema in OpenAI's strict subset (all required, nothing additional). */
  readonly shape?: { readonly name: string; readonly schema: { readonly [key: string]: unknown } };
  readonly maxTokens?: number;
  /** How many texts or turns it is for; for the ledger (1). */
  readonly units?: number;
}

export interface Completion {
  /** Without what the model thought aloud. */
  readonly text: string;
  /** Where a shape was asked for: the answer parsed, from whatever it was wrapped in; undefined where there is no JSON in it. It is not checked against the shape. */
  readonly value?: unknown;
  readonly finish: "stop" | "length" | "refused";
  readonly usage: TokenUsage;
  /** The model that answered, as the server names it. */
  readonly model: string;
}
