import type { TokenUsage } from "../../../domain/model-usage.ts";
import { stripPromptBlocks } from "../../../domain/text/prompt-safety.ts";
import { refuseField } from "../../problem.ts";
import {
  appendCapped,
  type BodyFields,
  type ReplyReader,
  toArray,
  toFields,
  toText,
  toUsage,
  tryParseJson,
  type UpstreamToolCall,
} from "./reply-reader.ts";

/** The providers whose protocols the proxy speaks. */
export type ProviderName = "openai" | "anthropic";

/** One turn of a request, from any interface. */
export interface RequestTurn {
  /** `other`: system instructions and tool results. */
  readonly role: "user" | "assistant" | "other";
  /** The text without injected memory. */
  readonly text: string;
  readonly name?: string;
  /** The content in the request: text or parts. */
  readonly content: unknown;
  /** The path of the content in the body. */
  readonly path: readonly (string | number)[];
}

/** One of the chat interfaces of the providers. */
export interface ProxyDialect {
  readonly name: "chat" | "responses" | "messages";
  readonly provider: ProviderName;
  /** The type of a text part. */
  readonly textPart: "text" | "input_text";
  /** Where the profile is added: before the user's first turn, or at the end of the member `system`. */
  readonly profilePlace: "first turn" | "system";
  /** Parses one turn per step, so that a long conversation does not block other requests. Throws if there are too many turns. */
  parseTurns(body: BodyFields): Generator<void, RequestTurn[], void>;
  /** Gives the id of the stored response or conversation from which this request continues. */
  findThreadId(body: BodyFields): string | undefined;
  createReader(): ReplyReader;
}

export const CHAT_DIALECT: ProxyDialect = {
  name: "chat",
  provider: "openai",
  textPart: "text",
  profilePlace: "first turn",
  parseTurns: (body) =>
    parseTurns("messages", body.messages, (one, i) => {
      const { role, name, content } = toFields(one);
      return {
        role: role === "user" || role === "assistant" ? role : "other",
        text: extractText(content),
        ...(typeof name === "string" ? { name } : {}),
        content,
        path: ["messages", i, "content"],
      };
    }),
  findThreadId: () => undefined,
  createReader: createChatReader,
};

/** Items created by the model: they are its turns. */
const MODEL_ITEM_TYPE = /^(?:reasoning|.*_call)$/;

export const RESPONSES_DIALECT: ProxyDialect = {
  name: "responses",
  provider: "openai",
  textPart: "input_text",
  profilePlace: "first turn",
  *parseTurns(body) {
    const { input } = body;
    if (typeof input === "string")
      return [{ role: "user", text: extractText(input), content: input, path: ["input"] }];
    return yield* parseTurns("input", input, (one, i) => {
      const { type, role, content } = toFields(one);
      const isModels = role === "assistant" || MODEL_ITEM_TYPE.test(toText(type));
      return {
        role: isModels ? "assistant" : role === "user" ? "user" : "other",
        text: extractText(content),
        content,
        path: ["input", i, "content"],
      };
    });
  },
  findThreadId({ previous_response_id: previous, conversation }) {
    const id = typeof conversation === "string" ? conversation : toFields(conversation).id;
    return toText(previous) || toText(id) || undefined;
  },
  createReader: createResponsesReader,
};

/** Maximum number of turns in a request. No model is given more; older ones belong in a summary. */
const MAX_TURNS = 5000;

export function* parseTurns(
  field: string,
  turns: unknown,
  read: (one: unknown, i: number) => RequestTurn,
): Generator<void, RequestTurn[], void> {
  const all = toArray(turns);
  if (all.length > MAX_TURNS)
    throw refuseField(field, `${field} contains too many turns: at most ${MAX_TURNS.toLocaleString("en")}.`);
  const said: RequestTurn[] = [];
  for (const [i, one] of all.entries()) {
    yield;
    said.push(read(one, i));
  }
  return said;
}

const TEXT_PART_TYPES: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

/** Gives the text of a content, without injected memory and other parts. */
export function extractText(content: unknown): string {
  const texts = toArray(content)
    .map(toFields)
    .filter(({ type }) => TEXT_PART_TYPES.has(type))
    .map(({ text }) => toText(text));
  return stripPromptBlocks(typeof content === "string" ? content : texts.join("\n"));
}

