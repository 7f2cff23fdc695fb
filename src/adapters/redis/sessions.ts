import { SESSION_STATE_FIELDS } from "../../domain/conversation/session-state.ts";
import type { Role } from "../../domain/message.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import {
  type ActiveSession,
  MAX_ACTIVE_SESSIONS,
  MAX_SESSION_MESSAGES,
  SESSION_TTL_MS,
  type SessionOf,
  type Sessions,
  type SessionTurn,
  type StoredSessionState,
} from "../../ports/sessions.ts";
import type { Clock } from "../../ports/system.ts";
import { parseJson } from "../shared/model-calls/json-values.ts";
import {
  createRedisScript,
  createRedisSender,
  DEFAULT_PREFIX,
  escapePattern,
  IS_ERASED_LUA,
  MARK_ERASED_LUA,
  NOW_LUA,
  type RedisOptions,
  type RedisScript,
  readMemoryUse,
  readPersistence,
  scanKeys,
  toErasureKey,
  toField,
  toList,
  toNowArgument,
  toUserKey,
} from "./client.ts";

/** Options of `redisSessions`. */
export interface RedisSessionsOptions extends RedisOptions {
  /** Replaces the Redis server's clock, for tests. */
  readonly clock?: Clock;
}

type RedisSessionUser = Omit<SessionOf, "session">;

const SESSIONS = "sessions";
/** Attempts to set the mark if the server is full, because the erasure itself frees memory. */
const MAX_ATTEMPTS = 2;

