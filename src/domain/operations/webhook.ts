import type { LogEntry } from "../change-set.ts";
import type { Scope } from "../scope.ts";

/** What a webhook can be told of: messages that were added, memories or associations that changed, content that was erased. */
export const WEBHOOK_EVENTS = ["content.erased", "memories.changed", "messages.added"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Limits on webhooks. */
export const WEBHOOK_LIMITS = {
  /** Webhooks of one project. */
  count: 100,
  urlBytes: 2048,
  labelBytes: 100,
  /** Attempts that are kept for each webhook. */
  attempts: 25,
  /** Ids of one kind in one event. */
  ids: 1000,
  /** The longest that an old secret stays valid, in ms. */
  graceMs: 604_800_000,
} as const;

/** A registered webhook. Its secret is derived from the generation, so no secret is stored. */
export interface Webhook {
  readonly id: string;
  readonly project: string;
  readonly url: string;
  /** At least one. */
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  /** When it was last enabled, or got another URL (ISO 8601). Earlier failures do not count. */
  readonly enabledAt: string;
  /** Why it was disabled by the server: the receiver is gone, or deliveries failed for too long. */
  readonly disabledFor?: "gone" | "failing";
  readonly label?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Names the secret. */
  readonly generation: string;
  /** The secret before the last rotation, and until when it signs too (ISO 8601). */
  readonly previous?: { readonly generation: string; readonly until: string };
  /** 1, plus 1 with each change. */
  readonly version: number;
}

/** One attempt to deliver an event. */
export interface WebhookAttempt {
  /** ISO 8601. */
  readonly at: string;
  /** The header `webhook-id`: the same for all attempts of an event. */
  readonly event: string;
  readonly type: WebhookEvent | "webhook.test";
  /** From 1. */
  readonly attempt: number;
  readonly tookMs: number;
  /** The receiver's HTTP status; absent without an answer. */
  readonly status?: number;
  /** Why it failed: a fixed word; absent if it was delivered. */
  readonly problem?: string;
}

/** How deliveries to a webhook go. It contains no id of a user. */
export interface WebhookHealth {
  /** The newest first. */
  readonly attempts: readonly WebhookAttempt[];
  /** Events delivered since the registration. A process that was killed may have lost the last ones. */
  readonly delivered: number;
  /** ISO 8601. */
  readonly lastDeliveredAt?: string;
  /** Failed attempts since the last delivery. */
  readonly failures: number;
  /** When the first of them was (ISO 8601). */
  readonly failingSince?: string;
  /** No attempt is made before (ISO 8601). */
  readonly pausedUntil?: string;
}

export const NO_WEBHOOK_HEALTH: WebhookHealth = { attempts: [], delivered: 0, failures: 0 };

/** "failing": the last attempt failed. "disabled": no attempts are made. */
export type WebhookStatus = "active" | "failing" | "disabled";

export function getWebhookStatus({ enabled }: Webhook, { failures }: WebhookHealth): WebhookStatus {
  if (!enabled) return "disabled";
  return failures > 0 ? "failing" : "active";
}

/** The position of a webhook in one user's log. */
export interface WebhookCursor {
  /** Only `project` and `user`. */
  readonly scope: Scope;
  /** The last revision that was delivered or passed over. */
  readonly revision: number;
  /** Set if the next event failed. */
  readonly failure?: WebhookFailure;
}

/** Failed attempts to deliver one event. */
export interface WebhookFailure {
  /** At least 1. */
  readonly attempts: number;
  /** When the first attempt failed, when the last one did, and when the next one is due (ISO 8601). */
  readonly since: string;
  readonly at: string;
  readonly due: string;
}

/** Gives the kinds of an entry of the log. Its type is the first. A revision that changed nothing else has none. */
export function getWebhookEvents(entry: LogEntry): WebhookEvent[] {
  const { erased, memories, messages, linked = [], unlinked = [] } = entry;
  const isChanged = memories.length + linked.length + unlinked.length > 0;
  const found = {
    "content.erased": erased.length > 0,
    "memories.changed": isChanged,
    "messages.added": messages.length > 0,
  };
  return WEBHOOK_EVENTS.filter((event) => found[event]);
}
