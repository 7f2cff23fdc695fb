import type { MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import type { Exchange, RequestFacts } from "./app-types.ts";
import type { ApiKeys, Bearer } from "./keys.ts";
import { refuse } from "./problem.ts";

/** The header in which the page proves that it is the page; the cookie alone, which a browser sends by itself, opens nothing. */
export const PROOF_HEADER = "x-keepsake-proof";

/** Lets through only who has a key or a signed-in page, and says which project is meant. Runs before any body is read. */
export function authenticated(keys: ApiKeys): MiddlewareHandler<RequestFacts> {
  return async (context, next) => {
    const bearer = bearerOf(context, keys);
    if (!bearer) {
      throw refuse({
        status: 401,
        code: "forbidden",
        detail: "Send a valid key, with the header authorization: Bearer KEY.",
        headers: { "www-authenticate": 'Bearer realm="keepsake"' },
      });
    }
    context.set("project", bearer.project);
    await next();
  };
}

function bearerOf(context: Exchange, keys: ApiKeys): Bearer | undefined {
  const header = context.req.header("authorization");
  if (header !== undefined) return keys.verify(/^Bearer +(\S+) *$/i.exec(header)?.[1] ?? "");
  const token = getCookie(context, cookieName(context));
  return token === undefined ? undefined : keys.verifySession(token, context.req.header(PROOF_HEADER) ?? "");
}

/** Cookies do not tell ports apart, so the name has to: two servers on one machine must not sign each other out. */
export function cookieName(context: Exchange): string {
  const host = context.req.header("host") ?? new URL(context.req.url).host;
  return `keepsake_${/:(\d+)$/.exec(host)?.[1] ?? "0"}`;
}
