import { runInSlices } from "../../../engine/in-slices.ts";
import { hashTurns } from "../memory/conversations.ts";
import { findNewTurns, type OpenAiDialect, type RequestTurn } from "./said.ts";
import type { ProxyRequest } from "./take.ts";

/** What is said in a request, whichever interface it came by. */
export interface ConversationInput {
  readonly turns: readonly RequestTurn[];
  /** What of the conversation the upstream keeps. */
  readonly threadId: string | undefined;
  /** What the user says now, with the turn that each is. */
  readonly newTurns: readonly {
    readonly said: RequestTurn;
    readonly turn: string;
    readonly isOpening: boolean;
  }[];
  /** The same as one text. */
  readonly words: string;
  /** The user's newest words: those of now, or those that the model is still at work on, with tools. */
  readonly newest: { readonly text: string; readonly turn: string };
}

/** So many of the user's words without an answer between them are looked at; what stands before them is history. */
const MAX_NEW_TURNS = 100;

export async function readConversation(
  { body }: ProxyRequest,
  dialect: OpenAiDialect,
): Promise<ConversationInput> {
  const said = await runInSlices(dialect.parseTurns(body));
  const kept = dialect.findThreadId(body);
  const turns = await runInSlices(hashTurns(kept, said));
  const isBegun = kept !== undefined || said.some(({ role }) => role === "assistant");
  const first = said.findIndex(({ role }) => role === "user");
  const last = said.findLastIndex(({ role }) => role === "user");
  const fresh = findNewTurns(said)
    .slice(-MAX_NEW_TURNS)
    .flatMap((i) => {
      const one = said[i];
      return one ? [{ said: one, turn: turns[i] ?? "", isOpening: !isBegun && i === first }] : [];
    });
  const words = fresh.map(({ said: { text } }) => text).join("\n");
  const text = fresh.length > 0 ? words : (said[last]?.text ?? "");
  return { turns: said, threadId: kept, newTurns: fresh, words, newest: { text, turn: turns[last] ?? "" } };
}
