import { MAX_ACTIVE_SESSIONS, MAX_SESSION_MESSAGES, SESSION_TTL_MS } from "../../ports/sessions.ts";
import { IS_ERASED_LUA, MARK_ERASED_LUA } from "./keys.ts";
import { createRedisScript, NOW_LUA, type RedisScript } from "./script.ts";

/**
 * What a user's sessions take. KEYS: 1 the bar; 2 a sorted set of sessions by when they were added to last; 3 a hash of
 * sessions, what is known of each with the ids of its messages in their order; 4 a hash of messages by id. All expire a day
 * after the user's last word; within it, a session goes when it is over and something else is said.
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
local function end_over()
  local over = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ${SESSION_TTL_MS})
  for _, session in ipairs(over) do end_session(session) end
  return #over
end
local function live(session)
  local at = tonumber(redis.call('ZSCORE', KEYS[2], session) or '')
  return at and now - at < ${SESSION_TTL_MS} and redis.call('HGET', KEYS[3], session) or nil
end
`;

/** ARGV: 1 now, 2 the revision, 3 the session's field, 4 its name, then id and message, by turns. */
export const APPEND_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}${IS_ERASED_LUA}
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
return 1
`);

/** ARGV: 1 now, 2 unused, 3 the session's field, 4 the limit. Gives messages, oldest first. */
export const RECENT_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
local held = live(ARGV[3])
if not held then return {} end
local ids = cjson.decode(held).ids
local found = {}
for i = math.max(1, #ids - tonumber(ARGV[4]) + 1), #ids do
  table.insert(found, redis.call('HGET', KEYS[4], ids[i]))
end
return found
`);

/** ARGV: 1 now. Gives what is known of each and when it was added to last, the last one first. */
export const ACTIVE_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
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

/** ARGV: 1 now, 2 unused, 3 the session's field. */
export const END_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
end_session(ARGV[3])
return 1
`);

/** ARGV: 1 now. Gives how many were over. */
export const CLEAN_UP_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}
return end_over()
`);

/** ARGV: 1 now, 2 the revision of the erasure. Gives how many messages went, and whether the bar is up. */
export const ERASE_ALL_SCRIPT: RedisScript = createRedisScript(`${NOW_LUA}${MARK_ERASED_LUA}
local gone = redis.call('HLEN', KEYS[4])
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
return { gone, bar() }
`);

/** ARGV: 1 now, 2 the revision of the erasure, then the ids. Sessions of which nothing is left end. */
export const ERASE_SOME_SCRIPT: RedisScript = createRedisScript(`${SHARED_LUA}${MARK_ERASED_LUA}
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
return { gone, bar() }
`);
