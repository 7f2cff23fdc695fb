import type { Message } from "./message.ts";

/** The field of metadata in which a reply names what it rests on: the message it answers first, then memories and passages. */
export const CITED_IDS_FIELD = "keepsake_rests_on";

/** What a reply that a model wrote rests on; empty for every other message. */
export function getCitedIds({
  role,
  metadata,
}: Partial<Pick<Message, "role" | "metadata">>): readonly string[] {
  const ids = role === "assistant" ? metadata?.[CITED_IDS_FIELD] : undefined;
  return Array.isArray(ids) ? ids.map(String) : [];
}

/** Whether it only says again what is known: then it is no source of its own, and search would find it in its place. */
export const isDerivedReply = (message: Partial<Pick<Message, "role" | "metadata">>): boolean =>
  getCitedIds(message).length > 1;
