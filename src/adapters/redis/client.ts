import { createHash } from "node:crypto";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { Clock } from "../../ports/system.ts";
import type { VectorIndexRemainder } from "../../ports/vector-index.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../shared/circuit-breaker.ts";
import { withTimeout } from "../shared/remote-call.ts";
import { toScopeHash, toShortHash } from "../shared/vector-request.ts";

/** The part of an ioredis client (5 or 6) that is used: any command, answered in texts or in bytes. */
export interface RedisClient {
  call(command: string, args: (string | Buffer | number)[]): Promise<unknown>;
  callBuffer(command: string, args: (string | Buffer | number)[]): Promise<unknown>;
}

/** What every adapter of this folder takes. */
export interface RedisOptions {
  /** Made, and closed in the end, by the caller. `REDIS_CLIENT` says how it is best made. */
  readonly client: RedisClient;
  /** What every key begins with ("keepsake"): several programs can share one server. */
  readonly prefix?: string;
  /** How long one request may take, in ms. */
  readonly timeoutMs?: number;
}

/**
 * How a client for these adapters is best made: `new Redis({ ...REDIS_CLIENT, host, port, password })`. A command that cannot go
 * out now fails now: nothing waits in line for a server that is down, to be carried out when it is up again.
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
  /** Whether the answer is wanted in bytes. */
  readonly binary?: boolean;
  /** Goes out even where the server failed a moment ago, and is waited for longer: an erasure. */
  readonly isUrgent?: boolean;
}

/** Sends a command, once. It fails within the time that a request may take, as the ports want it. */
export type SendRedisCommand = (
  command: string,
  args: readonly RedisArgument[],
  asked?: RedisCommandOptions,
) => Promise<unknown>;

/** Of an urgent request, in ms. */
const URGENT_MS = 2000;
const MAX_FAILURES = 3;
const OPEN_MS = 500;
const LONGEST_OPEN_MS = 4000;
/** Answers of a server that is there: they say nothing against asking it again at once. */
const SERVER_ANSWERS: ReadonlySet<string> = new Set(["OOM", "NOSCRIPT", "ERR", "WRONGTYPE"]);

/** What goes wrong with one client goes wrong for everybody who asks through it. */
const circuitBreakers = new WeakMap<RedisClient, CircuitBreaker>();

/** Asks a server through a client, and spares it and the one who waits where it does not answer. */
export function createRedisSender(
  { client, timeoutMs = 100 }: RedisOptions,
  place: string,
): SendRedisCommand {
  const spared =
    circuitBreakers.get(client) ??
    createCircuitBreaker({
      place: "Redis",
      failures: MAX_FAILURES,
      openMs: OPEN_MS,
      longestMs: LONGEST_OPEN_MS,
    });
  circuitBreakers.set(client, spared);
  return async (command, args, { signal, binary = false, isUrgent = false } = {}) => {
    signal?.throwIfAborted();
    if (!isUrgent) spared.enter();
    const ms = isUrgent ? Math.max(URGENT_MS, timeoutMs) : timeoutMs;
    const late = (): MemoryError =>
      new MemoryError("unavailable", `${place} gave no answer within ${ms} ms. Try again later.`);
    try {
      const sent = binary ? client.callBuffer(command, [...args]) : client.call(command, [...args]);
      const answer = await withTimeout(sent, ms, late, signal);
      spared.recordOutcome("well");
      return answer;
    } catch (error) {
      spared.recordOutcome(classifyOutcome(error, signal));
      if (signal?.aborted && error === signal.reason) throw error;
      throw getRedisErrorCode(error) === "NOSCRIPT" ? error : toRedisError(error, place);
    }
  };
}

function classifyOutcome(error: unknown, signal: AbortSignal | undefined): "well" | "badly" | "unknown" {
  if (signal?.aborted && error === signal.reason) return "unknown";
  return SERVER_ANSWERS.has(getRedisErrorCode(error)) ? "well" : "badly";
}

/** What a server says first in an error: a word in capitals. */
const CODE = /^[A-Z]+/;
const WRONG_CREDENTIALS: ReadonlySet<string> = new Set(["NOAUTH", "WRONGPASS", "NOPERM"]);

