import { createRedisScript, type RedisScript } from "./script.ts";

/** Vectors in one chunk of codes. */
export const CHUNK_SLOTS = 512;

/**
 * What a user's entries take. KEYS: 1 a hash of slots by id; 2 a hash of ids by slot; 3 a hash of vectors by id; 4 one of metadata
 * by id; 5 a list of slots that are free; 6 how many slots there are; 7 what the keys of the chunks begin with. A chunk holds the
 * codes of `CHUNK` slots, so that a search reads a few large values and not many small ones.
 */
const CHUNK_OF_LUA = `
local function chunk_of(slot)
  return KEYS[7] .. ':' .. math.floor(slot / ${CHUNK_SLOTS})
end
`;

/** ARGV: 1 the length of a code, then by turns id, code, vector and metadata. */
export const PUT_SCRIPT: RedisScript = createRedisScript(`${CHUNK_OF_LUA}
local length = tonumber(ARGV[1])
for i = 2, #ARGV, 4 do
  local id = ARGV[i]
  local slot = redis.call('HGET', KEYS[1], id)
  if not slot then
    slot = redis.call('LPOP', KEYS[5]) or redis.call('INCR', KEYS[6]) - 1
    redis.call('HSET', KEYS[2], slot, id)
    redis.call('HSET', KEYS[1], id, slot)
  end
  redis.call('HSET', KEYS[3], id, ARGV[i + 2])
  redis.call('HSET', KEYS[4], id, ARGV[i + 3])
  redis.call('SETRANGE', chunk_of(slot), (slot % ${CHUNK_SLOTS}) * length, ARGV[i + 1])
end
return 1
`);

/**
 * ARGV: 1 nothing but zeros, as long as a code; then ids. Codes are written over. Gives 0 where the server is too full for that:
 * what was freed has made room, so that it can be asked again.
 */
export const DROP_SCRIPT: RedisScript = createRedisScript(`${CHUNK_OF_LUA}
local whole = 1
for i = 2, #ARGV do
  local id = ARGV[i]
  local slot = redis.call('HGET', KEYS[1], id)
  if slot then
    redis.call('HDEL', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
    local blank = redis.pcall('SETRANGE', chunk_of(slot), (slot % ${CHUNK_SLOTS}) * #ARGV[1], ARGV[1])
    if type(blank) == 'table' and blank.err then
      whole = 0
    else
      redis.call('HDEL', KEYS[1], id)
      redis.call('HDEL', KEYS[2], slot)
      redis.pcall('RPUSH', KEYS[5], slot)
    end
  end
end
return whole
`);

export const DROP_USER_SCRIPT: RedisScript = createRedisScript(`${CHUNK_OF_LUA}
local slots = tonumber(redis.call('GET', KEYS[6]) or '0')
for slot = 0, slots, ${CHUNK_SLOTS} do redis.call('DEL', chunk_of(slot)) end
for i = 1, 6 do redis.call('DEL', KEYS[i]) end
return 1
`);