/** Gives the indexes of the user's new turns: all after the assistant's last turn. */
export function findNewTurns(said: readonly RequestTurn[]): number[] {
  // An assistant's turn at the end is the beginning of an answer for the model to continue.
  const end = said.findLastIndex(({ role }) => role !== "assistant");
  const begin = said.slice(0, end + 1).findLastIndex(({ role }) => role === "assistant");
  const fresh: number[] = [];
  for (let i = begin + 1; i <= end; i += 1) if (said[i]?.role === "user") fresh.push(i);
  return fresh;
}

/** Creates a reader of `/v1/chat/completions`: the first choice, complete or in chunks. */
function createChatReader(): ReplyReader {
  let text = "";
  let refusal = "";
  let usage: TokenUsage | undefined;
  let model: string | undefined;
  let id: string | undefined;
  let isWhole = false;
  const calls = new Map<unknown, UpstreamToolCall>();

  const take = (said: unknown): void => {
    const { content, refusal: refused, tool_calls } = toFields(said);
    text = appendCapped(text, content);
    refusal = appendCapped(refusal, refused);
    for (const [i, call] of toArray(tool_calls).entries()) {
      const fields = toFields(call);
      const { name, arguments: given } = toFields(fields.function);
      const key = fields.index ?? i;
      const before = calls.get(key) ?? { id: "", name: "", arguments: "" };
      calls.set(key, {
        id: before.id || toText(fields.id),
        name: before.name + toText(name),
        arguments: appendCapped(before.arguments, given),
      });
    }
  };
  const document = (value: unknown): void => {
    const fields = toFields(value);
    usage = toUsage(fields.usage, { in: "prompt_tokens", out: "completion_tokens" }) ?? usage;
    model ??= toText(fields.model) || undefined;
    id ??= toText(fields.id) || undefined;
    const first = toArray(fields.choices).find((choice) => (toFields(choice).index ?? 0) === 0);
    const choice = toFields(first);
    take(choice.delta ?? choice.message);
    if (typeof choice.finish_reason === "string") isWhole = true;
  };
  return {
    readDocument: document,
    readEvent: (data) => document(tryParseJson(data)),
    getReply: () => ({
      text: text || refusal,
      calls: [...calls.values()],
      isComplete: isWhole,
      ...(usage ? { usage } : {}),
      ...(model === undefined ? {} : { model }),
      ...(id === undefined ? {} : { id }),
      ...(refusal && !text ? { isRefusal: true } : {}),
    }),
  };
}

/**
 * Creates a reader of `/v1/responses`. In a stream the last event contains the whole response; earlier parts matter only if
 * the stream was cut.
 */
function createResponsesReader(): ReplyReader {
  let response = toFields(undefined);
  let cut = "";

  const event = (data: string): void => {
    const { type, delta, response: held } = toFields(tryParseJson(data));
    if (type === "response.output_text.delta" || type === "response.refusal.delta")
      cut = appendCapped(cut, delta);
    else if (held !== undefined) response = toFields(held);
  };
  return {
    readEvent: event,
    readDocument(value) {
      response = toFields(value);
    },
    getReply() {
      const { id, model, status } = response;
      const items = toArray(response.output).map(toFields);
      const parts = items.flatMap(({ type, content }) => (type === "message" ? toArray(content) : []));
      const said = parts.map(toFields).map((part) => toText(part.text) || toText(part.refusal));
      const calls = items
        .filter(({ type }) => type === "function_call")
        .map((call) => ({
          id: toText(call.call_id),
          name: toText(call.name),
          arguments: toText(call.arguments),
        }));
      const usage = toUsage(response.usage, { in: "input_tokens", out: "output_tokens" });
      const text = said.join("");
      return {
        text: appendCapped("", text === "" ? cut : text),
        calls,
        isComplete: status === "completed" || status === "incomplete",
        ...(Array.isArray(response.output) ? { items: response.output } : {}),
        ...(usage ? { usage } : {}),
        ...(typeof model === "string" ? { model } : {}),
        ...(typeof id === "string" ? { id } : {}),
        ...(parts.length > 0 && parts.every((part) => toFields(part).type === "refusal")
          ? { isRefusal: true }
          : {}),
      };
    },
  };
}
