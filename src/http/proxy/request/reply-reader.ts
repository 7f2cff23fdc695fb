import type { TokenUsage } from "../../../domain/model-usage.ts";

/** A tool call by the model. */
export interface UpstreamToolCall {
  readonly id: string;
  readonly name: string;
  /** The raw text, which may not be JSON. */
  readonly arguments: string;
}

/** The model's reply, as far as it was received. */
export interface UpstreamReply {
  readonly text: string;
  readonly calls: readonly UpstreamToolCall[];
  /** Token usage, if the server reports it. */
  readonly usage?: TokenUsage;
  readonly model?: string;
  /** The response's id, from which a later request may continue. */
  readonly id?: string;
  /** The items of a complete response of the Responses API. */
  readonly items?: readonly unknown[];
  readonly isRefusal?: boolean;
  /** Whether the response is complete. */
  readonly isComplete: boolean;
}

/** Assembles a reply from one document or from events. Ignores unknown data. */
export interface ReplyReader {
  readDocument(value: unknown): void;
  readEvent(data: string): void;
  getReply(): UpstreamReply;
}

/** Maximum length of a stored reply in characters: that of a message. */
const MAX_TEXT_LENGTH = 900_000;

export function appendCapped(text: string, more: unknown): string {
  if (typeof more !== "string" || text.length >= MAX_TEXT_LENGTH) return text;
  return text + more.slice(0, MAX_TEXT_LENGTH - text.length);
}

export type BodyFields = { readonly [name: string]: unknown };

export function toFields(value: unknown): BodyFields {
  return typeof value === "object" && value !== null ? (value as BodyFields) : {};
}

export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Parses JSON; gives undefined if it is invalid. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads token usage by the field names of one interface. */
export function toUsage(usage: unknown, names: { in: string; out: string }): TokenUsage | undefined {
  const fields = toFields(usage);
  const [tokensIn, tokensOut] = [fields[names.in], fields[names.out]];
  if (typeof tokensIn !== "number" || typeof tokensOut !== "number") return undefined;
  const cached = toFields(fields[`${names.in}_details`]).cached_tokens;
  return { tokensIn, tokensOut, tokensCached: typeof cached === "number" ? cached : 0 };
}
