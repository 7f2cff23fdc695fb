import type { Metadata } from "./filter.ts";

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
