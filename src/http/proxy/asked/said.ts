import { stripPromptBlocks } from "../../../domain/fences.ts";
import { refuseField } from "../problems.ts";
import { createChatReader } from "../replies/chat-reply.ts";
import { type BodyFields, type ReplyReader, toArray, toFields, toText } from "../replies/reply.ts";
import { createResponsesReader } from "../replies/responses-reply.ts";

/** One turn of a request, whichever of the two interfaces it came by. */
export interface RequestTurn {
  /** `other`: orders of the program, and results of tools. */
  readonly role: "user" | "assistant" | "other";
  /** All its text, without what came out of a memory. */
  readonly text: string;
  readonly name?: string;
  /** As it stands in the request: text, or parts. */
  readonly content: unknown;
  /** Where that stands in the body. */
  readonly path: readonly (string | number)[];
}

/** One of OpenAI's two interfaces for conversations. */
export interface OpenAiDialect {
  readonly name: "chat" | "responses";
  /** What a part of text is called in it. */
  readonly textPart: "text" | "input_text";
  /** In steps of a turn each: a long conversation is looked through while others have their turn. Refuses too many turns. */
  parseTurns(body: BodyFields): Generator<void, RequestTurn[], void>;
  /** What of the conversation the upstream keeps: the response or the conversation that this one goes on from. */
  findThreadId(body: BodyFields): string | undefined;
  createReader(): ReplyReader;
}

export const CHAT_DIALECT: OpenAiDialect = {
  name: "chat",
  textPart: "text",
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

/** Items that the model made itself: it had its turn. */
const MODEL_ITEM_TYPE = /^(?:reasoning|.*_call)$/;

export const RESPONSES_DIALECT: OpenAiDialect = {
  name: "responses",
  textPart: "input_text",
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

/** Turns of one request. What is older than so many belongs in a summary; no model is told more of it. */
export const MAX_TURNS = 5000;

function* parseTurns(
  field: string,
  turns: unknown,
  read: (one: unknown, i: number) => RequestTurn,
): Generator<void, RequestTurn[], void> {
  const all = toArray(turns);
  if (all.length > MAX_TURNS)
    throw refuseField(field, `${field} holds too many turns: at most ${MAX_TURNS.toLocaleString("en")}.`);
  const said: RequestTurn[] = [];
  for (const [i, one] of all.entries()) {
    yield;
    said.push(read(one, i));
  }
  return said;
}

const TEXT_PART_TYPES: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

function extractText(content: unknown): string {
  const texts = toArray(content)
    .map(toFields)
    .filter(({ type }) => TEXT_PART_TYPES.has(type))
    .map(({ text }) => toText(text));
  return stripPromptBlocks(typeof content === "string" ? content : texts.join("\n"));
}

/** What the user says in this request: all behind the assistant's last turn. Its numbers among the turns. */
export function findNewTurns(said: readonly RequestTurn[]): number[] {
  // An assistant's turn at the very end is the beginning of an answer that the model is to go on with.
  const end = said.findLastIndex(({ role }) => role !== "assistant");
  const begin = said.slice(0, end + 1).findLastIndex(({ role }) => role === "assistant");
  const fresh: number[] = [];
  for (let i = begin + 1; i <= end; i += 1) if (said[i]?.role === "user") fresh.push(i);
  return fresh;
}
