import type { TokenUsage } from "../../../domain/model-call.ts";

/** A call of a tool, as the model asked for it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As it was written, which need not be JSON. */
  readonly arguments: string;
}

/** What the model answered, as far as it came. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Where the server says. */
  readonly usage?: TokenUsage;
  readonly model?: string;
  /** The answer's id, by which a later request may go on from it. */
  readonly id?: string;
  readonly isRefusal?: boolean;
  /** Whether the answer came to its end. */
  readonly isWhole: boolean;
}

/** Puts a reply together, from one document or from the data of events. What it does not know it passes over. */
export interface ReplyReader {
  document(value: unknown): void;
  event(data: string): void;
  reply(): Reply;
}

/** So much of a reply is kept, in characters: what a message may hold. */
const MOST_TEXT = 900_000;

export function capped(text: string, more: unknown): string {
  if (typeof more !== "string" || text.length >= MOST_TEXT) return text;
  return text + more.slice(0, MOST_TEXT - text.length);
}

export type Fields = { readonly [name: string]: unknown };

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value of a JSON text; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tokens under the names that one of the two interfaces gives them. */
export function usageOf(usage: unknown, names: { in: string; out: string }): TokenUsage | undefined {
  const fields = fieldsOf(usage);
  const [tokensIn, tokensOut] = [fields[names.in], fields[names.out]];
  if (typeof tokensIn !== "number" || typeof tokensOut !== "number") return undefined;
  const cached = fieldsOf(fields[`${names.in}_details`]).cached_tokens;
  return { tokensIn, tokensOut, tokensCached: typeof cached === "number" ? cached : 0 };
}
