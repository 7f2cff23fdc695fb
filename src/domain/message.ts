import type { Metadata } from "./filters/metadata-filter.ts";

/** The author's role in a conversation. */
export type Role = "user" | "assistant" | "system" | "tool";

/** The author. Set once; nothing raises it later. */
export type Origin = "user_message" | "assistant_message" | "tool_result" | "document" | "import" | "api";
export const ORIGINS: readonly Origin[] = [
  "user_message",
  "assistant_message",
  "tool_result",
  "document",
  "import",
  "api",
];

/** One part of a message, in the shapes of OpenAI's chat API. Unknown parts are kept unchanged. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: string; readonly [field: string]: unknown };

/** One turn of a conversation. No model ever changes it; only an erasure removes words from it. */
export interface Message {
  /** The caller's id, unique within the user. */
  readonly id: string;
  /** Position in the order in which the user's messages were stored, from 1. The memory store assigns it. */
  readonly turn: number;
  /** The session that it was said in. */
  readonly session?: string;
  /** The agent that it was said to. */
  readonly agent?: string;
  /** The author's role. */
  readonly role: Role;
  /** The speaker, in a conversation among several people. */
  readonly name?: string;
  /** The text: all text parts, joined by line breaks. Spans of sources refer to it. */
  readonly content: string;
  /** The original parts, if the message was more than one text. */
  readonly parts?: readonly Part[];
  /** The author of the words. */
  readonly origin: Origin;
  /** When it was said (ISO 8601, UTC). */
  readonly at: string;
  /** The UTC offset of the place where it was said ("+08:00"). It defines "yesterday". UTC if absent. */
  readonly zone?: string;
  /** When it was stored (ISO 8601, UTC). */
  readonly storedAt: string;
  /** Fields of the caller's own. */
  readonly metadata?: Metadata;
  /** False if it came with a key that may not erase; a request to forget in it is then refused. */
  readonly mayErase?: false;
  /** `pending` until an extractor has read it; `never` if the caller asked for none. */
  readonly digest: "pending" | "done" | "never";
  /**
   * For a pending message: true if the immediate extractor has read it, and only the model's reading is
   * missing.
   */
  readonly heard?: boolean;
  /** True after `undo`: kept for history, not searched. */
  readonly undone?: boolean;
}

/** The searchable piece of a message: at most 512 tokens, 50 of them shared with its neighbour. */
export interface Passage {
  /** `<message id>#<number from 0>`. */
  readonly id: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The metadata field in which a reply names its sources: first the message it answers, then memories and
 * passages.
 */
export const CITED_IDS_FIELD = "keepsake_rests_on";

/** The ids that a model's reply is based on. Empty for every other message. */
export function getCitedIds({
  role,
  metadata,
}: Partial<Pick<Message, "role" | "metadata">>): readonly string[] {
  const ids = role === "assistant" ? metadata?.[CITED_IDS_FIELD] : undefined;
  return Array.isArray(ids) ? ids.map(String) : [];
}

/**
 * Whether a message only repeats what is known. It is then no source of its own, and search returns the
 * original instead.
 */
export const isDerivedReply = (message: Partial<Pick<Message, "role" | "metadata">>): boolean =>
  getCitedIds(message).length > 1;
