import type { RequestContext } from "./app-types.ts";
import { PROOF_HEADER } from "./authenticate.ts";

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
export function answerPreflight({ req }: RequestContext, origin: string): Response | undefined {
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
export function setCorsHeaders(headers: Headers, origin: string | undefined): void {
  headers.append("vary", "Origin");
  if (origin === undefined) return;
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
}
