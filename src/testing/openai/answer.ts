import type { Received, Reply, RichReply, ToolCall } from "./script.ts";
import type { TokenCounts } from "./usage.ts";

/** What goes back: JSON, or the frames of a stream, each as it stands on the wire. */
export type OpenaiAnswer =
  | { readonly status: number; readonly body: { readonly [field: string]: unknown } }
  | { readonly frames: readonly string[] };

/** Everything that an answer is made of. */
export interface AnswerContext {
  readonly request: Received;
  readonly replies: readonly RichReply[];
  /** Counts from 1 on: ids and times are made of it, so that they are the same in each run. */
  readonly number: number;
  readonly usage: TokenCounts;
}

export const toRichReply = (reply: Reply): RichReply => (typeof reply === "string" ? { text: reply } : reply);

/** A reply as one text, for counting. */
export const toWrittenText = ({
  text = "",
  refusal = "",
  reasoning = "",
  toolCalls = [],
}: RichReply): string =>
  [text, refusal, reasoning, ...toolCalls.flatMap((call) => [call.name, formatArguments(call)])].join("");

export const formatArguments = (call: ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

/** The text as a stream brings it: at each word, unless the script cuts it otherwise. */
export const listParts = ({ text = "", parts }: RichReply): readonly string[] =>
  parts ?? text.match(/\s*\S+|\s+$/g) ?? [];

/** A text in two or more pieces, as arguments of tools come. */
export const splitText = (text: string): string[] => text.match(/[\s\S]{1,12}/g) ?? [];

/** Seconds since 1970: a fixed day, and a second for each request. */
export const toCreatedTime = (number: number): number => 1_767_225_600 + number;

const DATED: { readonly [model: string]: string } = {
  "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
  "gpt-4o": "gpt-4o-2024-08-06",
  "gpt-4.1-mini": "gpt-4.1-mini-2025-04-14",
};

/** The model as the server names it in its answers. */
export const toDatedName = (model: unknown): string => DATED[String(model)] ?? String(model);

/** An error in OpenAI's shape. */
export function createRefusal(
  status: number,
  message: string,
  code: string | null = null,
  parameter: string | null = null,
): OpenaiAnswer {
  return { status, body: { error: { message, type: errorType(status, code), param: parameter, code } } };
}

function errorType(status: number, code: string | null): string {
  if (status === 429) return code === "insufficient_quota" ? "insufficient_quota" : "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
