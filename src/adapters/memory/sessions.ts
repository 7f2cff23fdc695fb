import { toScopeKey } from "../../domain/scope.ts";
import {
  MAX_ACTIVE_SESSIONS,
  MAX_SESSION_MESSAGES,
  SESSION_TTL_MS,
  type SessionOf,
  type Sessions,
  type SessionTurn,
} from "../../ports/sessions.ts";
import type { Clock } from "../../ports/system.ts";
import { createErasureBarriers } from "./erasure-barriers.ts";
import { type MemorySessionStates, memorySessionStates, toStateKey } from "./session-states.ts";

interface MemorySession {
  readonly startedAt: number;
  lastAt: number;
  count: number;
  /** By id, in order of arrival. */
  readonly turns: Map<string, SessionTurn>;
  bytes: number;
}

/** By session. */
type MemorySessionsById = Map<string, MemorySession>;

/** Overhead of a turn, in addition to its text: the object, its map entry, its strings. */
const TURN_BYTES = 300;
const DEFAULT_BYTES = 32_000_000;

/**
 * In-process sessions, the reference implementation of the port. Keeps the most recently active ones, up to `bytes` over all
 * users (default: 32 MB). The database still has the messages of evicted sessions.
 */
export function memorySessions(options: { readonly clock: Clock; readonly bytes?: number }): Sessions {
  const { clock, bytes: most = DEFAULT_BYTES } = options;
  const users = new Map<string, MemorySessionsById>();
  const barriers = createErasureBarriers(clock, SESSION_TTL_MS);
  let bytes = 0;
  const states: MemorySessionStates = memorySessionStates({ clock, barriers });

  const now = (): number => clock().getTime();
  const isOver = ({ lastAt }: MemorySession): boolean => now() - lastAt >= SESSION_TTL_MS;
  const drop = (user: string, session: string): void => {
    const of = users.get(user);
    bytes -= of?.get(session)?.bytes ?? 0;
    of?.delete(session);
    if (of?.size === 0) users.delete(user);
  };
  const findActive = ({ session, ...user }: SessionOf): MemorySession | undefined => {
    const one = users.get(toScopeKey(user))?.get(session);
    return one && !isOver(one) ? one : undefined;
  };
  const makeRoom = (): void => {
    // The most recently active user comes last.
    for (const [user, of] of users) {
      for (const session of [...of.keys()]) {
        if (bytes + states.bytes() <= most) return;
        drop(user, session);
      }
    }
  };
  const keepTurn = (one: MemorySession, turn: SessionTurn): void => {
    const before = one.turns.get(turn.id);
    if (!before) one.count += 1;
    one.turns.set(turn.id, turn);
    const more = getTurnBytes(turn) - (before ? getTurnBytes(before) : 0);
    one.bytes += more;
    bytes += more;
  };
  const forgetTurn = (one: MemorySession, id: string): boolean => {
    const turn = one.turns.get(id);
    if (!turn) return false;
    one.turns.delete(id);
    one.bytes -= getTurnBytes(turn);
    bytes -= getTurnBytes(turn);
    return true;
  };

  return {
    name: "memory",

    async append(of, messages, { signal, revision } = {}) {
      signal?.throwIfAborted();
      const user = toScopeKey(of);
      if (messages.length === 0 || barriers.isBlocked(user, revision)) return;
      if (!findActive(of)) drop(user, of.session);
      const sessions = users.get(user) ?? new Map();
      const at = now();
      const one = sessions.get(of.session) ?? createMemorySession(at);
      for (const turn of structuredClone(messages)) keepTurn(one, turn);
      for (const id of [...one.turns.keys()].slice(0, -MAX_SESSION_MESSAGES)) forgetTurn(one, id);
      one.lastAt = at;
      users.delete(user);
      users.set(user, sessions);
      sessions.delete(of.session);
      sessions.set(of.session, one);
      states.touch(of);
      makeRoom();
    },

    async recent(of, { limit, signal }) {
      signal?.throwIfAborted();
      const turns = [...(findActive(of)?.turns.values() ?? [])];
      return structuredClone(turns.slice(Math.max(0, turns.length - limit)));
    },

    async active(of, { signal } = {}) {
      signal?.throwIfAborted();
      return [...(users.get(toScopeKey(of)) ?? [])]
        .filter(([, one]) => !isOver(one))
        .reverse()
        .slice(0, MAX_ACTIVE_SESSIONS)
        .map(([session, { startedAt, lastAt, count }]) => ({
          session,
          startedAt: new Date(startedAt).toISOString(),
          lastAt: new Date(lastAt).toISOString(),
          messages: count,
        }));
    },

    async countActive({ signal } = {}) {
      signal?.throwIfAborted();
      let count = 0;
      for (const of of users.values()) for (const one of of.values()) if (!isOver(one)) count += 1;
      return count;
    },

    states: {
      async change(of, changes, { signal, ...options }) {
        signal?.throwIfAborted();
        const changed = states.change(of, changes, options);
        makeRoom();
        return changed;
      },

      async read(of, { signal } = {}) {
        signal?.throwIfAborted();
        return states.read(of);
      },

      async list(of, { signal } = {}) {
        signal?.throwIfAborted();
        return states.list(of);
      },
    },

    async end(of, { signal } = {}) {
      signal?.throwIfAborted();
      states.drop(of);
      drop(toScopeKey(of), of.session);
    },

    async erase(of, what, { signal, revision } = {}) {
      signal?.throwIfAborted();
      const user = toScopeKey(of);
      barriers.raise(user, revision);
      let gone = states.dropAll(of);
      for (const [session, one] of [...(users.get(user) ?? [])]) {
        const ids = what === "everything" ? [...one.turns.keys()] : what.messages;
        gone += ids.filter((id) => forgetTurn(one, id)).length;
        if (one.turns.size === 0) drop(user, session);
      }
      return gone;
    },

    async cleanUp({ signal } = {}) {
      signal?.throwIfAborted();
      const over = new Set(states.sweep());
      for (const [user, of] of [...users]) {
        for (const [session, one] of [...of]) {
          if (!isOver(one)) continue;
          drop(user, session);
          over.add(toStateKey(user, session));
        }
      }
      barriers.sweep();
      return over.size;
    },

    async remains() {
      return [];
    },

    async room() {
      return { bytes: bytes + states.bytes(), most };
    },

    async close() {
      users.clear();
      states.clear();
      bytes = 0;
    },
  };
}

function createMemorySession(at: number): MemorySession {
  return { startedAt: at, lastAt: at, count: 0, turns: new Map(), bytes: 0 };
}

function getTurnBytes({ id, name = "", content }: SessionTurn): number {
  return TURN_BYTES + 2 * (id.length + name.length + content.length);
}
