import type { CallPurpose, TokenUsage } from "../../domain/model-usage.ts";
import type { CallOptions } from "../call-options.ts";
import type { CircuitMonitor } from "./model-calls.ts";

/**
 * A language model: OpenAI's, or any that speaks its protocol. It never decides what is stored;
 * `engine/ingest/decide.ts` does.
 */
export interface LanguageModel {
  /** The name that its server knows: "gpt-4o-mini". */
  readonly name: string;
  /** The server's host, shown in messages and metrics: "api.openai.com". */
  readonly host: string;
  /**
   * Returns one answer. Throws `unavailable` if there is none after all retries, `over_quota` if a budget is
   * used up, and `invalid_input` if the server will never accept this prompt. An aborted signal rejects with
   * its reason.
   *
   * A refusal, a truncated answer and an answer in no usable form are answers: see `Completion`. Error
   * messages contain no user text.
   */
  complete(prompt: Prompt, options?: CallOptions): Promise<Completion>;
  /** Streams the text in parts; the return value is the complete answer. `shape` is ignored. */
  stream(prompt: Prompt, options?: CallOptions): AsyncGenerator<string, Completion, void>;
  /** The circuit breaker of its server. Absent for a model without one. */
  readonly circuit?: CircuitMonitor;
}

export interface Prompt {
  readonly purpose: CallPurpose;
  /** Content that stays the same between calls comes first, so that the provider can cache it. */
  readonly turns: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
  /**
   * The form of the answer: JSON Schema in OpenAI's strict subset (all properties required, no additional
   * ones).
   */
  readonly shape?: { readonly name: string; readonly schema: { readonly [key: string]: unknown } };
  readonly maxTokens?: number;
  /** The number of texts or turns it covers, for the ledger (default 1). */
  readonly units?: number;
}

export interface Completion {
  /** The text without the model's reasoning. */
  readonly text: string;
  /**
   * If a shape was requested: the parsed answer, unwrapped if necessary; undefined if it contains no JSON. It
   * is not validated against the shape.
   */
  readonly value?: unknown;
  readonly finish: "stop" | "length" | "refused";
  readonly usage: TokenUsage;
  /** The model that answered, in the server's words. */
  readonly model: string;
}
