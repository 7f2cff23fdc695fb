import type { Metadata } from "./metadata-filter.ts";

export type Role = "user" | "assistant" | "system" | "tool";

/** Who said it. Written once; nothing raises it later. */
export type Origin = "user_message" | "assistant_message" | "tool_result" | "document" | "import" | "api";

/** One piece of a message, in the shapes of OpenAI's chat API; what is not understood is kept as it came. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: string; readonly [field: string]: unknown };

/** One turn as it was said. No model ever changes it; only an erasure takes words out of it. */
export interface Message {
  /** The caller's id, unique within the user. */
  readonly id: string;
  /** Place in the order in which the user's messages were stored, from 1; the record gives it. */
  readonly turn: number;
  readonly session?: string;
  readonly agent?: string;
  readonly role: Role;
  /** Who speaks, where people talk among themselves. */
  readonly name?: string;
  /** The text: all text parts, joined by a line break. Spans of sources count in it. */
  readonly content: string;
  /** The parts as they came, where the message was more than one text. */
  readonly parts?: readonly Part[];
  readonly origin: Origin;
  /** When it was said (ISO 8601, UTC). */
  readonly at: string;
  /** The offset from UTC where it was said ("+08:00"), by which "yesterday" is told; UTC where absent. */
  readonly zone?: string;
  /** When it was stored (ISO 8601, UTC). */
  readonly storedAt: string;
  readonly metadata?: Metadata;
  /** False where it came with a key that may not erase: an order to forget in it is refused. */
  readonly mayErase?: false;
  /** `pending` until an extractor has read it; `never` where the caller asked for none. */
  readonly digest: "pending" | "done" | "never";
  /** On a pending one: true where what acts at once has read it already, and it waits for a model alone. */
  readonly heard?: boolean;
  /** True once `undo` took it back: kept for history, not searched. */
  readonly undone?: boolean;
}

/** The piece of a message that is searched: at most 512 tokens, 50 of overlap. */
export interface Passage {
  /** `<message id>#<number from 0>`. */
  readonly id: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

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
