import type { Message } from "./message.ts";

/** The field of metadata in which a reply names what it rests on: the message it answers first, then memories and passages. */
export const RESTS_ON = "keepsake_rests_on";

/** What a reply that a model wrote rests on; empty for every other message. */
export function restsOn({ role, metadata }: Partial<Pick<Message, "role" | "metadata">>): readonly string[] {
  const ids = role === "assistant" ? metadata?.[RESTS_ON] : undefined;
  return Array.isArray(ids) ? ids.map(String) : [];
}

/** Whether it only says again what is known: then it is no source of its own, and search would find it in its place. */
export const isEcho = (message: Partial<Pick<Message, "role" | "metadata">>): boolean =>
  restsOn(message).length > 1;
