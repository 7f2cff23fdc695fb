import type { Role } from "../domain/message.ts";
import type { CallOptions } from "./call-options.ts";

/**
 * Short-term memory: what was said last in a conversation, for a day after its last word. It is a copy: the record has
 * the messages. What it cannot give now is read from there, and what it gives is held against it.
 *
 * Every call but `name` may fail with `unavailable` (not to be reached now, too slow, or full) or `forbidden` (the
 * credentials are wrong), and does so within the adapter's deadline. Times are the store's own where several servers share it.
 */
export interface Sessions {
  /** Shown in messages: "memory", "redis". */
  readonly name: string;

  /**
   * Adds messages at the end and keeps the newest 100; a message of an id that is there takes its place. Starts the 24 hours
   * anew. `revision` is the user's, of when they were stored: where something was erased at a later one, nothing is kept.
   */
  append(
    of: SessionOf,
    messages: readonly SessionTurn[],
    options?: CallOptions & { readonly revision?: number },
  ): Promise<void>;

  /** The newest messages, oldest first, at most `limit`; nothing of a session that is over. It does not start the 24 hours anew. */
  recent(of: SessionOf, options: CallOptions & { readonly limit: number }): Promise<SessionTurn[]>;

  /**
   * The user's sessions that are not over, the one with the last word first, at most `MOST_ACTIVE`. One of which nothing is left
   * is over.
   */
  active(of: Omit<SessionOf, "session">, options?: CallOptions): Promise<ActiveSession[]>;

  /** Ends a session: nothing of it is left. */
  end(of: SessionOf, options?: CallOptions): Promise<void>;

  /**
   * Takes everything of a user away, or some messages wherever they stand, and says how many messages those were: before
   * the receipt of an erasure is given. `revision` is that of the erasure: an `append` of an older one that comes after
   * it, from whichever server, keeps nothing. Asked of the store itself, even where it failed a moment ago: it may be
   * asked twice, and the second time gives 0.
   */
  erase(
    of: Omit<SessionOf, "session">,
    what: "everything" | { readonly messages: readonly string[] },
    options?: CallOptions & { readonly revision?: number },
  ): Promise<number>;

  /** Drops what is over and was not dropped by itself, of everybody; says how many sessions those were. */
  cleanUp(options?: CallOptions): Promise<number>;

  /**
   * What an erasure cannot reach at once, and for how long (ms) at the most: files that the store writes by itself. `forMs` is
   * absent where nobody can say. Absent, or empty, for nothing.
   */
  readonly remains?: () => Promise<readonly { readonly place: string; readonly forMs?: number }[]>;

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
  /** The message's id, unique within the user. */
  readonly id: string;
  readonly role: Role;
  readonly name?: string;
  readonly content: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface ActiveSession {
  readonly session: string;
  /** When it was first and last added to (ISO 8601). */
  readonly startedAt: string;
  readonly lastAt: string;
  /** All that were ever appended, the dropped ones as well. */
  readonly messages: number;
}

/** So many of a session's messages are kept. */
export const MAX_SESSION_MESSAGES = 100;
/** So many of a user's sessions are told of. */
export const MAX_ACTIVE_SESSIONS = 1000;
/** So long after its last word is a session over, in ms. */
export const SESSION_TTL_MS = 86_400_000;
