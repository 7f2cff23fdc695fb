import type { Webhook, WebhookAttempt } from "../../domain/operations/webhook.ts";
import type { WebhookSender } from "../../ports/webhook-sender.ts";
import type { Ports } from "../ports.ts";
import { signWebhook, type WebhookMessage } from "./sign-webhook.ts";

export type WebhookPorts = Pick<Ports, "store" | "clock" | "ids" | "secret" | "meter"> & {
  readonly webhookSender: WebhookSender;
};

/** The result of an attempt, and when the next one may be made at the earliest. */
export interface WebhookOutcome {
  readonly attempt: WebhookAttempt;
  readonly retryAfterMs?: number;
}

/** Sends an event once. Never throws. */
export async function sendWebhook(
  { webhookSender, clock, secret }: WebhookPorts,
  webhook: Webhook,
  message: WebhookMessage,
  { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
): Promise<WebhookOutcome> {
  const at = clock();
  const from = performance.now();
  const { status, problem, retryAfterMs } = await webhookSender.send({
    url: webhook.url,
    headers: signWebhook(secret, webhook, message, at),
    body: message.body,
    signal,
  });
  const why = problem ?? (isSuccess(status) ? undefined : "refused_by_receiver");
  return {
    attempt: {
      at: at.toISOString(),
      event: message.id,
      type: message.type,
      attempt,
      tookMs: Math.round(performance.now() - from),
      ...(status === undefined ? {} : { status }),
      ...(why === undefined ? {} : { problem: why }),
    },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function isSuccess(status = 0): boolean {
  return status >= 200 && status < 300;
}
