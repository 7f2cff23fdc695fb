import * as z from "zod";
import { WEBHOOK_EVENTS, WEBHOOK_LIMITS } from "../../../domain/operations/webhook.ts";
import type { NewWebhook } from "../../../engine/webhooks/manage-webhooks.ts";
import { defineOperation, type Operation } from "../../operation.ts";
import { nameSchema, timeSchema, toOptional, wholeNumberSchema, withSchemaId } from "../../schemas/fields.ts";
import { omitUndefined, toWire } from "../../schemas/wire.ts";

const EVENTS_SCHEMA = z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(WEBHOOK_EVENTS.length);
const URL_SCHEMA = z.string().min(1).max(WEBHOOK_LIMITS.urlBytes);

const WEBHOOK_FIELDS = {
  events: toOptional(EVENTS_SCHEMA).describe("What it is told of. Default: everything"),
  enabled: toOptional(z.boolean()).describe("Whether events are sent (true)"),
  label: toOptional(nameSchema).describe("A name for people, at most 100 bytes"),
};
const NEW_WEBHOOK_BODY = z
  .strictObject({ url: URL_SCHEMA.describe("An https URL of a public host"), ...WEBHOOK_FIELDS })
  .describe("A webhook for the caller's project.");
const WEBHOOK_CHANGES_BODY = z
  .strictObject({ url: toOptional(URL_SCHEMA).describe("An https URL of a public host"), ...WEBHOOK_FIELDS })
  .describe("What is to change. The rest stays.");
const ROTATION_BODY = z.strictObject({
  grace_seconds: toOptional(
    z
      .int()
      .min(0)
      .max(WEBHOOK_LIMITS.graceMs / 1000),
  ).describe("How long events are signed with the old secret too, in seconds (86,400); 0 ends it now"),
});

const WEBHOOK_SCHEMA = withSchemaId(
  "Webhook",
  z.object({
    id: z.string(),
    project: z.string(),
    url: z.string(),
    events: EVENTS_SCHEMA,
    enabled: z.boolean(),
    status: z
      .enum(["active", "failing", "disabled"])
      .describe("failing: the last attempt failed, and more follow"),
    disabled_for: z
      .enum(["gone", "failing"])
      .optional()
      .describe("Why the server disabled it: the receiver answered 410, or failed for three days"),
    label: z.string().optional(),
    created_at: timeSchema,
    old_secret_until: timeSchema.optional().describe("Until when events are signed with the old secret too"),
    delivered: wholeNumberSchema.describe("Events delivered so far"),
    last_delivered_at: timeSchema.optional(),
    failures: wholeNumberSchema.describe("Failed attempts since the last delivery"),
    failing_since: timeSchema.optional(),
    paused_until: timeSchema.optional().describe("No attempt is made before, because the receiver is down"),
    last_problem: z.string().optional().describe("Why the last attempt failed: a fixed word"),
    last_status: z.int().optional().describe("The receiver's last HTTP status"),
  }),
);
const ISSUED_WEBHOOK_SCHEMA = withSchemaId(
  "IssuedWebhook",
  WEBHOOK_SCHEMA.extend({
    secret: z.string().describe("The secret that signs events, `whsec_…`, shown only this once"),
  }),
);
const ATTEMPT_SCHEMA = withSchemaId(
  "WebhookAttempt",
  z.object({
    at: timeSchema,
    event: z.string().describe("The header `webhook-id`"),
    type: z.enum([...WEBHOOK_EVENTS, "webhook.test"]),
    attempt: z.int().min(1),
    took_ms: wholeNumberSchema,
    status: z.int().optional().describe("The receiver's HTTP status; absent without an answer"),
    problem: z.string().optional().describe("Why it failed: a fixed word; absent if it was delivered"),
  }),
);
const WEBHOOKS_SCHEMA = z.object({ items: z.array(WEBHOOK_SCHEMA), total: z.int().min(0) });
const ATTEMPTS_SCHEMA = z.object({ items: z.array(ATTEMPT_SCHEMA) });
const ID_PARAMETERS = z.strictObject({ id: nameSchema });

