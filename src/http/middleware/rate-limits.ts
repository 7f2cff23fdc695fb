import { setTimeout as rest } from "node:timers/promises";
import type { MiddlewareHandler } from "hono";
import { isMemoryError } from "../../errors.ts";
import type { Allowance, RateLimits } from "../../ports/rate-limits.ts";
import type { Bearer } from "../keys/api-keys.ts";
import { refuse } from "../problem.ts";
import { type AppEnvironment, getNodeBindings, type RequestContext } from "../request-context.ts";

/** What each key may take in a minute; absent parts have no limit. */
export interface KeyRateLimits {
  readonly requests?: RateLimits | undefined;
  /** Of request bodies. */
  readonly bytes?: RateLimits | undefined;
}

type RateLimitPolicy = keyof KeyRateLimits;

/** Takes a request off the allowance of a key (429 where there is none left). Who has no key has no allowance. */
export async function spendRequest(
  exchange: RequestContext,
  bearer: Bearer | undefined,
  rates: KeyRateLimits,
): Promise<void> {
  if (bearer) await spendAllowance(exchange, "requests", rates.requests, { key: bearer.key, amount: 1 });
}

/** Takes the bytes of a body off the allowance of a key (429). */
export async function spendBytes(
  exchange: RequestContext,
  bearer: Bearer | undefined,
  { rates, bytes }: { readonly rates: KeyRateLimits; readonly bytes: number },
): Promise<void> {
  // A bucket of its own, where both kinds are kept in one store.
  if (bearer)
    await spendAllowance(exchange, "bytes", rates.bytes, { key: `bytes ${bearer.key}`, amount: bytes });
}

const LIMIT_MESSAGES: Readonly<Record<RateLimitPolicy, string>> = {
  requests: "Too many requests with this key. Come again later, or have the limit raised.",
  bytes: "Too many bytes with this key. Come again later, or have the limit raised.",
};

async function spendAllowance(
  exchange: RequestContext,
  policy: RateLimitPolicy,
  limits: RateLimits | undefined,
  { key, amount }: { readonly key: string; readonly amount: number },
): Promise<void> {
  if (!limits) return;
  const allowance = limits.spend ? await limits.spend(key, amount) : undefined;
  const waitMs = allowance?.waitMs ?? (await limits.take(key));
  if (allowance) exchange.set("allowances", { ...exchange.get("allowances"), [policy]: allowance });
  if (waitMs === 0) return;
  throw refuse({
    status: 429,
    code: "over_quota",
    detail: LIMIT_MESSAGES[policy],
    // What is on its way of a body that is refused is read by nobody.
    headers: {
      "retry-after": String(Math.ceil(waitMs / 1000)),
      ...(policy === "bytes" ? { connection: "close" } : {}),
    },
  });
}

/**
 * Tells with each answer what is left. `RateLimit` and `RateLimit-Policy` are the IETF draft's and tell of requests and bytes;
 * `RateLimit-Limit`, `-Remaining` and `-Reset` are its earlier form, of requests alone, which more clients read today.
 */
export function withRateLimitHeaders(): MiddlewareHandler<AppEnvironment> {
  return async (exchange, next) => {
    await next();
    const allowances = exchange.get("allowances");
    if (!allowances) return;
    const { headers } = exchange.res;
    for (const [name, value] of Object.entries(toRateLimitHeaders(allowances))) headers.set(name, value);
  };
}

function toRateLimitHeaders(
  allowances: NonNullable<AppEnvironment["Variables"]["allowances"]>,
): Record<string, string> {
  const all = Object.entries(allowances);
  const list = (write: (policy: string, allowance: Allowance) => string): string =>
    all.map(([policy, allowance]) => write(policy, allowance)).join(", ");
  const { requests } = allowances;
  return {
    "ratelimit-policy": list((policy, { most }) => `"${policy}";q=${most};w=60`),
    ratelimit: list((policy, { left, fullMs }) => `"${policy}";r=${left};t=${toSeconds(fullMs)}`),
    ...(requests
      ? {
          "ratelimit-limit": String(requests.most),
          "ratelimit-remaining": String(requests.left),
          "ratelimit-reset": String(toSeconds(requests.fullMs)),
        }
      : {}),
  };
}

function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/**
 * Limits that several servers share, and this one's own where those cannot be asked: then each server counts for itself, and
 * nobody is kept out because a store of counters is down.
 */
export function sharedLimits(shared: RateLimits, own: RateLimits): RateLimits {
  const take = (key: string): Promise<number> => withFallback(shared.take(key), () => own.take(key));
  const { spend: sharedSpend } = shared;
  const { spend: ownSpend } = own;
  if (!sharedSpend || !ownSpend) return { name: shared.name, take };
  return {
    name: shared.name,
    take,
    spend: (key, amount) =>
      withFallback(sharedSpend.call(shared, key, amount), () => ownSpend.call(own, key, amount)),
  };
}

