import { withoutFences } from "../../../domain/fences.ts";
import { wrong } from "../problems.ts";
import { chatReply } from "../replies/chat-reply.ts";
import { type Fields, fieldsOf, listOf, type ReplyReader, textOf } from "../replies/reply.ts";
import { responsesReply } from "../replies/responses-reply.ts";

/** One turn of a request, whichever of the two interfaces it came by. */
export interface Said {
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
export interface Dialect {
  readonly name: "chat" | "responses";
  /** What a part of text is called in it. */
  readonly textPart: "text" | "input_text";
  /** In steps of a turn each: a long conversation is looked through while others have their turn. Refuses too many turns. */
  said(body: Fields): Generator<void, Said[], void>;
  /** What of the conversation the upstream keeps: the response or the conversation that this one goes on from. */
  kept(body: Fields): string | undefined;
  reader(): ReplyReader;
}

export const CHAT: Dialect = {
  name: "chat",
  textPart: "text",
  said: (body) =>
    eachTurn("messages", body.messages, (one, i) => {
      const { role, name, content } = fieldsOf(one);
      return {
        role: role === "user" || role === "assistant" ? role : "other",
        text: textIn(content),
        ...(typeof name === "string" ? { name } : {}),
        content,
        path: ["messages", i, "content"],
      };
    }),
  kept: () => undefined,
  reader: chatReply,
};

/** Items that the model made itself: it had its turn. */
const ITS_OWN = /^(?:reasoning|.*_call)$/;

export const RESPONSES: Dialect = {
  name: "responses",
  textPart: "input_text",
  *said(body) {
    const { input } = body;
    if (typeof input === "string")
      return [{ role: "user", text: textIn(input), content: input, path: ["input"] }];
    return yield* eachTurn("input", input, (one, i) => {
      const { type, role, content } = fieldsOf(one);
      const isModels = role === "assistant" || ITS_OWN.test(textOf(type));
      return {
        role: isModels ? "assistant" : role === "user" ? "user" : "other",
        text: textIn(content),
        content,
        path: ["input", i, "content"],
      };
    });
  },
  kept({ previous_response_id: previous, conversation }) {
    const id = typeof conversation === "string" ? conversation : fieldsOf(conversation).id;
    return textOf(previous) || textOf(id) || undefined;
  },
  reader: responsesReply,
};

/** Turns of one request. What is older than so many belongs in a summary; no model is told more of it. */
export const MOST_TURNS = 5000;

function* eachTurn(
  field: string,
  turns: unknown,
  read: (one: unknown, i: number) => Said,
): Generator<void, Said[], void> {
  const all = listOf(turns);
  if (all.length > MOST_TURNS)
    throw wrong(field, `${field} holds too many turns: at most ${MOST_TURNS.toLocaleString("en")}.`);
  const said: Said[] = [];
  for (const [i, one] of all.entries()) {
    yield;
    said.push(read(one, i));
  }
  return said;
}

const TEXTS: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

function textIn(content: unknown): string {
  const texts = listOf(content)
    .map(fieldsOf)
    .filter(({ type }) => TEXTS.has(type))
    .map(({ text }) => textOf(text));
  return withoutFences(typeof content === "string" ? content : texts.join("\n"));
}

/** What the user says in this request: all behind the assistant's last turn. Its numbers among the turns. */
export function freshIn(said: readonly Said[]): number[] {
  // An assistant's turn at the very end is the beginning of an answer that the model is to go on with.
  const end = said.findLastIndex(({ role }) => role !== "assistant");
  const begin = said.slice(0, end + 1).findLastIndex(({ role }) => role === "assistant");
  const fresh: number[] = [];
  for (let i = begin + 1; i <= end; i += 1) if (said[i]?.role === "user") fresh.push(i);
  return fresh;
}
