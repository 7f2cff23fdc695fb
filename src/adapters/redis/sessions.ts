import type { Role } from "../../domain/message.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ActiveSession, SessionOf, Sessions, SessionTurn } from "../../ports/sessions.ts";
import { createRedisSender } from "./asking.ts";
import type { RedisOptions } from "./client.ts";
import { DEFAULT_PREFIX, toErasureKey, toField, toUserKey } from "./keys.ts";
import { readPersistence } from "./persistence.ts";
import { readMemoryUse } from "./room.ts";
import { type RedisScript, toNowArgument } from "./script.ts";
import {
  ACTIVE_SCRIPT,
  APPEND_SCRIPT,
  CLEAN_UP_SCRIPT,
  END_SCRIPT,
  ERASE_ALL_SCRIPT,
  ERASE_SOME_SCRIPT,
  RECENT_SCRIPT,
} from "./sessions-scripts.ts";
import { escapePattern, scanKeys, toList } from "./walk.ts";

export interface RedisSessionsOptions extends RedisOptions {
  /** In place of the Redis server's clock, for tests. */
  readonly clock?: Clock;
}

type RedisSessionUser = Omit<SessionOf, "session">;

const SESSIONS = "sessions";
/** How often an erasure that found the server full puts its bar up again, for it has made room itself. */
const MAX_ATTEMPTS = 2;

/** Sessions on Redis: several servers share them. By the clock of the Redis server. */
export function redisSessions(options: RedisSessionsOptions): Sessions {
  const { clock, prefix = DEFAULT_PREFIX } = options;
  const ask = createRedisSender(options, "Redis (sessions)");
  const keysOf = (of: RedisSessionUser): string[] => [
    toErasureKey(prefix, of),
    toUserKey(prefix, of, SESSIONS),
    toUserKey(prefix, of, `${SESSIONS}:known`),
    toUserKey(prefix, of, `${SESSIONS}:messages`),
  ];
  const erased = async (
    run: RedisScript,
    of: RedisSessionUser,
    { signal, revision, ids }: CallOptions & { revision?: number; ids: readonly string[] },
  ): Promise<number> => {
    let sum = 0;
    for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
      const args = [toNowArgument(clock), String(revision ?? ""), ...ids];
      const [gone, isBarred] = toNumbers(await run(ask, keysOf(of), args, { signal, isUrgent: true }));
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
      const args = [toNowArgument(clock), String(revision ?? ""), toField(of.session), of.session, ...said];
      await APPEND_SCRIPT(ask, keysOf(of), args, { signal });
    },

    async recent(of, { limit, signal }) {
      const args = [toNowArgument(clock), "", toField(of.session), limit];
      return toList(await RECENT_SCRIPT(ask, keysOf(of), args, { signal })).flatMap(parseSessionTurn);
    },

    async active(of, { signal } = {}) {
      return toList(await ACTIVE_SCRIPT(ask, keysOf(of), [toNowArgument(clock)], { signal })).map(
        parseActiveSession,
      );
    },

    async end(of, { signal } = {}) {
      await END_SCRIPT(ask, keysOf(of), [toNowArgument(clock), "", toField(of.session)], {
        signal,
        isUrgent: true,
      });
    },

    async erase(of, what, { signal, revision } = {}) {
      const more = { ...(signal ? { signal } : {}), ...(revision === undefined ? {} : { revision }) };
      return what === "everything"
        ? erased(ERASE_ALL_SCRIPT, of, { ...more, ids: [] })
        : erased(ERASE_SOME_SCRIPT, of, { ...more, ids: what.messages });
    },

    async cleanUp({ signal } = {}) {
      const ending = `:${SESSIONS}`;
      let over = 0;
      for await (const found of scanKeys(ask, `${escapePattern(prefix)}:{*}${ending}`, signal)) {
        for (const key of found) {
          const user = key.slice(0, -ending.length);
          const keys = [`${user}:erased`, key, `${key}:known`, `${key}:messages`];
          over += Number(await CLEAN_UP_SCRIPT(ask, keys, [toNowArgument(clock)], { signal }));
        }
      }
      return over;
    },

    remains: () => readPersistence(ask),

    room: ({ signal } = {}) => readMemoryUse(ask, signal),

    async close() {
      // The client is the caller's.
    },
  };
}

const toNumbers = (answer: unknown): number[] => toList(answer).map(Number);

/** Nothing for what is no message of ours. */
function parseSessionTurn(answer: unknown): SessionTurn[] {
  if (typeof answer !== "string") return [];
  try {
    const { id, role, name, content, at } = JSON.parse(answer) as Partial<SessionTurn>;
    if (typeof id !== "string" || typeof content !== "string" || typeof at !== "string") return [];
    return [{ id, role: role as Role, ...(name === undefined ? {} : { name }), content, at }];
  } catch {
    return [];
  }
}

function parseActiveSession(answer: unknown): ActiveSession {
  const [session, started, last, count] = toList(answer);
  return {
    session: String(session),
    startedAt: new Date(Number(started)).toISOString(),
    lastAt: new Date(Number(last)).toISOString(),
    messages: Number(count),
  };
}
