import type { SessionState, SessionStateChanges } from "../domain/conversation/session-state.ts";
import type { Role } from "../domain/message.ts";
import type { CallOptions } from "./call-options.ts";

/**
 * Short-term memory: the latest messages of a conversation, kept for a day after the last one. It is a copy;
 * the memory store has the messages. If this store fails, they are read from there, and its results are
 * checked against the memory store.
 *
 * Every call may fail with `unavailable` (unreachable, too slow or full) or `forbidden` (wrong credentials),
 * within the adapter's deadline. Times are those of the shared store if several servers use it.
 */
export interface Sessions {
  /** Shown in messages: "memory", "redis". */
  readonly name: string;

  /**
   * Appends messages and keeps the newest 100. A message with an existing id replaces it. Restarts the 24
   * hours.
   *
   * `revision` is the user's revision when the messages were stored. If something was erased at a later
   * revision, nothing is kept.
   */
  append(
    of: SessionOf,
    messages: readonly SessionTurn[],
    options?: CallOptions & { readonly revision?: number },
  ): Promise<void>;

  /**
   * The newest messages, oldest first, at most `limit`. Empty if the session has expired. Does not restart
   * the 24 hours.
   */
  recent(of: SessionOf, options: CallOptions & { readonly limit: number }): Promise<SessionTurn[]>;

  /**
   * The user's active sessions, the most recently used first, at most `MAX_ACTIVE_SESSIONS`. A session
   * without messages is not active.
   */
  active(of: Omit<SessionOf, "session">, options?: CallOptions): Promise<ActiveSession[]>;

  /** The number of active sessions of all users. With a server, it may take one command for each user of the last day. */
  countActive(options?: CallOptions): Promise<number>;

  /** Ends a session and deletes its messages and its state. */
  end(of: SessionOf, options?: CallOptions): Promise<void>;

  /**
   * Deletes everything of a user, or some messages in all sessions, before the receipt of an erasure is
   * returned. Either deletes the states of all sessions, because they may repeat what was said. Returns the number of
   * messages and states deleted.
   *
   * `revision` is that of the erasure: a later `append` with an older revision keeps nothing, from any
   * server. The call always goes to the store itself, even if the store failed a moment ago. A repeated call
   * returns 0.
   */
  erase(
    of: Omit<SessionOf, "session">,
    what: "everything" | { readonly messages: readonly string[] },
    options?: CallOptions & { readonly revision?: number },
  ): Promise<number>;

  /**
   * Deletes expired sessions of all users that did not expire by themselves. Returns the number of sessions
   * deleted.
   */
  cleanUp(options?: CallOptions): Promise<number>;

  /**
   * Places that an erasure cannot clear at once, and for how long at most (ms): files that the store writes
   * by itself. `forMs` is absent if unknown. Empty if there are no such places.
   */
  remains(): Promise<readonly { readonly place: string; readonly forMs?: number }[]>;

  /** Memory used and its limit, in bytes, if known. */
  room(options?: CallOptions): Promise<{ readonly bytes: number; readonly most?: number }>;

  /** Releases what opening took. A client that the caller passed in stays open. */
  close(): Promise<void>;

  /** What is known of each session besides its messages. */
  readonly states: SessionStates;
}

/** The states of sessions: topic, context and preferences, for a day after the last change or message. */
export interface SessionStates {
  /**
   * Changes the state of a session, which has checked fields; null removes one. Restarts its 24 hours, as each message
   * does. With `create`, there must be no state yet; with `update`, there must be one. Returns undefined if that is not so.
   *
   * Throws `conflict` if something was erased at a revision later than `revision`, and `over_quota` for more than
   * `MAX_ACTIVE_SESSIONS` states of a user.
   */
  change(
    of: SessionOf,
    changes: SessionStateChanges,
    options: CallOptions & { readonly mode: "create" | "update"; readonly revision?: number },
  ): Promise<StoredSessionState | undefined>;

  /** The state of a session; undefined if there is none, or if it has expired. Does not restart the 24 hours. */
  read(of: SessionOf, options?: CallOptions): Promise<StoredSessionState | undefined>;

  /** The states of all sessions of a user, in any order. */
  list(
    of: Omit<SessionOf, "session">,
    options?: CallOptions,
  ): Promise<(StoredSessionState & { readonly session: string })[]>;
}

/** A session of a user of a project. */
export interface SessionOf {
  /** The project's name. */
  readonly project: string;
  /** The user's name within the project. */
  readonly user: string;
  /** The session's name. */
  readonly session: string;
}

/** A message of a session. */
export interface SessionTurn {
  /** The message's id, unique within the user. */
  readonly id: string;
  /** The author's role. */
  readonly role: Role;
  /** The speaker's name. */
  readonly name?: string;
  /** The text. */
  readonly content: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The state of a session, and when it began and was last used (ISO 8601). */
export interface StoredSessionState {
  /** Topic, context and preferences. */
  readonly state: SessionState;
  /** When the state was first set (ISO 8601). */
  readonly startedAt: string;
  /** When it was last changed, or when the last message was said after that. */
  readonly lastAt: string;
}

/** A session with messages of the last day. */
export interface ActiveSession {
  /** The session's name. */
  readonly session: string;
  /** Times of the first and the last message (ISO 8601). */
  readonly startedAt: string;
  /** When the last message was said (ISO 8601). */
  readonly lastAt: string;
  /** All messages ever appended, including those dropped since. */
  readonly messages: number;
}

/** The number of messages kept of each session. */
export const MAX_SESSION_MESSAGES = 100;
/** The largest number of active sessions listed for a user. */
export const MAX_ACTIVE_SESSIONS = 1000;
/** A session expires this many ms after its last message. */
export const SESSION_TTL_MS = 86_400_000;
