import type { SessionState } from "../../domain/conversation/session-state.ts";
import type { Message } from "../../domain/message.ts";
import type { Page, PageOptions } from "./listing-types.ts";

/** A conversation of the user, by the name given with its messages. */
export interface SessionSummary {
  /** The session's name. */
  readonly id: string;
  /** Number of messages. */
  readonly messages: number;
  /** When its first and last messages were said. */
  readonly from: string;
  /** When its last message was said (ISO 8601). */
  readonly to: string;
}

/** A page of a session's messages, in stored order unless another was asked for. */
export interface Session extends Page<SessionMessage> {
  /** The session's name. */
  readonly id: string;
}

/** Options of a page of a session's messages. */
export interface SessionPageOptions extends PageOptions {
  /** `oldest` (default) begins with the first message; `newest` begins with the last one, and goes back. */
  readonly sort?: "oldest" | "newest";
  /** The id of the message to begin with, itself included. Not together with `cursor`. */
  readonly startAt?: string;
}

/** A message of a session, as it is shown. */
export type SessionMessage = Pick<
  Message,
  "id" | "turn" | "role" | "name" | "content" | "parts" | "at" | "metadata"
>;

/** A message by itself, with the session that it was said in. */
export interface StoredMessage extends SessionMessage {
  /** Absent for a message without a session. */
  readonly session?: string;
}

/** A session to start. */
export interface NewSession extends SessionState {
  /** The session's name; default: a new one. */
  readonly id?: string;
}

/** The state of a session, with its times (ISO 8601). */
export interface ActiveSessionState extends SessionState {
  /** The session's name. */
  readonly id: string;
  /** When it was started. */
  readonly startedAt: string;
  /** When it was last changed, or when a message was said after that. */
  readonly lastAt: string;
  /** When it expires if nothing happens: a day after `lastAt`. */
  readonly expiresAt: string;
}
