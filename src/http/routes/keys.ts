import * as z from "zod";
import { momentSchema, nameSchema, newNameSchema, toOptional } from "../fields.ts";
import { LONGEST_GRACE_MS } from "../keys/manage.ts";
import { type ApiKeys, type IssuedKey, KEY_SCOPES } from "../keys.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { timeSchema, withSchemaId } from "../shapes/named.ts";
import { toWire } from "../wire.ts";

const SCOPES_SCHEMA = z.array(z.enum(KEY_SCOPES)).min(1).max(KEY_SCOPES.length);

const NEW_KEY_BODY = z
  .strictObject({
    scopes: toOptional(SCOPES_SCHEMA).describe("What it may do: read, write and erase, where absent"),
    user_id: toOptional(newNameSchema).describe("The only user it reaches; not with the scope admin"),
    expires_at: toOptional(momentSchema).describe("From then on it opens nothing; never, where absent"),
    label: toOptional(nameSchema).describe("What people call it: at most 100 bytes"),
  })
  .describe("A key for the project of whoever asks.");

const ROTATION_BODY = z.strictObject({
  grace_seconds: toOptional(
    z
      .int()
      .min(0)
      .max(LONGEST_GRACE_MS / 1000),
  ).describe("How long the old secret still counts (86,400); 0 ends it now"),
});

const KEY_SCHEMA = withSchemaId(
  "Key",
  z.object({
    id: z.string().describe("The public part of the key"),
    project: z.string(),
    scopes: SCOPES_SCHEMA,
    status: z.enum(["active", "expired"]),
    user_id: z.string().optional().describe("The only user it reaches"),
    label: z.string().optional(),
    created_at: timeSchema,
    expires_at: timeSchema.optional(),
    last_used_at: timeSchema.optional().describe("To the minute, about; absent while it has not been used"),
    old_secret_until: timeSchema
      .optional()
      .describe("Until when the secret before its rotation still counts"),
  }),
);
const KEYS_SCHEMA = z.object({ items: z.array(KEY_SCHEMA), total: z.int().min(0) });
const ISSUED_KEY_SCHEMA = withSchemaId(
  "IssuedKey",
  KEY_SCHEMA.extend({ key: z.string().describe("The key itself, told this once") }),
);
const ID_PARAMETERS = z.strictObject({ id: nameSchema });

/** The keys of the project of whoever asks. A key without the scope `admin` learns nothing of them. */
export const keyOperations: readonly Operation[] = [
  defineOperation({
    id: "listKeys",
    method: "GET",
    path: "/api/v1/keys",
    tag: "Keys",
    summary: "The keys of the project, oldest first",
    scope: "admin",
    answers: { 200: { says: "The keys, without their secrets.", schema: KEYS_SCHEMA } },
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
    summary: "Makes a key for the project",
    description: "It is shown this once. `Idempotency-Key` is not honoured, for that would keep the secret.",
    scope: "admin",
    body: NEW_KEY_BODY,
    answers: { 201: { says: "The key.", schema: ISSUED_KEY_SCHEMA } },
    problems: [429],
    async handle({ exchange, body, project, services }) {
      const { scopes, user_id: user, expires_at: expiresAt, label } = body;
      const made = services.keys.create({ project: project(), scopes, user, expiresAt, label });
      await services.keys.kept();
      return exchange.json(toIssuedKey(made, services.keys), 201);
    },
  }),
  defineOperation({
    id: "rotateKey",
    method: "POST",
    path: "/api/v1/keys/{id}/rotate",
    tag: "Keys",
    summary: "Gives a key another secret",
    description: "The old one still counts for a while: a day, where `grace_seconds` says nothing else.",
    scope: "admin",
    parameters: ID_PARAMETERS,
    body: ROTATION_BODY,
    isBodyOptional: true,
    answers: { 200: { says: "The key with its new secret.", schema: ISSUED_KEY_SCHEMA } },
    problems: [404, 409],
    async handle({ exchange, path, body, project, services }) {
      const seconds = body?.grace_seconds;
      const graceMs = seconds === undefined ? undefined : seconds * 1000;
      const made = services.keys.rotate(path.id, { project: project(), graceMs });
      await services.keys.kept();
      return exchange.json(toIssuedKey(made, services.keys));
    },
  }),
  defineOperation({
    id: "revokeKey",
    method: "DELETE",
    path: "/api/v1/keys/{id}",
    tag: "Keys",
    summary: "Ends a key, and what is signed in with it",
    scope: "admin",
    parameters: ID_PARAMETERS,
    answers: { 204: { says: "It opens nothing any more." } },
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