/** What went wrong, without what was asked: an error of Redis may repeat the command. */
function toRedisError(error: unknown, place: string): MemoryError {
  if (isMemoryError(error)) return error as MemoryError;
  const code = getRedisErrorCode(error);
  if (WRONG_CREDENTIALS.has(code)) {
    return new MemoryError("forbidden", `${place} refuses the credentials (${code}). Check REDIS_PASSWORD.`);
  }
  if (code === "OOM") {
    return new MemoryError(
      "unavailable",
      `${place} is full. Raise its maxmemory, or let it evict what expires (volatile-ttl).`,
    );
  }
  const why = code === "" ? "cannot be reached" : `cannot do this now (${code})`;
  return new MemoryError("unavailable", `${place} ${why}. Try again later.`);
}

/** The word by which the server names an error; empty for anything that is not the server's answer. */
function getRedisErrorCode(error: unknown): string {
  if (!(error instanceof Error) || error.name !== "ReplyError") return "";
  return CODE.exec(error.message)?.[0] ?? "ERR";
}

/** Runs on the server, all of it or nothing, with nobody in between. */
export type RedisScript = (
  ask: SendRedisCommand,
  keys: readonly string[],
  args: readonly RedisArgument[],
  asked?: RedisCommandOptions,
) => Promise<unknown>;

/** A script in Lua, named by its hash: its text goes over only where the server does not know it (yet, or any more). */
export function createRedisScript(text: string): RedisScript {
  const hash = createHash("sha1").update(text).digest("hex");
  return async (ask, keys, args, asked) => {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await ask("EVALSHA", [hash, ...rest], asked);
    } catch (error) {
      if (getRedisErrorCode(error) !== "NOSCRIPT") throw error;
      return ask("EVAL", [text, ...rest], asked);
    }
  };
}

/** Begins a script: `now` in ms, of the server's own clock where ARGV[1] names none, so that all servers go by one. */
export const NOW_LUA = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** For ARGV[1]. */
export const toNowArgument = (clock: Clock | undefined): string => (clock ? String(clock().getTime()) : "");

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
const ERASURE_MARK_MS = 86_400_000;

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

/** Keys that one step of a walk looks at. */
const SCAN_STEP = 500;

/** The keys that match a pattern, a page at a time; one that is there all the while comes at least once. */
export async function* scanKeys(
  ask: SendRedisCommand,
  pattern: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[], void, void> {
  let cursor = "0";
  do {
    const [next, found] = toList(
      await ask("SCAN", [cursor, "MATCH", pattern, "COUNT", SCAN_STEP], { signal }),
    );
    cursor = String(next);
    yield toList(found).map(String);
  } while (cursor !== "0");
}

/** A prefix as it stands in a pattern. */
export const escapePattern = (prefix: string): string => prefix.replace(/[*?[\]\\^]/g, "\\$&");

export const toList = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);

/**
 * Files in which a server goes on holding what was deleted: its append-only file until that is rewritten, its snapshots until the
 * next one. A server that does not say whether it writes snapshots may.
 */
export async function readPersistence(
  ask: SendRedisCommand,
  signal?: AbortSignal,
): Promise<VectorIndexRemainder[]> {
  const told = String(await ask("INFO", ["persistence"], { signal }));
  const [, save] = toList(await ask("CONFIG", ["GET", "save"], { signal }).catch(() => ["save", "unknown"]));
  return [
    ...(/^aof_enabled:1/m.test(told)
      ? [{ place: "Redis' append-only file, until it is rewritten (BGREWRITEAOF)" }]
      : []),
    ...(save === "" ? [] : [{ place: "Redis' snapshot, until the next one (BGSAVE)" }]),
  ];
}

/** What the server takes and may take, in bytes; no `most` where it may take whatever there is. */
export async function readMemoryUse(
  ask: SendRedisCommand,
  signal?: AbortSignal,
): Promise<{ readonly bytes: number; readonly most?: number }> {
  const told = String(await ask("INFO", ["memory"], { signal }));
  const bytes = parseInfoNumber(told, "used_memory");
  const most = parseInfoNumber(told, "maxmemory");
  return { bytes, ...(most > 0 ? { most } : {}) };
}

function parseInfoNumber(told: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(told)?.[1] ?? 0);
}
