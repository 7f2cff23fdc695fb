import { setTimeout as rest } from "node:timers/promises";
import type { MiddlewareHandler } from "hono";
import { isMemoryError } from "../../errors.ts";
import type { Allowance, RateLimits } from "../../ports/rate-limits.ts";
import type { Bearer } from "../keys/api-keys.ts";
import { refuse } from "../problem.ts";
import { type AppEnvironment, getNodeBindings, type RequestContext } from "../request-context.ts";

/** Limits per key and minute. Absent parts are unlimited. */
export interface KeyRateLimits {
  readonly requests?: RateLimits | undefined;
  /** Bytes of request bodies. */
  readonly bytes?: RateLimits | undefined;
}

type RateLimitPolicy = keyof KeyRateLimits;

/** Counts a request against the limit of its key. Throws 429 if it is used up. Requests without a key are not counted. */
export async function spendRequest(
  exchange: RequestContext,
  bearer: Bearer | undefined,
  rates: KeyRateLimits,
): Promise<void> {
  if (bearer) await spendAllowance(exchange, "requests", rates.requests, { key: bearer.key, amount: 1 });
}

/** Counts the bytes of a body against the limit of its key. Throws 429. */
export async function spendBytes(
  exchange: RequestContext,
  bearer: Bearer | undefined,
  { rates, bytes }: { readonly rates: KeyRateLimits; readonly bytes: number },
): Promise<void> {
  // Separate buckets, because both kinds may share one store.
  if (bearer)
    await spendAllowance(exchange, "bytes", rates.bytes, { key: `bytes ${bearer.key}`, amount: bytes });
}

const LIMIT_MESSAGES: Readonly<Record<RateLimitPolicy, string>> = {
  requests: "Too many requests with this key. Try again later, or ask the operator for a higher limit.",
  bytes: "Too many bytes with this key. Try again later, or ask the operator for a higher limit.",
};

async function spendAllowance(
  exchange: RequestContext,
  policy: RateLimitPolicy,
  limits: RateLimits | undefined,
  { key, amount }: { readonly key: string; readonly amount: number },
): Promise<void> {
  if (!limits) return;
  const allowance = await limits.spend(key, amount);
  exchange.set("allowances", { ...exchange.get("allowances"), [policy]: allowance });
  if (allowance.waitMs === 0) return;
  throw refuse({
    status: 429,
    code: "over_quota",
    detail: LIMIT_MESSAGES[policy],
    // The rest of a refused body is not read.
    headers: {
      "retry-after": String(Math.ceil(allowance.waitMs / 1000)),
      ...(policy === "bytes" ? { connection: "close" } : {}),
    },
  });
}

/**
 * Adds rate-limit headers to each response. `RateLimit` and `RateLimit-Policy` follow the IETF draft and cover requests and
 * bytes. `RateLimit-Limit`, `-Remaining` and `-Reset` are its earlier form, which more clients read, and cover requests.
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
 * Uses shared limits, and local ones while the shared store is down. Each server then counts separately, and no request is
 * refused because of the outage.
 */
export function sharedLimits(shared: RateLimits, own: RateLimits): RateLimits {
  const take = (key: string): Promise<number> => withFallback(shared.take(key), () => own.take(key));
  return {
    name: shared.name,
    take,
    spend: (key, amount) => withFallback(shared.spend(key, amount), () => own.spend(key, amount)),
  };
}

async function withFallback<Result>(request: Promise<Result>, own: () => Promise<Result>): Promise<Result> {
  try {
    return await request;
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    return own();
  }
}

/** Slows down requests with unknown keys. Valid keys are not affected. */
export interface FailedKeyThrottle {
  /** Counts a failure, waits for its delay, and gives the error: 401, or 429 with Retry-After. */
  refusal(exchange: RequestContext, unknown: Error): Promise<Error>;
}

interface FailedKeyThrottleOptions {
  /** A monotonic clock in ms (`performance.now`). */
  readonly now?: () => number;
  /** Maximum number of remembered addresses (10,000). The one with the oldest failure is dropped first. */
  readonly addresses?: number;
}

/** Failures allowed per address at once; they are regained over a minute. */
const ADDRESS_LIMIT = 20;
/** The same for all addresses together, because guesses may come from many. */
const TOTAL_LIMIT = 600;
/** Failures without a delay, because people mistype. */
const UNDELAYED_FAILURES = 5;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 1000;
/** Maximum number of delayed responses at once, because each holds a connection. */
const MOST_WAITING = 200;
const MINUTE_MS = 60_000;

interface FailureCount {
  /** The current number of failures, which decreases over time. */
  readonly count: number;
  /** The time of the count, in ms. */
  readonly at: number;
}

const NO_FAILURES: FailureCount = { count: 0, at: 0 };

/**
 * Creates a throttle of failed keys, per address and in total. It counts only failures, so valid keys behind the same
 * address are never locked out. Its memory is bounded.
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
      // A request inside this process has no connection.
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
        // The client has disconnected.
      } finally {
        waiting -= 1;
      }
      return unknown;
    },
  };
}

/** Adds a failure to the current count. Caps the count at one above the limit, so that a minute is always enough. */
function addFailure({ count, at }: FailureCount, limit: number, now: number): FailureCount {
  const faded = (Math.max(0, now - at) * limit) / MINUTE_MS;
  return { count: Math.min(limit + 1, Math.max(0, count - faded) + 1), at: now };
}

/** Gives the time until the next failure is allowed, in ms. */
function getWaitMs({ count }: FailureCount, limit: number): number {
  return (Math.max(0, count - limit) * MINUTE_MS) / limit;
}

/** Gives the address of the connection, because headers can be forged. For IPv6, gives the network, which belongs to one client. */
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
    detail: "Too many unknown keys. Try again later with a valid key; valid keys are always accepted.",
    // The next guess needs a new connection.
    headers: { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))), connection: "close" },
  });
}