async function withFallback<Result>(asked: Promise<Result>, own: () => Promise<Result>): Promise<Result> {
  try {
    return await asked;
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    return own();
  }
}

/** What becomes of a request whose key is not known. A key that is good is let in without asking here. */
export interface FailedKeyThrottle {
  /** Counts a failure, waits as long as its answer is to wait, and gives the refusal: 401, or 429 with Retry-After. */
  refusal(exchange: RequestContext, unknown: Error): Promise<Error>;
}

interface FailedKeyThrottleOptions {
  /** Milliseconds that never go back (`performance.now`). */
  readonly now?: () => number;
  /** How many addresses are remembered (10,000). The one that failed longest ago goes first. */
  readonly addresses?: number;
}

/** Failures that an address has in one go, and gets back over a minute. */
const ADDRESS_LIMIT = 20;
/** The same for all addresses together: guesses come from many. */
const TOTAL_LIMIT = 600;
/** So many are answered at once: people mistype. */
const UNDELAYED_FAILURES = 5;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 1000;
/** Answers that wait at the same time: each holds a connection. */
const MOST_WAITING = 200;
const MINUTE_MS = 60_000;

interface FailureCount {
  /** How many count: one fades every few seconds. */
  readonly count: number;
  /** ms. */
  readonly at: number;
}

const NO_FAILURES: FailureCount = { count: 0, at: 0 };

/**
 * Slows down failed keys: by address, and over all. Nobody is locked out by it, whatever others behind the same address send, for it
 * looks at failures alone. What it holds is bounded.
 */
export function createFailedKeyThrottle(options: FailedKeyThrottleOptions = {}): FailedKeyThrottle {
  const { now: time = () => performance.now(), addresses: most = 10_000 } = options;
  const byAddress = new Map<string, FailureCount>();
  let all = NO_FAILURES;
  let waiting = 0;

  const note = (address: string): { readonly own: number; readonly waitMs: number } => {
    const now = time();
    const own = addFailure(byAddress.get(address) ?? NO_FAILURES, ADDRESS_LIMIT, now);
    all = addFailure(all, TOTAL_LIMIT, now);
    byAddress.delete(address);
    byAddress.set(address, own);
    const [oldest] = byAddress.keys();
    if (byAddress.size > most && oldest !== undefined) byAddress.delete(oldest);
    return { own: own.count, waitMs: Math.max(getWaitMs(own, ADDRESS_LIMIT), getWaitMs(all, TOTAL_LIMIT)) };
  };

  return {
    async refusal(exchange, unknown) {
      const address = getClientAddress(exchange);
      // A request within this process came over no connection.
      if (address === undefined) return unknown;
      const { own, waitMs } = note(address);
      if (waitMs > 0) return createTooManyFailuresError(waitMs);
      if (own <= UNDELAYED_FAILURES) return unknown;
      if (waiting >= MOST_WAITING) return createTooManyFailuresError(MINUTE_MS / ADDRESS_LIMIT);
      waiting += 1;
      const delayMs = Math.min(
        LONGEST_DELAY_MS,
        FIRST_DELAY_MS * 2 ** (Math.ceil(own) - UNDELAYED_FAILURES - 1),
      );
      try {
        await rest(delayMs, undefined, { signal: exchange.req.raw.signal });
      } catch {
        // It has gone.
      } finally {
        waiting -= 1;
      }
      return unknown;
    },
  };
}

/** One more, after those that have faded by now. More than one above the limit are not counted: then a minute would not be enough. */
function addFailure({ count, at }: FailureCount, limit: number, now: number): FailureCount {
  const faded = (Math.max(0, now - at) * limit) / MINUTE_MS;
  return { count: Math.min(limit + 1, Math.max(0, count - faded) + 1), at: now };
}

/** In how many ms one more would be heard. */
function getWaitMs({ count }: FailureCount, limit: number): number {
  return (Math.max(0, count - limit) * MINUTE_MS) / limit;
}

/** Of the connection itself: what a header says of it, anybody can write. Of IPv6 the network, which one client has whole. */
function getClientAddress(exchange: RequestContext): string | undefined {
  const address = getNodeBindings(exchange).incoming?.socket.remoteAddress;
  if (address === undefined) return undefined;
  if (!address.includes(":") || address.startsWith("::ffff:")) return address.replace(/^::ffff:/, "");
  return address.split(":").slice(0, 4).join(":");
}

function createTooManyFailuresError(waitMs: number): Error {
  return refuse({
    status: 429,
    code: "over_quota",
    detail:
      "Too many keys that are not known. Come again later, with a valid key; a valid key is let in at any time.",
    // The next guess pays for a connection of its own.
    headers: { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))), connection: "close" },
  });
}
