import type { Role } from "../../domain/message.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ActiveSession, SessionOf, Sessions, SessionTurn } from "../../ports/sessions.ts";
import { asking } from "./asking.ts";
import type { RedisOptions } from "./client.ts";
import { barKey, fieldOf, PREFIX, userKey } from "./keys.ts";
import { persistenceOf } from "./persistence.ts";
import { roomOf } from "./room.ts";
import { nowOf, type Script } from "./script.ts";
import { ACTIVE, APPEND, CLEAN_UP, END, ERASE_ALL, ERASE_SOME, RECENT } from "./sessions-scripts.ts";
import { list, literal, walk } from "./walk.ts";

export interface RedisSessionsOptions extends RedisOptions {
  /** In place of the Redis server's clock, for tests. */
  readonly clock?: Clock;
}

type User = Omit<SessionOf, "session">;

const SESSIONS = "sessions";
/** How often an erasure that found the server full puts its bar up again, for it has made room itself. */
const TRIES = 2;

/** Sessions on Redis: several servers share them. By the clock of the Redis server. */
export function redisSessions(options: RedisSessionsOptions): Sessions {
  const { clock, prefix = PREFIX } = options;
  const ask = asking(options, "Redis (sessions)");
  const keysOf = (of: User): string[] => [
    barKey(prefix, of),
    userKey(prefix, of, SESSIONS),
    userKey(prefix, of, `${SESSIONS}:known`),
    userKey(prefix, of, `${SESSIONS}:messages`),
  ];
  const erased = async (
    run: Script,
    of: User,
    { signal, revision, ids }: CallOptions & { revision?: number; ids: readonly string[] },
  ): Promise<number> => {
    let sum = 0;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const args = [nowOf(clock), String(revision ?? ""), ...ids];
      const [gone, isBarred] = numbers(await run(ask, keysOf(of), args, { signal, isUrgent: true }));
      sum += gone ?? 0;
      if (isBarred === 1) return sum;
    }
    // As long as it is full, what is on its way is kept out by that.
    return sum;
  };

  return {
    name: "redis",

    async append(of, messages, { signal, revision } = {}) {
      signal?.throwIfAborted();
      if (messages.length === 0) return;
      const said = messages.flatMap((turn) => [turn.id, JSON.stringify(turn)]);
      const args = [nowOf(clock), String(revision ?? ""), fieldOf(of.session), of.session, ...said];
      await APPEND(ask, keysOf(of), args, { signal });
    },

    async recent(of, { limit, signal }) {
      const args = [nowOf(clock), "", fieldOf(of.session), limit];
      return list(await RECENT(ask, keysOf(of), args, { signal })).flatMap(turnOf);
    },

    async active(of, { signal } = {}) {
      return list(await ACTIVE(ask, keysOf(of), [nowOf(clock)], { signal })).map(activeOf);
    },

    async end(of, { signal } = {}) {
      await END(ask, keysOf(of), [nowOf(clock), "", fieldOf(of.session)], { signal, isUrgent: true });
    },

    async erase(of, what, { signal, revision } = {}) {
      const more = { ...(signal ? { signal } : {}), ...(revision === undefined ? {} : { revision }) };
      return what === "everything"
        ? erased(ERASE_ALL, of, { ...more, ids: [] })
        : erased(ERASE_SOME, of, { ...more, ids: what.messages });
    },

    async cleanUp({ signal } = {}) {
      const ending = `:${SESSIONS}`;
      let over = 0;
      for await (const found of walk(ask, `${literal(prefix)}:{*}${ending}`, signal)) {
        for (const key of found) {
          const user = key.slice(0, -ending.length);
          const keys = [`${user}:erased`, key, `${key}:known`, `${key}:messages`];
          over += Number(await CLEAN_UP(ask, keys, [nowOf(clock)], { signal }));
        }
      }
      return over;
    },

    remains: () => persistenceOf(ask),

    room: ({ signal } = {}) => roomOf(ask, signal),

    async close() {
      // The client is the caller's.
    },
  };
}

const numbers = (answer: unknown): number[] => list(answer).map(Number);

/** Nothing for what is no message of ours. */
function turnOf(answer: unknown): SessionTurn[] {
  if (typeof answer !== "string") return [];
  try {
    const { id, role, name, content, at } = JSON.parse(answer) as Partial<SessionTurn>;
    if (typeof id !== "string" || typeof content !== "string" || typeof at !== "string") return [];
    return [{ id, role: role as Role, ...(name === undefined ? {} : { name }), content, at }];
  } catch {
    return [];
  }
}

function activeOf(answer: unknown): ActiveSession {
  const [session, started, last, count] = list(answer);
  return {
    session: String(session),
    startedAt: new Date(Number(started)).toISOString(),
    lastAt: new Date(Number(last)).toISOString(),
    messages: Number(count),
  };
}
