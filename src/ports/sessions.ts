import type { Role } from "../domain/message.ts";
import type { CallOptions } from "./call.ts";

/**
 * Short-term memory: what was said last in a conversation, for a day after its last word. It is a copy: the record has
 * the messages. What it cannot give now is read from there.
 */
export interface Sessions {
  /** Shown in messages: "memory", "redis". */
  readonly name: string;

  /** Adds messages at the end and keeps the newest 100; a message of an id that is there takes its place. Starts the 24 hours anew. */
  append(of: SessionOf, messages: readonly SessionTurn[], options?: CallOptions): Promise<void>;

  /** The newest messages, oldest first, at most `limit`; nothing of a session that is over. It does not start the 24 hours anew. */
  recent(of: SessionOf, options: CallOptions & { readonly limit: number }): Promise<SessionTurn[]>;

  /** The user's sessions that are not over, the one with the last word first. */
  active(of: Omit<SessionOf, "session">, options?: CallOptions): Promise<ActiveSession[]>;

  /** Ends a session: nothing of it is left. */
  end(of: SessionOf, options?: CallOptions): Promise<void>;

  /**
   * Takes everything of a user away, or some messages wherever they stand, and says how many messages those were: before
   * the receipt of an erasure is given.
   */
  erase(
    of: Omit<SessionOf, "session">,
    what: "everything" | { readonly messages: readonly string[] },
    options?: CallOptions,
  ): Promise<number>;

  /** Drops what is over and was not dropped by itself, of everybody; says how many sessions those were. */
  cleanUp(options?: CallOptions): Promise<number>;

  /** What it takes and may take, in bytes, where that is known. */
  room(options?: CallOptions): Promise<{ readonly bytes: number; readonly most?: number }>;

  close(): Promise<void>;
}

/** A session of a user of a project. */
export interface SessionOf {
  readonly project: string;
  readonly user: string;
  readonly session: string;
}

export interface SessionTurn {
  /** The message's id. */
  readonly id: string;
  readonly role: Role;
  readonly name?: string;
  readonly content: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface ActiveSession {
  readonly session: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly lastAt: string;
  /** All that were ever appended, the dropped ones as well. */
  readonly messages: number;
}
