import { createHash, createHmac } from "node:crypto";
import type { LogEntry } from "../../domain/change-set.ts";
import {
  getWebhookEvents,
  WEBHOOK_LIMITS,
  type Webhook,
  type WebhookEvent,
} from "../../domain/operations/webhook.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Secret } from "../../ports/system.ts";

/** An event, as it is sent. It contains ids and kinds, never text: an erasure need not follow it. */
export interface WebhookMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  readonly type: WebhookEvent | "webhook.test";
  readonly body: string;
}

const SECRET_PREFIX = "whsec_";
const ID_LENGTH = 27;

/** Gives a secret of a webhook in the form of the Standard Webhooks specification. It is derived, so it is stored nowhere. */
export function deriveWebhookSecret(secret: Secret, { project, id }: Webhook, generation: string): string {
  const key = Buffer.from(secret.sign(JSON.stringify(["webhook", project, id, generation])), "hex");
  return `${SECRET_PREFIX}${key.toString("base64")}`;
}

/**
 * Gives the headers of a delivery (https://www.standardwebhooks.com, 1.0.0). Until a rotation's grace period ends, there are
 * two signatures.
 */
export function signWebhook(
  secret: Secret,
  webhook: Webhook,
  { id, body }: Pick<WebhookMessage, "id" | "body">,
  now: Date,
): { readonly [header: string]: string } {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const { generation, previous } = webhook;
  const isOldValid = previous !== undefined && previous.until > now.toISOString();
  const signatures = [generation, ...(isOldValid ? [previous.generation] : [])].map((one) => {
    const key = Buffer.from(deriveWebhookSecret(secret, webhook, one).slice(SECRET_PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "content-type": "application/json",
    "user-agent": "Keepsake",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

/**
 * Creates the event of an entry of the log; undefined if the webhook does not want it. The same entry always gives the same id,
 * also after a restart, so that receivers can drop repetitions.
 */
export function createWebhookMessage(
  { id: webhook, events }: Webhook,
  { project, user }: Scope,
  entry: LogEntry,
): WebhookMessage | undefined {
  const kinds = getWebhookEvents(entry);
  const [type] = kinds;
  if (type === undefined || !kinds.some((kind) => events.includes(kind))) return undefined;
  const { revision, at, cause, undoes, importId, messages, memories, erased, linked, unlinked } = entry;
  const lists = { messages, memories, erased, linked: linked ?? [], unlinked: unlinked ?? [] };
  const isCut = Object.values(lists).some(({ length }) => length > WEBHOOK_LIMITS.ids);
  const cut = Object.fromEntries(
    Object.entries(lists)
      .filter(([name, list]) => list.length > 0 || !name.endsWith("linked"))
      .map(([name, list]) => [name, list.slice(0, WEBHOOK_LIMITS.ids)]),
  );
  const data = {
    project,
    user_id: user,
    revision,
    cause,
    ...(undoes === undefined ? {} : { undoes }),
    ...(importId === undefined ? {} : { import_id: importId }),
    ...cut,
    ...(isCut ? { is_cut: true } : {}),
  };
  return {
    id: hashId(webhook, project, user, revision, at),
    type,
    body: JSON.stringify({ type, timestamp: at, data }),
  };
}

/** Creates an event for a person who tries a webhook. */
export function createTestMessage({ id, project }: Webhook, unique: string, now: Date): WebhookMessage {
  const type = "webhook.test";
  const body = JSON.stringify({ type, timestamp: now.toISOString(), data: { project, webhook: id } });
  return { id: hashId(id, unique), type, body };
}

function hashId(...parts: readonly (string | number)[]): string {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
  return `msg_${hash.slice(0, ID_LENGTH)}`;
}