/** Sessions on Redis that several servers share, by the Redis server's clock. */
export function redisSessions(options: RedisSessionsOptions): Sessions {
  const { clock, prefix = DEFAULT_PREFIX } = options;
  const send = createRedisSender(options, "Redis (sessions)");
  const keysOf = (of: RedisSessionUser): string[] => [
    toErasureKey(prefix, of),
    toUserKey(prefix, of, SESSIONS),
    toUserKey(prefix, of, `${SESSIONS}:known`),
    toUserKey(prefix, of, `${SESSIONS}:messages`),
    toUserKey(prefix, of, `${SESSIONS}:states`),
    toUserKey(prefix, of, `${SESSIONS}:changed`),
  ];
  const runErasure = async (
    run: RedisScript,
    of: RedisSessionUser,
    { signal, revision, ids }: CallOptions & { revision?: number; ids: readonly string[] },
  ): Promise<number> => {
    let sum = 0;
    for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
      const args = [toNowArgument(clock), String(revision ?? ""), ...ids];
      const [gone, isBarred] = toNumbers(await run(send, keysOf(of), args, { signal, isUrgent: true }));
      sum += gone ?? 0;
      if (isBarred === 1) return sum;
    }
    // While the server is full, late messages cannot be stored either.
    return sum;
  };

  return {
    name: "redis",

    async append(of, messages, { signal, revision } = {}) {
      signal?.throwIfAborted();
      if (messages.length === 0) return;
      const turns = messages.flatMap((turn) => [turn.id, JSON.stringify(turn)]);
      const args = [toNowArgument(clock), String(revision ?? ""), toField(of.session), of.session, ...turns];
      await APPEND_SCRIPT(send, keysOf(of), args, { signal });
    },

    async recent(of, { limit, signal }) {
      const args = [toNowArgument(clock), "", toField(of.session), limit];
      return toList(await RECENT_SCRIPT(send, keysOf(of), args, { signal })).flatMap(parseSessionTurn);
    },

    async active(of, { signal } = {}) {
      return toList(await ACTIVE_SCRIPT(send, keysOf(of), [toNowArgument(clock)], { signal })).map(
        parseActiveSession,
      );
    },

    async countActive({ signal } = {}) {
      let count = 0;
      const seen = new Set<string>();
      for await (const found of scanKeys(send, `${escapePattern(prefix)}:{*}:${SESSIONS}`, signal)) {
        // A scan may give a key twice.
        const keys = found.filter((key) => !seen.has(key));
        for (const key of keys) seen.add(key);
        const args = [toNowArgument(clock)];
        const counts = await Promise.all(
          keys.map((key) => COUNT_ACTIVE_SCRIPT(send, [key], args, { signal })),
        );
        count += toNumbers(counts).reduce((sum, one) => sum + one, 0);
      }
      return count;
    },

    states: {
      async change(of, changes, { mode, revision, signal }) {
        const fields = SESSION_STATE_FIELDS.flatMap((field) => {
          const value = changes[field];
          return value === undefined ? [] : [field, value === null ? "" : JSON.stringify(value)];
        });
        const args = [
          toNowArgument(clock),
          String(revision ?? ""),
          toField(of.session),
          of.session,
          mode,
          ...fields,
        ];
        return parseStoredState(await CHANGE_STATE_SCRIPT(send, keysOf(of), args, { signal }));
      },

      async read(of, { signal } = {}) {
        const args = [toNowArgument(clock), "", toField(of.session)];
        return parseStoredState(await READ_STATE_SCRIPT(send, keysOf(of), args, { signal }));
      },

      async list(of, { signal } = {}) {
        const found = await LIST_STATES_SCRIPT(send, keysOf(of), [toNowArgument(clock)], { signal });
        return toList(found).flatMap((one) => {
          const state = parseStoredState(one);
          return state ? [{ session: String(toList(one)[1]), ...state }] : [];
        });
      },
    },

    async end(of, { signal } = {}) {
      await END_SCRIPT(send, keysOf(of), [toNowArgument(clock), "", toField(of.session)], {
        signal,
        isUrgent: true,
      });
    },

    async erase(of, what, { signal, revision } = {}) {
      const more = { ...(signal ? { signal } : {}), ...(revision === undefined ? {} : { revision }) };
      return what === "everything"
        ? runErasure(ERASE_ALL_SCRIPT, of, { ...more, ids: [] })
        : runErasure(ERASE_SOME_SCRIPT, of, { ...more, ids: what.messages });
    },

    async cleanUp({ signal } = {}) {
      let over = 0;
      for await (const found of scanKeys(send, `${escapePattern(prefix)}:{*}:${SESSIONS}*`, signal)) {
        // A user has one of these keys or both; the second clean-up finds nothing more.
        const users = found.flatMap((key) => /^(.*):sessions(?::changed)?$/s.exec(key)?.[1] ?? []);
        for (const user of new Set(users)) {
          const key = `${user}:${SESSIONS}`;
          const rest = ["known", "messages", "states", "changed"].map((name) => `${key}:${name}`);
          const keys = [`${user}:erased`, key, ...rest];
          over += Number(await CLEAN_UP_SCRIPT(send, keys, [toNowArgument(clock)], { signal }));
        }
      }
      return over;
    },

    remains: () => readPersistence(send),

    room: ({ signal } = {}) => readMemoryUse(send, signal),

    async close() {
      // The client belongs to the caller.
    },
  };
}

const toNumbers = (answer: unknown): number[] => toList(answer).map(Number);

/** Parses the answer of a script on a state: a word, then the state if the word says so. */
function parseStoredState(answer: unknown): StoredSessionState | undefined {
  const [word, _session, started, changed, ...values] = toList(answer);
  if (word === "erased")
    throw new MemoryError("conflict", "something of this user was erased meanwhile. Try again.");
  if (word === "full")
    throw new MemoryError("over_quota", "this user has too many active sessions. End some of them.");
  if (word !== "state") return undefined;
  const fields = SESSION_STATE_FIELDS.flatMap((field, i) => {
    const value = parseJson(String(values[i] ?? ""));
    return value === undefined ? [] : [[field, value] as const];
  });
  return {
    state: Object.fromEntries(fields),
    startedAt: new Date(Number(started)).toISOString(),
    lastAt: new Date(Number(changed)).toISOString(),
  };
}

/** Parses a message; empty for data of other programs. */
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

