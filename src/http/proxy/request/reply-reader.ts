import type { TokenUsage } from "../../../domain/model-usage.ts";

/** A call of a tool, as the model asked for it. */
export interface UpstreamToolCall {
  readonly id: string;
  readonly name: string;
  /** As it was written, which need not be JSON. */
  readonly arguments: string;
}

/** What the model answered, as far as it came. */
export interface UpstreamReply {
  readonly text: string;
  readonly calls: readonly UpstreamToolCall[];
  /** Where the server says. */
  readonly usage?: TokenUsage;
  readonly model?: string;
  /** The answer's id, by which a later request may go on from it. */
  readonly id?: string;
  readonly isRefusal?: boolean;
  /** Whether the answer came to its end. */
  readonly isComplete: boolean;
}

/** Puts a reply together, from one document or from the data of events. What it does not know it passes over. */
export interface ReplyReader {
  readDocument(value: unknown): void;
  readEvent(data: string): void;
  getReply(): UpstreamReply;
}

/** So much of a reply is kept, in characters: what a message may hold. */
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

/** The value of a JSON text; undefined where it is none. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tokens under the names that one of the two interfaces gives them. */
export function toUsage(usage: unknown, names: { in: string; out: string }): TokenUsage | undefined {
  const fields = toFields(usage);
  const [tokensIn, tokensOut] = [fields[names.in], fields[names.out]];
  if (typeof tokensIn !== "number" || typeof tokensOut !== "number") return undefined;
  const cached = toFields(fields[`${names.in}_details`]).cached_tokens;
  return { tokensIn, tokensOut, tokensCached: typeof cached === "number" ? cached : 0 };
}

/**
 * Reads server-sent events from bytes as they come (WHATWG HTML, 9.2): gives the data of each event that is whole. More than
 * `LONGEST` of one event is given up: nobody sends that, and it would be held here.
 */
export function createEventReader(onData: (data: string) => void): { take(bytes: Uint8Array): void } {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  const line = (text: string): void => {
    if (text === "") {
      if (data.length > 0) onData(data.join("\n"));
      data = [];
    } else if (text.startsWith("data:")) data.push(text.slice(text[5] === " " ? 6 : 5));
  };
  return {
    take(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      let from = 0;
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
        line(rest.slice(from, rest[end - 1] === "\r" ? end - 1 : end));
        from = end + 1;
      }
      rest = rest.slice(from);
      if (rest.length > MAX_LINE_LENGTH) rest = "";
    },
  };
}

/** Characters of one line: the last event of a response holds all of it again. */
const MAX_LINE_LENGTH = 32_000_000;
