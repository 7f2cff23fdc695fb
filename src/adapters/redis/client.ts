import { createHash } from "node:crypto";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { Clock } from "../../ports/system.ts";
import type { VectorIndexRemainder } from "../../ports/vector-index.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../shared/model-calls/circuit-breaker.ts";
import { withTimeout } from "../shared/model-calls/remote-call.ts";
import { toScopeHash, toShortHash } from "../shared/vector-request.ts";

/** The part of an ioredis client (5 or 6) that is used: any command, with answers as text or bytes. */
export interface RedisClient {
  call(command: string, args: (string | Buffer | number)[]): Promise<unknown>;
  callBuffer(command: string, args: (string | Buffer | number)[]): Promise<unknown>;
}

/** Options of every adapter in this folder. */
export interface RedisOptions {
  /** Created and closed by the caller. `REDIS_CLIENT` has recommended options. */
  readonly client: RedisClient;
  /** The prefix of every key (default: "keepsake"), so that several programs can share a server. */
  readonly prefix?: string;
  /** Timeout of one request, in ms. */
  readonly timeoutMs?: number;
}

/**
 * Recommended client options: `new Redis({ ...REDIS_CLIENT, host, port, password })`. A command that cannot be sent now fails now,
 * so that no command waits for a server that is down and runs once it is up again.
 */
export const REDIS_CLIENT = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 2000,
  retryStrategy: (times: number): number => Math.min(2000, times * 100),
} as const;

type RedisArgument = string | number | Buffer;

export interface RedisCommandOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the answer is returned as bytes. */
  readonly binary?: boolean;
  /** Sends even if the server just failed, with a longer timeout; for erasures. */
  readonly isUrgent?: boolean;
}

/** Sends a command once. It fails within the request timeout, as the ports require. */
export type SendRedisCommand = (
  command: string,
  args: readonly RedisArgument[],
  options?: RedisCommandOptions,
) => Promise<unknown>;

/** Timeout of an urgent request, in ms. */
const URGENT_MS = 2000;
const MAX_FAILURES = 3;
const OPEN_MS = 500;
const LONGEST_OPEN_MS = 4000;
/** Errors that prove that the server is available, so that it may be called again at once. */
const SERVER_ANSWERS: ReadonlySet<string> = new Set(["OOM", "NOSCRIPT", "ERR", "WRONGTYPE"]);

/** Breakers are shared by client, because a failing client fails for all its users. */
const circuitBreakers = new WeakMap<RedisClient, CircuitBreaker>();

/** Sends commands through a client, with a circuit breaker that spares an unresponsive server and its callers. */
export function createRedisSender(
  { client, timeoutMs = 100 }: RedisOptions,
  place: string,
): SendRedisCommand {
  const breaker =
    circuitBreakers.get(client) ??
    createCircuitBreaker({
      place: "Redis",
      failures: MAX_FAILURES,
      openMs: OPEN_MS,
      longestMs: LONGEST_OPEN_MS,
    });
  circuitBreakers.set(client, breaker);
  return async (command, args, { signal, binary = false, isUrgent = false } = {}) => {
    signal?.throwIfAborted();
    if (!isUrgent) breaker.enter();
    const ms = isUrgent ? Math.max(URGENT_MS, timeoutMs) : timeoutMs;
    const late = (): MemoryError =>
      new MemoryError("unavailable", `${place} gave no answer within ${ms} ms. Try again later.`);
    try {
      const sent = binary ? client.callBuffer(command, [...args]) : client.call(command, [...args]);
      const answer = await withTimeout(sent, ms, late, signal);
      breaker.recordOutcome("well");
      return answer;
    } catch (error) {
      breaker.recordOutcome(classifyOutcome(error, signal));
      if (signal?.aborted && error === signal.reason) throw error;
      throw getRedisErrorCode(error) === "NOSCRIPT" ? error : toRedisError(error, place);
    }
  };
}

function classifyOutcome(error: unknown, signal: AbortSignal | undefined): "well" | "badly" | "unknown" {
  if (signal?.aborted && error === signal.reason) return "unknown";
  return SERVER_ANSWERS.has(getRedisErrorCode(error)) ? "well" : "badly";
}

/** The first word of a server error, in capitals. */
const CODE = /^[A-Z]+/;
const WRONG_CREDENTIALS: ReadonlySet<string> = new Set(["NOAUTH", "WRONGPASS", "NOPERM"]);

/** The error without the command, which an error of Redis may repeat. */
function toRedisError(error: unknown, place: string): MemoryError {
  if (isMemoryError(error)) return error as MemoryError;
  const code = getRedisErrorCode(error);
  if (WRONG_CREDENTIALS.has(code)) {
    return new MemoryError("forbidden", `${place} rejects the credentials (${code}). Check REDIS_PASSWORD.`);
  }
  if (code === "OOM") {
    return new MemoryError(
      "unavailable",
      `${place} is full. Raise its maxmemory, or let it evict expiring keys (volatile-ttl).`,
    );
  }
  const why = code === "" ? "cannot be reached" : `cannot do this now (${code})`;
  return new MemoryError("unavailable", `${place} ${why}. Try again later.`);
}