/** The webhooks of the caller's project. They need the scope `admin`. */
export const webhookOperations: readonly Operation[] = [
  defineOperation({
    id: "listWebhooks",
    method: "GET",
    path: "/api/v1/webhooks",
    tag: "Webhooks",
    summary: "Lists the webhooks of the project, oldest first",
    scope: "admin",
    answers: { 200: { says: "The webhooks, without secrets.", schema: WEBHOOKS_SCHEMA } },
    problems: [422],
    async handle({ exchange, project, services }) {
      const items = (await services.keepsake.webhooks.list(project())).map(toWire);
      return exchange.json({ items, total: items.length });
    },
  }),
  defineOperation({
    id: "createWebhook",
    method: "POST",
    path: "/api/v1/webhooks",
    tag: "Webhooks",
    summary: "Registers a webhook",
    description:
      "It is told of what happens in the project from now on. The secret is shown only once. `Idempotency-Key` is not supported, " +
      "because it would store the secret.",
    scope: "admin",
    body: NEW_WEBHOOK_BODY,
    answers: { 201: { says: "The webhook with its secret.", schema: ISSUED_WEBHOOK_SCHEMA } },
    problems: [422, 429],
    async handle({ exchange, body, project, services }) {
      const wanted: NewWebhook = { ...omitUndefined(body), url: body.url };
      return exchange.json(toWire(await services.keepsake.webhooks.create(wanted, project())) as object, 201);
    },
  }),
  defineOperation({
    id: "getWebhook",
    method: "GET",
    path: "/api/v1/webhooks/{id}",
    tag: "Webhooks",
    summary: "Gives a webhook, and how its deliveries go",
    scope: "admin",
    parameters: ID_PARAMETERS,
    answers: { 200: { says: "The webhook.", schema: WEBHOOK_SCHEMA } },
    problems: [404, 422],
    handle: async ({ exchange, path, project, services }) =>
      exchange.json(toWire(await services.keepsake.webhooks.get(path.id, project())) as object),
  }),
  defineOperation({
    id: "updateWebhook",
    method: "PATCH",
    path: "/api/v1/webhooks/{id}",
    tag: "Webhooks",
    summary: "Changes a webhook",
    description: "A webhook that is enabled again goes on with the first event that was not delivered.",
    scope: "admin",
    parameters: ID_PARAMETERS,
    body: WEBHOOK_CHANGES_BODY,
    answers: { 200: { says: "The webhook.", schema: WEBHOOK_SCHEMA } },
    problems: [404, 409, 422],
    async handle({ exchange, path, body, project, services }) {
      const changes = omitUndefined(body) as Partial<NewWebhook>;
      return exchange.json(
        toWire(await services.keepsake.webhooks.update(path.id, changes, project())) as object,
      );
    },
  }),
  defineOperation({
    id: "deleteWebhook",
    method: "DELETE",
    path: "/api/v1/webhooks/{id}",
    tag: "Webhooks",
    summary: "Removes a webhook",
    scope: "admin",
    parameters: ID_PARAMETERS,
    answers: { 204: { says: "The webhook is removed." } },
    problems: [404, 422],
    async handle({ exchange, path, project, services }) {
      await services.keepsake.webhooks.remove(path.id, project());
      return exchange.body(null, 204);
    },
  }),
  defineOperation({
    id: "listWebhookAttempts",
    method: "GET",
    path: "/api/v1/webhooks/{id}/attempts",
    tag: "Webhooks",
    summary: `Gives the last ${WEBHOOK_LIMITS.attempts} attempts of a webhook, the newest first`,
    scope: "admin",
    parameters: ID_PARAMETERS,
    answers: { 200: { says: "The attempts.", schema: ATTEMPTS_SCHEMA } },
    problems: [404, 422],
    async handle({ exchange, path, project, services }) {
      const items = await services.keepsake.webhooks.attempts(path.id, project());
      return exchange.json({ items: items.map(toWire) });
    },
  }),
  defineOperation({
    id: "testWebhook",
    method: "POST",
    path: "/api/v1/webhooks/{id}/test",
    tag: "Webhooks",
    summary: "Sends an event `webhook.test` now",
    description: "Also to a disabled webhook. It is sent once, and the attempt is not kept.",
    scope: "admin",
    parameters: ID_PARAMETERS,
    answers: { 200: { says: "The attempt, whether it was delivered or not.", schema: ATTEMPT_SCHEMA } },
    problems: [404, 422],
    handle: async ({ exchange, path, project, services }) =>
      exchange.json(toWire(await services.keepsake.webhooks.test(path.id, project())) as object),
  }),
  defineOperation({
    id: "rotateWebhookSecret",
    method: "POST",
    path: "/api/v1/webhooks/{id}/rotate",
    tag: "Webhooks",
    summary: "Replaces the secret of a webhook",
    description: "For `grace_seconds`, by default a day, events carry a signature with the old secret too.",
    scope: "admin",
    parameters: ID_PARAMETERS,
    body: ROTATION_BODY,
    isBodyOptional: true,
    answers: { 200: { says: "The webhook with its new secret.", schema: ISSUED_WEBHOOK_SCHEMA } },
    problems: [404, 409, 422],
    async handle({ exchange, path, body, project, services }) {
      const seconds = body?.grace_seconds;
      const graceMs = seconds === undefined ? undefined : seconds * 1000;
      const issued = await services.keepsake.webhooks.rotate(path.id, { graceMs, project: project() });
      return exchange.json(toWire(issued) as object);
    },
  }),
];
