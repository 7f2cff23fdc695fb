import type { MiddlewareHandler } from "hono";
import type { Allowance, RateLimits } from "../ports/rate-limits.ts";
import type { AppEnvironment, RequestContext } from "./app-types.ts";
import type { Bearer } from "./keys.ts";
import { refuse } from "./problem.ts";

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
