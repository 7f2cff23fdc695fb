import { toScopeHash, toShortHash } from "../shared/scope-name.ts";

/** `project` and `user` of a scope. */
interface RedisKeyOwner {
  readonly project: string;
  readonly user: string;
}

/**
 * The key of something of a user. It says nothing of who that is, and all keys of a user stand on one node of a cluster
 * (its part in braces).
 */
export const toUserKey = (prefix: string, of: RedisKeyOwner, what: string): string =>
  `${prefix}:{${toScopeHash(of)}}:${what}`;

/** What bars words that were erased from coming back: the revision of the user's last erasure. */
export const toErasureKey = (prefix: string, of: RedisKeyOwner): string => toUserKey(prefix, of, "erased");

/** A field of a user's: a session, an entry of the cache. */
export const toField = (name: string): string => toShortHash(name);

export const DEFAULT_PREFIX = "keepsake";
/** A bar stands for a day: nothing that old is still on its way. */
export const ERASURE_MARK_MS = 86_400_000;

/** The key of the bar is KEYS[1]; ARGV[2] the revision of what comes, or empty. Gives nil where it may be kept. */
export const IS_ERASED_LUA = `
local function barred()
  local own = tonumber(ARGV[2])
  local bar = tonumber(redis.call('GET', KEYS[1]) or '')
  return own and bar and own < bar
end
`;

/** Puts the bar of ARGV[2] to KEYS[1], never lower than it is; whether it could (a server that is full takes nothing). */
export const MARK_ERASED_LUA: string = `
local function bar()
  local own = tonumber(ARGV[2])
  if not own then return 1 end
  local before = tonumber(redis.call('GET', KEYS[1]) or '') or 0
  local put = redis.pcall('SET', KEYS[1], math.max(own, before), 'PX', ${ERASURE_MARK_MS})
  if type(put) == 'table' and put.err then return 0 end
  return 1
end
`;
