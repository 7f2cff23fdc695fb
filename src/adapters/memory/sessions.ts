import { scopeKey } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import {
  MOST_ACTIVE,
  SESSION_MESSAGES,
  SESSION_MS,
  type SessionOf,
  type Sessions,
  type SessionTurn,
} from "../../ports/sessions.ts";
import { bars } from "../shared/bars.ts";

interface Held {
  readonly startedAt: number;
  lastAt: number;
  count: number;
  /** By id, in the order in which they came. */
  readonly turns: Map<string, SessionTurn>;
  bytes: number;
}

/** By session. */
type Of = Map<string, Held>;

/** Of a turn beside its text: the object, its map entry, its strings. */
const TURN_BYTES = 300;
const BYTES = 32_000_000;

/**
 * Sessions in this process, the reference of the port. Those spoken in last are kept, up to about so many bytes (32 MB) over all
 * users: what is let go of stands in the record.
 */
export function memorySessions(options: { readonly clock: Clock; readonly bytes?: number }): Sessions {
  const { clock, bytes: most = BYTES } = options;
  const users = new Map<string, Of>();
  const barred = bars(clock, SESSION_MS);
  let bytes = 0;

  const now = (): number => clock().getTime();
  const isOver = ({ lastAt }: Held): boolean => now() - lastAt >= SESSION_MS;
  const drop = (user: string, session: string): void => {
    const of = users.get(user);
    bytes -= of?.get(session)?.bytes ?? 0;
    of?.delete(session);
    if (of?.size === 0) users.delete(user);
  };
  const held = ({ session, ...user }: SessionOf): Held | undefined => {
    const one = users.get(scopeKey(user))?.get(session);
    return one && !isOver(one) ? one : undefined;
  };
  const makeRoom = (): void => {
    // The user who spoke last stands last.
    for (const [user, of] of users) {
      for (const session of [...of.keys()]) {
        if (bytes <= most) return;
        drop(user, session);
      }
    }
  };
  const keepTurn = (one: Held, turn: SessionTurn): void => {
    const before = one.turns.get(turn.id);
    if (!before) one.count += 1;
    one.turns.set(turn.id, turn);
    const more = bytesOf(turn) - (before ? bytesOf(before) : 0);
    one.bytes += more;
    bytes += more;
  };
  const forgetTurn = (one: Held, id: string): boolean => {
    const turn = one.turns.get(id);
    if (!turn) return false;
    one.turns.delete(id);
    one.bytes -= bytesOf(turn);
    bytes -= bytesOf(turn);
    return true;
  };

  return {
    name: "memory",

    async append(of, messages, { signal, revision } = {}) {
      signal?.throwIfAborted();
      const user = scopeKey(of);
      if (messages.length === 0 || barred.isBarred(user, revision)) return;
      if (!held(of)) drop(user, of.session);
      const sessions = users.get(user) ?? new Map();
      const at = now();
      const one = sessions.get(of.session) ?? newHeld(at);
      for (const turn of structuredClone(messages)) keepTurn(one, turn);
      for (const id of [...one.turns.keys()].slice(0, -SESSION_MESSAGES)) forgetTurn(one, id);
      one.lastAt = at;
      users.delete(user);
      users.set(user, sessions);
      sessions.delete(of.session);
      sessions.set(of.session, one);
      makeRoom();
    },

    async recent(of, { limit, signal }) {
      signal?.throwIfAborted();
      const turns = [...(held(of)?.turns.values() ?? [])];
      return structuredClone(turns.slice(Math.max(0, turns.length - limit)));
    },

    async active(of, { signal } = {}) {
      signal?.throwIfAborted();
      return [...(users.get(scopeKey(of)) ?? [])]
        .filter(([, one]) => !isOver(one))
        .reverse()
        .slice(0, MOST_ACTIVE)
        .map(([session, { startedAt, lastAt, count }]) => ({
          session,
          startedAt: new Date(startedAt).toISOString(),
          lastAt: new Date(lastAt).toISOString(),
          messages: count,
        }));
    },

    async end(of, { signal } = {}) {
      signal?.throwIfAborted();
      drop(scopeKey(of), of.session);
    },

    async erase(of, what, { signal, revision } = {}) {
      signal?.throwIfAborted();
      const user = scopeKey(of);
      barred.bar(user, revision);
      let gone = 0;
      for (const [session, one] of [...(users.get(user) ?? [])]) {
        const ids = what === "everything" ? [...one.turns.keys()] : what.messages;
        gone += ids.filter((id) => forgetTurn(one, id)).length;
        if (one.turns.size === 0) drop(user, session);
      }
      return gone;
    },

    async cleanUp({ signal } = {}) {
      signal?.throwIfAborted();
      let over = 0;
      for (const [user, of] of [...users]) {
        for (const [session, one] of [...of]) {
          if (!isOver(one)) continue;
          drop(user, session);
          over += 1;
        }
      }
      barred.sweep();
      return over;
    },

    async room() {
      return { bytes, most };
    },

    async close() {
      users.clear();
      bytes = 0;
    },
  };
}

function newHeld(at: number): Held {
  return { startedAt: at, lastAt: at, count: 0, turns: new Map(), bytes: 0 };
}

function bytesOf({ id, name = "", content }: SessionTurn): number {
  return TURN_BYTES + 2 * (id.length + name.length + content.length);
}
