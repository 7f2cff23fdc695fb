import { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import * as z from "zod";
import type { App, RequestFacts } from "../app-types.ts";
import { authenticated, cookieName } from "../authenticate.ts";
import { readBody } from "../body.ts";
import type { ApiKeys } from "../keys.ts";
import { refuse } from "../problem.ts";

const SIGN_IN = z.strictObject({ key: z.string().max(1024) });

/**
 * Signs the page in: the key, which came in the link's fragment and so in no log, is exchanged for a cookie that no
 * script can read, and a proof that no other page can.
 */
export function signInRoutes(keys: ApiKeys): App {
  const app = new Hono<RequestFacts>();
  app.post("/session", async (context) => {
    const { key } = await readBody(context, SIGN_IN);
    const session = keys.openSession(key);
    if (!session) throw refuse({ status: 401, code: "forbidden", detail: "This key is not known here." });
    setCookie(context, cookieName(context), session.token, {
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      expires: new Date(session.expiresAt),
      secure: context.req.header("origin")?.startsWith("https:") ?? false,
    });
    const { proof, project, expiresAt } = session;
    return context.json({ proof, project, expires_at: expiresAt }, 201);
  });
  app.get("/session", authenticated(keys), (context) => context.json({ project: context.get("project") }));
  app.delete("/session", authenticated(keys), (context) => {
    const token = getCookie(context, cookieName(context));
    if (token !== undefined) keys.closeSession(token);
    deleteCookie(context, cookieName(context), { path: "/" });
    return context.body(null, 204);
  });
  return app;
}
