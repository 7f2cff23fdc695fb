import type { TokenUsage } from "../../../domain/model-usage.ts";
import { extractText, type ProxyDialect, parseTurns, type RequestTurn } from "./dialects.ts";
import {
  appendCapped,
  type BodyFields,
  type ReplyReader,
  toArray,
  toFields,
  toText,
  tryParseJson,
  type UpstreamToolCall,
} from "./reply-reader.ts";

/** Anthropic's Messages API. https://docs.claude.com/en/api/messages */
export const MESSAGES_DIALECT: ProxyDialect = {
  name: "messages",
  provider: "anthropic",
  textPart: "text",
  profilePlace: "system",
  parseTurns: (body) =>
    parseTurns("messages", body.messages, (one, i) => {
      const { role, content } = toFields(one);
      const text = extractText(Array.isArray(content) ? content.filter(isSpoken) : content);
      return { role: findRole(role, content, text), text, content, path: ["messages", i, "content"] };
    }),
  findThreadId: () => undefined,
  createReader: createMessagesReader,
};

/** Results of tools are sent in a user's message. Without other words, the user has said nothing. */
function findRole(role: unknown, content: unknown, text: string): RequestTurn["role"] {
  if (role === "assistant") return "assistant";
  if (role !== "user") return "other";
  return text === "" && toArray(content).some(isToolResult) ? "other" : "user";
}

/** Whether a block is the result of a tool that ran at the client or at the provider. */
export function isToolResult(block: unknown): boolean {
  return toText(toFields(block).type).endsWith("tool_result");
}

/** Programs add their own notes to the user's words, in blocks of this form. */
const NOTE_BEGIN = "<system-reminder>";
const NOTE_END = "</system-reminder>";

function isSpoken(block: unknown): boolean {
  const text = toText(toFields(block).text).trim();
  return !(text.startsWith(NOTE_BEGIN) && text.endsWith(NOTE_END));
}

/** A content block of a reply, as far as it was received. */
interface ReplyBlock {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  /** The arguments of a tool call, as JSON. */
  readonly input: string;
}

/** Creates a reader of `/v1/messages`: the message, complete or in events. */
function createMessagesReader(): ReplyReader {
  let message: BodyFields = {};
  let usage: BodyFields = {};
  let stopReason = "";
  const blocks = new Map<unknown, ReplyBlock>();

  const begin = (fields: BodyFields): void => {
    message = fields;
    usage = toFields(fields.usage);
    stopReason = toText(fields.stop_reason);
    for (const [i, block] of toArray(fields.content).entries()) blocks.set(i, toReplyBlock(block));
  };
  const extend = (index: unknown, delta: BodyFields): void => {
    const before = blocks.get(index) ?? toReplyBlock(undefined);
    const text = appendCapped(before.text, delta.text);
    blocks.set(index, { ...before, text, input: appendCapped(before.input, delta.partial_json) });
  };
  return {
    readDocument: (value) => begin(toFields(value)),
    readEvent(data) {
      const event = toFields(tryParseJson(data));
      if (event.type === "message_start") begin(toFields(event.message));
      else if (event.type === "content_block_start") {
        // The arguments of a call follow in deltas; here they are always empty.
        blocks.set(event.index, { ...toReplyBlock(event.content_block), input: "" });
      } else if (event.type === "content_block_delta") extend(event.index, toFields(event.delta));
      else if (event.type === "message_delta") {
        stopReason = toText(toFields(event.delta).stop_reason) || stopReason;
        usage = { ...usage, ...dropNull(toFields(event.usage)) };
      }
    },
    getReply() {
      const all = [...blocks.values()];
      const tokens = toTokenUsage(usage);
      return {
        text: all
          .filter(({ type }) => type === "text")
          .reduce((text, one) => appendCapped(text, one.text), ""),
        calls: all.filter(({ type }) => type === "tool_use").map(toToolCall),
        isComplete: stopReason !== "",
        ...(tokens ? { usage: tokens } : {}),
        ...(typeof message.model === "string" ? { model: message.model } : {}),
        ...(typeof message.id === "string" ? { id: message.id } : {}),
        ...(stopReason === "refusal" ? { isRefusal: true } : {}),
      };
    },
  };
}

function toReplyBlock(block: unknown): ReplyBlock {
  const { type, id, name, text, input } = toFields(block);
  return {
    type: toText(type),
    id: toText(id),
    name: toText(name),
    text: appendCapped("", text),
    input: type === "tool_use" ? appendCapped("", JSON.stringify(input ?? {})) : "",
  };
}

function toToolCall({ id, name, input }: ReplyBlock): UpstreamToolCall {
  return { id, name, arguments: input === "" ? "{}" : input };
}

function dropNull(fields: BodyFields): BodyFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Anthropic counts cached tokens apart from the others. */
function toTokenUsage(usage: BodyFields): TokenUsage | undefined {
  const tokensOf = (name: string): number => (typeof usage[name] === "number" ? usage[name] : 0);
  if (typeof usage.input_tokens !== "number" || typeof usage.output_tokens !== "number") return undefined;
  const tokensCached = tokensOf("cache_read_input_tokens");
  return {
    tokensIn: usage.input_tokens + tokensOf("cache_creation_input_tokens") + tokensCached,
    tokensOut: usage.output_tokens,
    tokensCached,
  };
}
