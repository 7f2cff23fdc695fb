import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import * as z from "zod";
import { getCookieName } from "../authenticate.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { refuse } from "../problem.ts";

const SIGN_IN_BODY = z.strictObject({ key: z.string().max(1024) });
const SIGN_IN_SCHEMA = z.object({ proof: z.string(), project: z.string(), expires_at: z.string() });
const SIGNED_IN_PROJECT_SCHEMA = z.object({ project: z.string() });

/**
 * Signs the page in: the key, which came in the link's fragment and so in no log, is exchanged for a cookie that no
 * script can read, and a proof that no other page can.
 */
export const signInOperations: readonly Operation[] = [
  defineOperation({
    id: "signIn",
    method: "POST",
    path: "/session",
    tag: "Signing in",
    summary: "Exchanges a key for a cookie and a proof",
    description:
      "The page sends the proof in `x-keepsake-proof`, beside the cookie; neither opens anything alone.",
    scope: "none",
    body: SIGN_IN_BODY,
    answers: {
      201: { says: "Signed in.", schema: SIGN_IN_SCHEMA, headers: { "set-cookie": "The cookie." } },
    },
    problems: [401, 429],
    async handle({ exchange, body, services }) {
      await services.keys.refresh();
      const session = services.keys.openSession(body.key);
      if (!session) {
        const unknown = refuse({ status: 401, code: "forbidden", detail: "This key is not known here." });
        throw await services.failedKeys.refusal(exchange, unknown);
      }
      await services.keys.kept();
      setCookie(exchange, getCookieName(exchange), session.token, {
        httpOnly: true,
        sameSite: "Strict",
        path: "/",
        expires: new Date(session.expiresAt),
        secure: exchange.req.header("origin")?.startsWith("https:") ?? false,
      });
      const { proof, project, expiresAt } = session;
      return exchange.json({ proof, project, expires_at: expiresAt }, 201);
    },
  }),
  defineOperation({
    id: "getSignIn",
    method: "GET",
    path: "/session",
    tag: "Signing in",
    summary: "The project of whoever asks",
    scope: "any",
    answers: { 200: { says: "The project.", schema: SIGNED_IN_PROJECT_SCHEMA } },
    handle: ({ exchange, project }) => exchange.json({ project: project() }),
  }),
  defineOperation({
    id: "signOut",
    method: "DELETE",
    path: "/session",
    tag: "Signing in",
    summary: "Signs the page out",
    scope: "any",
    answers: { 204: { says: "Signed out." } },
    async handle({ exchange, services }) {
      const token = getCookie(exchange, getCookieName(exchange));
      if (token !== undefined) services.keys.closeSession(token);
      await services.keys.kept();
      deleteCookie(exchange, getCookieName(exchange), { path: "/" });
      return exchange.body(null, 204);
    },
  }),
];
