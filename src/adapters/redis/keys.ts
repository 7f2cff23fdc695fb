import { scopeName, shortHash } from "../shared/scope-name.ts";

/** `project` and `user` of a scope. */
interface User {
  readonly project: string;
  readonly user: string;
}

/**
 * The key of something of a user. It says nothing of who that is, and all keys of a user stand on one node of a cluster
 * (its part in braces).
 */
export const userKey = (prefix: string, of: User, what: string): string =>
  `${prefix}:{${scopeName(of)}}:${what}`;

/** What bars words that were erased from coming back: the revision of the user's last erasure. */
export const barKey = (prefix: string, of: User): string => userKey(prefix, of, "erased");

/** A field of a user's: a session, an entry of the cache. */
export const fieldOf = (name: string): string => shortHash(name);

export const PREFIX = "keepsake";
/** A bar stands for a day: nothing that old is still on its way. */
export const BARRED_MS = 86_400_000;

/** The key of the bar is KEYS[1]; ARGV[2] the revision of what comes, or empty. Gives nil where it may be kept. */
export const BARRED = `
local function barred()
  local own = tonumber(ARGV[2])
  local bar = tonumber(redis.call('GET', KEYS[1]) or '')
  return own and bar and own < bar
end
`;

/** Puts the bar of ARGV[2] to KEYS[1], never lower than it is; whether it could (a server that is full takes nothing). */
export const BAR: string = `
local function bar()
  local own = tonumber(ARGV[2])
  if not own then return 1 end
  local before = tonumber(redis.call('GET', KEYS[1]) or '') or 0
  local put = redis.pcall('SET', KEYS[1], math.max(own, before), 'PX', ${BARRED_MS})
  if type(put) == 'table' and put.err then return 0 end
  return 1
end
`;
