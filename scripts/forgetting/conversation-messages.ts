// The messages of the files of conversations, for the scripts that fit what tells which clauses a request means.
import type { Message } from "../../src/domain/message.ts";

/** A line as the memory would store it: by whom (">", "A>", "Name>" or "!"), its text, and how many came before it. */
export function toMessage(by: string, content: string, count: number): Message {
  const who = by.replace(/[>!]/, "");
  const at = new Date(Date.parse("2026-03-02T10:00:00Z") + count * 120_000).toISOString();
  return {
    id: `m${count}`,
    turn: count + 1,
    role: who === "A" ? "assistant" : "user",
    ...(who === "" || who === "A" ? {} : { name: who }),
    content,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "done",
    session: "s",
  } as Message;
}