/**
 * The keys of a user's sessions. KEYS: 1 the erasure mark; 2 a sorted set of sessions by their last message; 3 a hash of sessions,
 * each with the ids of its messages in order; 4 a hash of messages by id; 5 a hash of the states' fields; 6 a sorted set of states by
 * their last change. All expire a day after the user's last message or change. Before that, what has expired is deleted when
 * another message or change is added.
 */
const SHARED_LUA = `${NOW_LUA}
local function end_session(session)
  local held = redis.call('HGET', KEYS[3], session)
  if held then
    for _, id in ipairs(cjson.decode(held).ids) do redis.call('HDEL', KEYS[4], id) end
  end
  redis.call('HDEL', KEYS[3], session)
  redis.call('ZREM', KEYS[2], session)
end
local function end_state(session)
  for _, name in ipairs({ 'name', 'started', ${SESSION_STATE_FIELDS.map((field) => `'${field}'`).join(", ")} }) do
    redis.call('HDEL', KEYS[5], session .. ':' .. name)
  end
  redis.call('ZREM', KEYS[6], session)
end
local function end_over()
  local over, ended = 0, {}
  local before = now - ${SESSION_TTL_MS}
  for _, session in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', before)) do
    end_session(session)
    ended[session] = true
    over = over + 1
  end
  for _, session in ipairs(redis.call('ZRANGEBYSCORE', KEYS[6], '-inf', before)) do
    end_state(session)
    if not ended[session] then over = over + 1 end
  end
  return over
end
local function changed_at(session)
  local at = tonumber(redis.call('ZSCORE', KEYS[6], session) or '')
  return at and now - at < ${SESSION_TTL_MS} and at or nil
end
local function expire_states()
  for i = 5, 6 do redis.call('PEXPIRE', KEYS[i], ${SESSION_TTL_MS}) end
end
local function read_state(session)
  local at = changed_at(session)
  if not at then return { 'none' } end
  local function field(name) return redis.call('HGET', KEYS[5], session .. ':' .. name) or '' end
  return { 'state', field('name'), field('started'), string.format('%.0f', at), ${SESSION_STATE_FIELDS.map((field) => `field('${field}')`).join(", ")} }
end
local function live(session)
  local at = tonumber(redis.call('ZSCORE', KEYS[2], session) or '')
  return at and now - at < ${SESSION_TTL_MS} and redis.call('HGET', KEYS[3], session) or nil
end
`;

/** ARGV: 1 now, 2 the revision, 3 the session's field, 4 its name, then ids and messages alternately. */
const APPEND_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}${IS_ERASED_LUA}
if barred() then return 0 end
end_over()
local held = live(ARGV[3])
local one = held and cjson.decode(held) or { session = ARGV[4], started = now, count = 0, ids = {} }
for i = 5, #ARGV, 2 do
  if redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1]) == 1 then
    one.count = one.count + 1
    table.insert(one.ids, ARGV[i])
  end
end
local ids = {}
for i, id in ipairs(one.ids) do
  if i > #one.ids - ${MAX_SESSION_MESSAGES} then table.insert(ids, id) else redis.call('HDEL', KEYS[4], id) end
end
if #ids == 0 then return 0 end
one.ids = ids
redis.call('HSET', KEYS[3], ARGV[3], cjson.encode(one))
redis.call('ZADD', KEYS[2], now, ARGV[3])
for i = 2, 4 do redis.call('PEXPIRE', KEYS[i], ${SESSION_TTL_MS}) end
if changed_at(ARGV[3]) then
  redis.call('ZADD', KEYS[6], now, ARGV[3])
  expire_states()
end
return 1
`);

/** ARGV: 1 now, 2 the revision, 3 the session's field, 4 its name, 5 the mode, then fields and values; an empty value removes. */
const CHANGE_STATE_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}${IS_ERASED_LUA}
if barred() then return { 'erased' } end
end_over()
local at = changed_at(ARGV[3])
if (ARGV[5] == 'create') == (at ~= nil) then return { 'none' } end
if not at then
  if redis.call('ZCARD', KEYS[6]) >= ${MAX_ACTIVE_SESSIONS} then return { 'full' } end
  redis.call('HSET', KEYS[5], ARGV[3] .. ':name', ARGV[4], ARGV[3] .. ':started', string.format('%.0f', now))
end
for i = 6, #ARGV, 2 do
  local name = ARGV[3] .. ':' .. ARGV[i]
  if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[5], name) else redis.call('HSET', KEYS[5], name, ARGV[i + 1]) end
end
redis.call('ZADD', KEYS[6], now, ARGV[3])
expire_states()
return read_state(ARGV[3])
`);

