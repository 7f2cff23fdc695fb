import * as z from "zod";
import { maybe, moment, name, newName } from "../fields.ts";
import { LONGEST_GRACE_MS } from "../keys/manage.ts";
import { type ApiKeys, type IssuedKey, KEY_SCOPES } from "../keys.ts";
import { type Operation, operation } from "../operation.ts";
import { named, time } from "../shapes/named.ts";
import { toWire } from "../wire.ts";

const SCOPES = z.array(z.enum(KEY_SCOPES)).min(1).max(KEY_SCOPES.length);

const NEW_KEY = z
  .strictObject({
    scopes: maybe(SCOPES).describe("What it may do: read, write and erase, where absent"),
    user_id: maybe(newName).describe("The only user it reaches; not with the scope admin"),
    expires_at: maybe(moment).describe("From then on it opens nothing; never, where absent"),
    label: maybe(name).describe("What people call it: at most 100 bytes"),
  })
  .describe("A key for the project of whoever asks.");

const ROTATION = z.strictObject({
  grace_seconds: maybe(
    z
      .int()
      .min(0)
      .max(LONGEST_GRACE_MS / 1000),
  ).describe("How long the old secret still counts (86,400); 0 ends it now"),
});

const KEY = named(
  "Key",
  z.object({
    id: z.string().describe("The public part of the key"),
    project: z.string(),
    scopes: SCOPES,
    status: z.enum(["active", "expired"]),
    user_id: z.string().optional().describe("The only user it reaches"),
    label: z.string().optional(),
    created_at: time,
    expires_at: time.optional(),
    last_used_at: time.optional().describe("To the minute, about; absent while it has not been used"),
    old_secret_until: time.optional().describe("Until when the secret before its rotation still counts"),
  }),
);
const KEYS = z.object({ items: z.array(KEY), total: z.int().min(0) });
const ISSUED = named("IssuedKey", KEY.extend({ key: z.string().describe("The key itself, told this once") }));
const BY_ID = z.strictObject({ id: name });

/** The keys of the project of whoever asks. A key without the scope `admin` learns nothing of them. */
export const keyOperations: readonly Operation[] = [
  operation({
    id: "listKeys",
    method: "GET",
    path: "/api/v1/keys",
    tag: "Keys",
    summary: "The keys of the project, oldest first",
    scope: "admin",
    answers: { 200: { says: "The keys, without their secrets.", schema: KEYS } },
    handle({ exchange, project, services }) {
      const items = services.keys.list(project()).map((entry) => toWire(services.keys.show(entry)));
      return exchange.json({ items, total: items.length });
    },
  }),
  operation({
    id: "createKey",
    method: "POST",
    path: "/api/v1/keys",
    tag: "Keys",
    summary: "Makes a key for the project",
    description: "It is shown this once. `Idempotency-Key` is not honoured, for that would keep the secret.",
    scope: "admin",
    body: NEW_KEY,
    answers: { 201: { says: "The key.", schema: ISSUED } },
    problems: [429],
    async handle({ exchange, body, project, services }) {
      const { scopes, user_id: user, expires_at: expiresAt, label } = body;
      const made = services.keys.create({ project: project(), scopes, user, expiresAt, label });
      await services.keys.kept();
      return exchange.json(issued(made, services.keys), 201);
    },
  }),
  operation({
    id: "rotateKey",
    method: "POST",
    path: "/api/v1/keys/{id}/rotate",
    tag: "Keys",
    summary: "Gives a key another secret",
    description: "The old one still counts for a while: a day, where `grace_seconds` says nothing else.",
    scope: "admin",
    parameters: BY_ID,
    body: ROTATION,
    isBodyOptional: true,
    answers: { 200: { says: "The key with its new secret.", schema: ISSUED } },
    problems: [404, 409],
    async handle({ exchange, path, body, project, services }) {
      const seconds = body?.grace_seconds;
      const graceMs = seconds === undefined ? undefined : seconds * 1000;
      const made = services.keys.rotate(path.id, { project: project(), graceMs });
      await services.keys.kept();
      return exchange.json(issued(made, services.keys));
    },
  }),
  operation({
    id: "revokeKey",
    method: "DELETE",
    path: "/api/v1/keys/{id}",
    tag: "Keys",
    summary: "Ends a key, and what is signed in with it",
    scope: "admin",
    parameters: BY_ID,
    answers: { 204: { says: "It opens nothing any more." } },
    problems: [404],
    async handle({ exchange, path, project, services }) {
      services.keys.revoke(path.id, { project: project() });
      await services.keys.kept();
      return exchange.body(null, 204);
    },
  }),
];

function issued({ key, entry }: IssuedKey, keys: ApiKeys): object {
  return { key, ...(toWire(keys.show(entry)) as object) };
}