/** The server's name for an error; empty for anything but an answer of the server. */
function getRedisErrorCode(error: unknown): string {
  if (!(error instanceof Error) || error.name !== "ReplyError") return "";
  return CODE.exec(error.message)?.[0] ?? "ERR";
}

/** Runs on the server, atomically. */
export type RedisScript = (
  send: SendRedisCommand,
  keys: readonly string[],
  args: readonly RedisArgument[],
  options?: RedisCommandOptions,
) => Promise<unknown>;

/** A Lua script, called by its hash. Its text is sent only if the server does not know it. */
export function createRedisScript(text: string): RedisScript {
  const hash = createHash("sha1").update(text).digest("hex");
  return async (send, keys, args, options) => {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await send("EVALSHA", [hash, ...rest], options);
    } catch (error) {
      if (getRedisErrorCode(error) !== "NOSCRIPT") throw error;
      return send("EVAL", [text, ...rest], options);
    }
  };
}

/** Begins a script with `now` in ms: ARGV[1], or else the server's own clock, so that all servers share one. */
export const NOW_LUA = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** The value for ARGV[1]. */
export const toNowArgument = (clock: Clock | undefined): string => (clock ? String(clock().getTime()) : "");

/** The project and user of a scope. */
interface RedisKeyOwner {
  readonly project: string;
  readonly user: string;
}

/**
 * The key of a user's data. It does not reveal the user, and the part in braces keeps all keys of a user on one node of a
 * cluster.
 */
export const toUserKey = (prefix: string, of: RedisKeyOwner, what: string): string =>
  `${prefix}:{${toScopeHash(of)}}:${what}`;

/** The key of the erasure mark, which keeps erased words from coming back: the revision of the user's last erasure. */
export const toErasureKey = (prefix: string, of: RedisKeyOwner): string => toUserKey(prefix, of, "erased");

/** A field of a user's hash: a session, or an entry of the cache. */
export const toField = (name: string): string => toShortHash(name);

export const DEFAULT_PREFIX = "keepsake";
/** A mark expires after a day: no data that old can still be in flight. */
const ERASURE_MARK_MS = 86_400_000;

/** KEYS[1] is the erasure mark, ARGV[2] the revision of the new data, or empty. `barred()` is nil or false if it may be stored. */
export const IS_ERASED_LUA = `
local function barred()
  local own = tonumber(ARGV[2])
  local bar = tonumber(redis.call('GET', KEYS[1]) or '')
  return own and bar and own < bar
end
`;

/** Raises the mark in KEYS[1] to ARGV[2], never lowers it. Gives 1 if that succeeded; a full server stores nothing. */
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

/** Keys examined per scan step. */
const SCAN_STEP = 500;

/** The keys that match a pattern, page by page. A key that exists during the whole scan appears at least once. */
export async function* scanKeys(
  send: SendRedisCommand,
  pattern: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[], void, void> {
  let cursor = "0";
  do {
    const [next, found] = toList(
      await send("SCAN", [cursor, "MATCH", pattern, "COUNT", SCAN_STEP], { signal }),
    );
    cursor = String(next);
    yield toList(found).map(String);
  } while (cursor !== "0");
}

/** The prefix, escaped for a pattern. */
export const escapePattern = (prefix: string): string => prefix.replace(/[*?[\]\\^]/g, "\\$&");

export const toList = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);

/**
 * Files in which a server keeps deleted data: its append-only file until it is rewritten, and its snapshot until the next one. A
 * server that does not report its snapshot setting is assumed to write them.
 */
export async function readPersistence(
  send: SendRedisCommand,
  signal?: AbortSignal,
): Promise<VectorIndexRemainder[]> {
  const info = String(await send("INFO", ["persistence"], { signal }));
  const [, save] = toList(await send("CONFIG", ["GET", "save"], { signal }).catch(() => ["save", "unknown"]));
  return [
    ...(/^aof_enabled:1/m.test(info)
      ? [{ place: "Redis' append-only file, until it is rewritten (BGREWRITEAOF)" }]
      : []),
    ...(save === "" ? [] : [{ place: "Redis' snapshot, until the next one (BGSAVE)" }]),
  ];
}

/** The memory use and limit of the server, in bytes; no `most` without a limit. */
export async function readMemoryUse(
  send: SendRedisCommand,
  signal?: AbortSignal,
): Promise<{ readonly bytes: number; readonly most?: number }> {
  const info = String(await send("INFO", ["memory"], { signal }));
  const bytes = parseInfoNumber(info, "used_memory");
  const most = parseInfoNumber(info, "maxmemory");
  return { bytes, ...(most > 0 ? { most } : {}) };
}

function parseInfoNumber(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
}
