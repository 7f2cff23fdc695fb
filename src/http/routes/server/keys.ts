import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import * as z from "zod";
import { type ApiKeys, type IssuedKey, KEY_SCOPES } from "../../keys/api-keys.ts";
import { LONGEST_GRACE_MS } from "../../keys/key-management.ts";
import { getCookieName } from "../../middleware/authentication.ts";
import { defineOperation, type Operation } from "../../operation.ts";
import { refuse } from "../../problem.ts";
import {
  momentSchema,
  nameSchema,
  newNameSchema,
  timeSchema,
  toOptional,
  withSchemaId,
} from "../../schemas/fields.ts";
import { toWire } from "../../schemas/wire.ts";

const SCOPES_SCHEMA = z.array(z.enum(KEY_SCOPES)).min(1).max(KEY_SCOPES.length);

const NEW_KEY_BODY = z
  .strictObject({
    scopes: toOptional(SCOPES_SCHEMA).describe("What the key may do. Default: read, write and erase"),
    user_id: toOptional(newNameSchema).describe(
      "The only user that the key can access; not with the scope admin",
    ),
    expires_at: toOptional(momentSchema).describe("When the key expires. Default: never"),
    label: toOptional(nameSchema).describe("A name for people, at most 100 bytes"),
  })
  .describe("A key for the caller's project.");

const ROTATION_BODY = z.strictObject({
  grace_seconds: toOptional(
    z
      .int()
      .min(0)
      .max(LONGEST_GRACE_MS / 1000),
  ).describe("How long the old secret stays valid, in seconds (86,400); 0 ends it now"),
});

const KEY_SCHEMA = withSchemaId(
  "Key",
  z.object({
    id: z.string().describe("The public part of the key"),
    project: z.string(),
    scopes: SCOPES_SCHEMA,
    status: z.enum(["active", "expired"]),
    user_id: z.string().optional().describe("The only user that the key can access"),
    label: z.string().optional(),
    created_at: timeSchema,
    expires_at: timeSchema.optional(),
    last_used_at: timeSchema
      .optional()
      .describe("Accurate to about a minute; absent if the key was never used"),
    old_secret_until: timeSchema.optional().describe("When the secret from before the rotation expires"),
  }),
);
const KEYS_SCHEMA = z.object({ items: z.array(KEY_SCHEMA), total: z.int().min(0) });
const ISSUED_KEY_SCHEMA = withSchemaId(
  "IssuedKey",
  KEY_SCHEMA.extend({ key: z.string().describe("The key itself, shown only this once") }),
);
const ID_PARAMETERS = z.strictObject({ id: nameSchema });

/** The keys of the caller's project. They need the scope `admin`. */
export const keyOperations: readonly Operation[] = [
  defineOperation({
    id: "listKeys",
    method: "GET",
    path: "/api/v1/keys",
    tag: "Keys",
    summary: "Lists the keys of the project, oldest first",
    scope: "admin",
    answers: { 200: { says: "The keys, without secrets.", schema: KEYS_SCHEMA } },
    handle({ exchange, project, services }) {
      const items = services.keys.list(project()).map((entry) => toWire(services.keys.show(entry)));
      return exchange.json({ items, total: items.length });
    },
  }),
  defineOperation({
    id: "createKey",
    method: "POST",
    path: "/api/v1/keys",
    tag: "Keys",
    summary: "Creates a key for the project",
    description:
      "The key is shown only once. `Idempotency-Key` is not supported, because it would store the secret.",
    scope: "admin",
    body: NEW_KEY_BODY,
    answers: { 201: { says: "The key.", schema: ISSUED_KEY_SCHEMA } },
    problems: [429],
    async handle({ exchange, body, project, services }) {
      const { scopes, user_id: user, expires_at: expiresAt, label } = body;
      const issued = services.keys.create({ project: project(), scopes, user, expiresAt, label });
      await services.keys.kept();
      return exchange.json(toIssuedKey(issued, services.keys), 201);
    },
  }),
  defineOperation({
    id: "rotateKey",
    method: "POST",
    path: "/api/v1/keys/{id}/rotate",
    tag: "Keys",
    summary: "Replaces the secret of a key",
    description: "The old secret stays valid for `grace_seconds`, by default a day.",
    scope: "admin",
    parameters: ID_PARAMETERS,
    body: ROTATION_BODY,
    isBodyOptional: true,
    answers: { 200: { says: "The key with its new secret.", schema: ISSUED_KEY_SCHEMA } },
    problems: [404, 409],
    async handle({ exchange, path, body, project, services }) {
      const seconds = body?.grace_seconds;
      const graceMs = seconds === undefined ? undefined : seconds * 1000;
      const issued = services.keys.rotate(path.id, { project: project(), graceMs });
      await services.keys.kept();
      return exchange.json(toIssuedKey(issued, services.keys));
    },
  }),
  defineOperation({
    id: "revokeKey",
    method: "DELETE",
    path: "/api/v1/keys/{id}",
    tag: "Keys",
    summary: "Revokes a key and its sessions",
    scope: "admin",
    parameters: ID_PARAMETERS,
    answers: { 204: { says: "The key is revoked." } },
    problems: [404],
    async handle({ exchange, path, project, services }) {
      services.keys.revoke(path.id, { project: project() });
      await services.keys.kept();
      return exchange.body(null, 204);
    },
  }),
];

function toIssuedKey({ key, entry }: IssuedKey, keys: ApiKeys): object {
  return { key, ...(toWire(keys.show(entry)) as object) };
}

const SIGN_IN_BODY = z.strictObject({ key: z.string().max(1024) });
const SIGN_IN_SCHEMA = z.object({ proof: z.string(), project: z.string(), expires_at: z.string() });
const SIGNED_IN_PROJECT_SCHEMA = z.object({ project: z.string() });

/**
 * Signs the page in. The key comes in the link's fragment, so it is in no log. It is exchanged for a cookie that scripts
 * cannot read, and a proof that other pages cannot read.
 */
export const signInOperations: readonly Operation[] = [
  defineOperation({
    id: "signIn",
    method: "POST",
    path: "/session",
    tag: "Signing in",
    summary: "Exchanges a key for a cookie and a proof",
    description:
      "The page sends the proof in `x-keepsake-proof` with the cookie. Neither alone gives access.",
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
        const unknown = refuse({ status: 401, code: "forbidden", detail: "Unknown key." });
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
    summary: "Gives the caller's project",
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
