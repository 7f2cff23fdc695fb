import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { refuse } from "../problem.ts";
import type { AppEnvironment, RequestContext } from "../request-context.ts";
import { PROOF_HEADER } from "./authentication.ts";

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** What is kept of an id that comes with a request: nothing that could forge a line of a log. */
const REQUEST_ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives each request an id, or keeps its own, and each answer the headers that keep a browser strict. */
export function withSecurityHeaders(): MiddlewareHandler<AppEnvironment> {
  return async (context, next) => {
    const brought = context.req.header("x-request-id");
    const id = brought !== undefined && REQUEST_ID_PATTERN.test(brought) ? brought : randomUUID();
    context.set("requestId", id);
    await next();
    // On the answer itself: `context.header` would make a second one, body and all.
    const { headers } = context.res;
    // An answer that was passed on keeps the id by which its server knows it.
    headers.set(headers.has("x-request-id") ? "x-keepsake-request-id" : "x-request-id", id);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value);
    // Answers hold what people said: they belong in nobody's cache.
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  };
}

/** Refuses an address that is no well-formed text: else "%ff" would be the name of a user. */
export function rejectMalformedPath(): MiddlewareHandler<AppEnvironment> {
  return async (context, next) => {
    try {
      decodeURIComponent(new URL(context.req.url).pathname);
    } catch {
      throw refuse({ status: 400, code: "invalid_input", detail: "The address is not well-formed UTF-8." });
    }
    await next();
  };
}

/**
 * Refuses what did not come from here: a name in `Host` that is not ours (a foreign page that rebinds its name to
 * this machine), and a page of another origin that is not listed. `hosts` are names without ports; undefined lets every name
 * through.
 */
export function checkHostAndOrigin(
  hosts: ReadonlySet<string> | undefined,
  origins: ReadonlySet<string> = new Set(),
): MiddlewareHandler<AppEnvironment> {
  return async (context, next) => {
    const host = context.req.header("host") ?? new URL(context.req.url).host;
    checkHost(host, hosts);
    const origin = context.req.header("origin");
    const isOwn = origin === undefined || getOriginHost(origin) === host.toLowerCase();
    if (isOwn) await next();
    else if (!origins.has(origin)) throw createOriginError();
    else {
      const preflight = answerPreflight(context, origin);
      if (preflight) return preflight;
      context.set("foreignOrigin", origin);
      await next();
    }
    if (origins.size > 0) setCorsHeaders(context.res.headers, isOwn ? undefined : origin);
    return undefined;
  };
}

function checkHost(host: string, hosts: ReadonlySet<string> | undefined): void {
  if (!hosts || hosts.has(toHostName(host))) return;
  throw refuse({
    status: 403,
    code: "forbidden",
    detail: "This server does not go by that name (Host).",
  });
}

function createOriginError(): Error {
  return refuse({
    status: 403,
    code: "forbidden",
    detail: "Pages of other origins may not call this server, unless KEEPSAKE_ORIGINS lists theirs.",
  });
}

/** Whether only this machine can reach what listens there. A name that it cannot be sure of is none of its own. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.has(host.toLowerCase()) || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * The names a server answers to. Where it listens only on this machine, that's own names and those that were named;
 * else all, or, where some were named, those and this machine's own.
 */
export function getAllowedHosts(
  listens: string,
  named: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  const extra = (named ?? []).map((name) => name.toLowerCase());
  if (!isLoopback(listens) && extra.length === 0) return undefined;
  // An IPv6 address stands in brackets in `Host`.
  const own = listens.includes(":") ? `[${listens}]` : listens.toLowerCase();
  return new Set([...LOOPBACK_HOSTS, own, ...extra]);
}

function toHostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}

function getOriginHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** How long a browser may keep the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = "600";
const CORS_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Headers of answers that a page may read, beside those that every page may. */
const EXPOSED_HEADERS = [
  "idempotency-replayed",
  "retry-after",
  "x-keepsake-memory",
  "x-keepsake-memory-why",
  "x-keepsake-recall",
  "x-keepsake-request-id",
  "x-request-id",
].join(", ");
const HEADER_NAME = /^[a-z0-9-]{1,64}$/;
const MOST_HEADERS = 50;

/**
 * The answer to a browser that asks whether a page of a listed origin may send a request; undefined for a request that is none.
 * Neither cookies nor the proof of a signed-in page are let through: such a page brings a key.
 */
function answerPreflight({ req }: RequestContext, origin: string): Response | undefined {
  if (req.method !== "OPTIONS" || req.header("access-control-request-method") === undefined) return undefined;
  const wanted = (req.header("access-control-request-headers") ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => HEADER_NAME.test(name) && name !== PROOF_HEADER && name !== "cookie")
    .slice(0, MOST_HEADERS);
  const headers = new Headers({
    "access-control-allow-origin": origin,
    "access-control-allow-methods": CORS_METHODS,
    "access-control-max-age": PREFLIGHT_SECONDS,
    vary: "Origin, Access-Control-Request-Headers",
  });
  if (wanted.length > 0) headers.set("access-control-allow-headers", wanted.join(", "));
  return new Response(null, { status: 204, headers });
}

/** Lets a page of this origin read the answer. `undefined` for a request that no page of a listed origin made. */
function setCorsHeaders(headers: Headers, origin: string | undefined): void {
  headers.append("vary", "Origin");
  if (origin === undefined) return;
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
}
