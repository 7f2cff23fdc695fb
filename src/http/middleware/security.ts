import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { refuse } from "../problem.ts";
import type { AppEnvironment, RequestContext } from "../request-context.ts";
import { PROOF_HEADER } from "./authentication.ts";

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; media-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The pattern of accepted request ids. Nothing in it can forge a log line. */
const REQUEST_ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

/** Sets a request id, or keeps the client's, and adds security headers to each response. */
export function withSecurityHeaders(): MiddlewareHandler<AppEnvironment> {
  return async (context, next) => {
    const brought = context.req.header("x-request-id");
    const id = brought !== undefined && REQUEST_ID_PATTERN.test(brought) ? brought : randomUUID();
    context.set("requestId", id);
    await next();
    // Set on the response itself: `context.header` would copy it with its body.
    const { headers } = context.res;
    // A forwarded response keeps the request id of its server.
    headers.set(headers.has("x-request-id") ? "x-keepsake-request-id" : "x-request-id", id);
    const own = { ...SECURITY_HEADERS, ...context.get("securityHeaders") };
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    const policy = context.get("contentPolicy");
    if (policy !== undefined) headers.set("content-security-policy", policy);
    // Responses contain private data and must not be cached.
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  };
}

/** Refuses a path that is not well-formed UTF-8: otherwise "%ff" would be the name of a user. */
export function rejectMalformedPath(): MiddlewareHandler<AppEnvironment> {
  return async (context, next) => {
    try {
      decodeURIComponent(new URL(context.req.url).pathname);
    } catch {
      throw refuse({ status: 400, code: "invalid_input", detail: "The path is not well-formed UTF-8." });
    }
    await next();
  };
}

/**
 * Refuses an unknown name in `Host` (DNS rebinding by another page), and pages of other origins that are not listed. `hosts`
 * are names without ports; undefined accepts every name.
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
    detail: "Unknown host name. Add it to KEEPSAKE_HOSTS to allow it.",
  });
}

function createOriginError(): Error {
  return refuse({
    status: 403,
    code: "forbidden",
    detail: "Pages of other origins may not call this server unless KEEPSAKE_ORIGINS lists their origin.",
  });
}

/** Whether an address is reachable only from this machine. An uncertain name counts as reachable from elsewhere. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.has(host.toLowerCase()) || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Gives the accepted host names. On a loopback address, these are the loopback names and the configured ones. Otherwise they
 * are all names or, if some are configured, those and the loopback names.
 */
export function getAllowedHosts(
  listens: string,
  named: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  const extra = named ?? [];
  if (!isLoopback(listens) && extra.length === 0) return undefined;
  return new Set([...LOOPBACK_HOSTS, ...[listens, ...extra].map(toHostForm)]);
}

/** A name as it is in `Host`: an address of IPv6 is in brackets. */
function toHostForm(name: string): string {
  return name.includes(":") && !name.startsWith("[") ? `[${name.toLowerCase()}]` : name.toLowerCase();
}

function toHostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}

function getOriginHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** How long a browser may cache a preflight response, in seconds. */
const PREFLIGHT_SECONDS = "600";
const CORS_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Response headers that a page may read, in addition to the safelisted ones. */
const EXPOSED_HEADERS = [
  "idempotency-replayed",
  "retry-after",
  "www-authenticate",
  "x-keepsake-memory",
  "x-keepsake-memory-why",
  "x-keepsake-recall",
  "x-keepsake-request-id",
  "x-request-id",
].join(", ");
const HEADER_NAME = /^[a-z0-9-]{1,64}$/;
const MOST_HEADERS = 50;

/**
 * Answers a preflight request from a listed origin; gives undefined for any other request. It allows neither cookies nor the
 * proof of a signed-in page: such a page must send a key.
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

/** Allows a page of this origin to read the response. `undefined`: the request comes from no listed origin. */
function setCorsHeaders(headers: Headers, origin: string | undefined): void {
  headers.append("vary", "Origin");
  if (origin === undefined) return;
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
}