/** ARGV: 1 now, 2 unused, 3 the session's field. */
const READ_STATE_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
return read_state(ARGV[3])
`);

/** ARGV: 1 now. */
const LIST_STATES_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
local found = {}
for _, session in ipairs(redis.call('ZRANGE', KEYS[6], 0, -1)) do table.insert(found, read_state(session)) end
return found
`);

/** ARGV: 1 now, 2 unused, 3 the session's field, 4 the limit. Gives messages, oldest first. */
const RECENT_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
local held = live(ARGV[3])
if not held then return {} end
local ids = cjson.decode(held).ids
local found = {}
for i = math.max(1, #ids - tonumber(ARGV[4]) + 1), #ids do
  table.insert(found, redis.call('HGET', KEYS[4], ids[i]))
end
return found
`);

/** ARGV: 1 now. Gives each session and the time of its last message, newest first. */
const ACTIVE_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
local found = {}
local active = redis.call('ZREVRANGEBYSCORE', KEYS[2], '+inf', '(' .. (now - ${SESSION_TTL_MS}), 'WITHSCORES', 'LIMIT', 0, ${MAX_ACTIVE_SESSIONS})
for i = 1, #active, 2 do
  local held = redis.call('HGET', KEYS[3], active[i])
  if held then
    local one = cjson.decode(held)
    table.insert(found, { one.session, string.format('%.0f', one.started), active[i + 1], one.count })
  end
end
return found
`);

/** KEYS: 1 the sorted set of a user's sessions. ARGV: 1 now. Gives the number of those that have not expired. */
const COUNT_ACTIVE_SCRIPT: RedisScript = createRedisScript(`${NOW_LUA}
return redis.call('ZCOUNT', KEYS[1], '(' .. string.format('%.0f', now - ${SESSION_TTL_MS}), '+inf')
`);

/** ARGV: 1 now, 2 unused, 3 the session's field. */
const END_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
end_session(ARGV[3])
end_state(ARGV[3])
return 1
`);

/** ARGV: 1 now. Gives the number of expired sessions. */
const CLEAN_UP_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
return end_over()
`);

/** ARGV: 1 now, 2 the revision of the erasure. Gives the number of erased messages, and whether the mark is set. */
const ERASE_ALL_SCRIPT: RedisScript = createRedisScript(`${NOW_LUA}${MARK_ERASED_LUA}
local gone = redis.call('HLEN', KEYS[4]) + redis.call('ZCARD', KEYS[6])
for i = 2, 6 do redis.call('DEL', KEYS[i]) end
return { gone, bar() }
`);

/** ARGV: 1 now, 2 the revision of the erasure, then the ids. Sessions without remaining messages end. */
const ERASE_SOME_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}${MARK_ERASED_LUA}
local gone, wanted = 0, {}
for i = 3, #ARGV do
  if redis.call('HDEL', KEYS[4], ARGV[i]) == 1 then
    gone = gone + 1
    wanted[ARGV[i]] = true
  end
end
if gone > 0 then
  local all = redis.call('HGETALL', KEYS[3])
  for i = 1, #all, 2 do
    local one = cjson.decode(all[i + 1])
    local left = {}
    for _, id in ipairs(one.ids) do if not wanted[id] then table.insert(left, id) end end
    if #left == 0 then
      end_session(all[i])
    elseif #left < #one.ids then
      one.ids = left
      redis.pcall('HSET', KEYS[3], all[i], cjson.encode(one))
    end
  end
end
gone = gone + redis.call('ZCARD', KEYS[6])
for i = 5, 6 do redis.call('DEL', KEYS[i]) end
return { gone, bar() }
`);
