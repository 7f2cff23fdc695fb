import { getWebhookStatus, type Webhook } from "../../domain/operations/webhook.ts";
import { MemoryError } from "../../errors.ts";
import { computeRetryDelay } from "../../ports/queue.ts";
import type { StoredWebhook, WebhookStore } from "../../ports/stores/webhook-store.ts";
import { pauseFor } from "../jobs/job.ts";
import { acquireLease, isHeldLease } from "../jobs/job-runner.ts";
import type { Ports } from "../ports.ts";
import type { WebhookPorts } from "./send-webhook.ts";
import { createUserPages, type UserPages } from "./user-pages.ts";
import {
  createWebhookChannel,
  WEBHOOK_TIMING,
  type WebhookChannel,
  type WebhookTiming,
} from "./webhook-channel.ts";

/** Sends events to webhooks in the background. */
export interface WebhookDelivery {
  /** Call it after a commit: its event goes out at once, if this process has the lease. */
  onCommit(): void;
  /** Call it after a webhook was registered, changed or removed. */
  onWebhookChange(): void;
  /** Interrupts requests, saves positions and gives leases back. */
  stop(): Promise<void>;
}

/** The first requests come first. */
const START_MS = 100;
/** How often webhooks that other processes registered or changed are looked for. */
const LIST_MS = 2000;
/** Requests under way at once, to all webhooks. */
const MAX_REQUESTS = 64;
const FLUSH_MS = 200;
/** Looks that find nothing to send take at most this share of the time: 1 of 20. */
const REST_FACTOR = 20;
/** How long another process keeps a lease at most before this one asks again. */
const ASK_AGAIN_MS = 5000;

interface Following {
  readonly end: AbortController;
  readonly wake: () => void;
  /** Absent until the lease is held. */
  channel?: WebhookChannel;
  ended: Promise<void>;
}

/**
 * Starts the deliveries. Of all processes on the store, the one with a webhook's lease sends its events: in order for each
 * user, several users at once. Positions are stored a moment after a delivery, so a killed process repeats a few.
 */
export function startWebhookDelivery(
  { webhookSender, ...ports }: Pick<Ports, "store" | "clock" | "ids" | "secret" | "meter" | "webhookSender">,
  webhooks: WebhookStore,
  timing: WebhookTiming = WEBHOOK_TIMING,
): WebhookDelivery | undefined {
  if (!webhookSender) return undefined;
  const context: DeliveryContext = {
    ports: { ...ports, webhookSender },
    webhooks,
    timing,
    runLimited: createLimiter(MAX_REQUESTS),
    stopped: new AbortController(),
    following: new Map(),
    list: createAlarmClock(),
    pages: createUserPages(webhooks),
    look: createAlarmClock(),
  };
  const running = Promise.all([runDelivery(context), watchPages(context)]);
  return {
    onCommit: context.look.wake,
    onWebhookChange: context.list.wake,
    async stop() {
      context.stopped.abort(new MemoryError("unavailable", "this memory has been closed."));
      await running;
      await Promise.all([...context.following.values()].map(({ ended }) => ended));
    },
  };
}

interface DeliveryContext {
  readonly ports: WebhookPorts;
  readonly webhooks: WebhookStore;
  readonly timing: WebhookTiming;
  readonly runLimited: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly stopped: AbortController;
  /** By the id of the webhook. */
  readonly following: Map<string, Following>;
  readonly list: AlarmClock;
  readonly pages: UserPages;
  /** Rings when the pages of users may have changed. */
  readonly look: AlarmClock;
}

/** Follows each enabled webhook until the memory closes. */
async function runDelivery(context: DeliveryContext): Promise<void> {
  const { webhooks, stopped, list } = context;
  const { signal } = stopped;
  let failures = 0;
  await pauseFor(START_MS, signal);
  while (!signal.aborted) {
    try {
      const stored = await webhooks.list();
      updateFollowing(context, stored);
      recordWebhookMetrics(context, stored);
      failures = 0;
    } catch {
      // The store cannot be reached now. Its own health is reported elsewhere.
      failures += 1;
    }
    await list.wait({ minMs: failures === 0 ? 0 : computeRetryDelay(failures), maxMs: LIST_MS }, signal);
  }
}

/** Sets what an operator watches. A process without the lease of a webhook knows nothing of its backlog. */
function recordWebhookMetrics({ ports, following }: DeliveryContext, stored: readonly StoredWebhook[]): void {
  const { meter, clock } = ports;
  if (!meter) return;
  const counts = { active: 0, failing: 0, disabled: 0 };
  for (const { webhook, health } of stored) counts[getWebhookStatus(webhook, health)] += 1;
  for (const [status, count] of Object.entries(counts)) meter.set("keepsake_webhooks", count, { status });
  const backlogs = [...following.values()].flatMap(({ channel }) => channel?.backlog ?? []);
  const revisions = backlogs.reduce((sum, backlog) => sum + backlog.revisions, 0);
  const ages = backlogs.map(({ failingSince }) =>
    failingSince === undefined ? 0 : clock().getTime() - Date.parse(failingSince),
  );
  meter.set("keepsake_webhook_pending_revisions", revisions);
  meter.set("keepsake_webhook_oldest_failing_seconds", Math.max(0, ...ages) / 1000);
}

/** Looks for pages of users that have changed, once for all webhooks whose lease this process has. */
async function watchPages({ following, pages, look, stopped, timing }: DeliveryContext): Promise<void> {
  const { signal } = stopped;
  const computeRest = createRest();
  let failures = 0;
  while (!signal.aborted) {
    const channels = [...following.values()].filter(({ channel }) => channel);
    const from = performance.now();
    try {
      // Without a channel, the first one wakes this.
      if (channels.length > 0 && (await pages.refresh())) for (const { wake } of channels) wake();
      failures = 0;
    } catch {
      failures += 1;
    }
    const restMs = failures === 0 ? computeRest(performance.now() - from) : computeRetryDelay(failures);
    await look.wait({ minMs: restMs, maxMs: Math.max(timing.pollMs, restMs) }, signal);
  }
}

function updateFollowing(context: DeliveryContext, stored: readonly StoredWebhook[]): void {
  const { following } = context;
  const enabled = new Map(
    stored.filter(({ webhook }) => webhook.enabled).map((one) => [one.webhook.id, one.webhook]),
  );
  for (const [id, { end, channel }] of following) {
    const webhook = enabled.get(id);
    if (!webhook) end.abort();
    else if (channel && webhook.version > channel.webhook.version) channel.webhook = webhook;
  }
  for (const [id, webhook] of enabled) if (!following.has(id)) startFollowing(context, webhook);
}

function startFollowing(context: DeliveryContext, webhook: Webhook): void {
  const end = new AbortController();
  const alarm = createAlarmClock();
  const one: Following = { end, wake: alarm.wake, ended: Promise.resolve() };
  context.following.set(webhook.id, one);
  one.ended = followWebhook(context, webhook, one, alarm)
    // The store cannot be reached, or another process has the lease: tried again.
    .catch(() => ASK_AGAIN_MS)
    .then(async (againMs) => {
      await pauseFor(againMs, AbortSignal.any([context.stopped.signal, end.signal]));
      context.following.delete(webhook.id);
      context.list.wake();
    });
}

/** Sends the events of a webhook while it is enabled and the lease lasts. Gives the pause before the next try, in ms. */
async function followWebhook(
  context: DeliveryContext,
  { id, project }: Webhook,
  one: Following,
  alarm: AlarmClock,
): Promise<number> {
  const { ports, webhooks } = context;
  const signal = AbortSignal.any([context.stopped.signal, one.end.signal]);
  const lease = await acquireLease(ports.store.jobs, `webhook ${id}`, { isUrgent: true, signal });
  if (!isHeldLease(lease)) return Math.min(ASK_AGAIN_MS, lease.waitMs);
  const failing = new AbortController();
  try {
    // Read under the lease: another process may have changed it meanwhile.
    const stored = (await webhooks.list(project)).find(({ webhook }) => webhook.id === id);
    if (!stored?.webhook.enabled) return 0;
    const channel = createWebhookChannel({
      ...context,
      ...stored,
      signal: AbortSignal.any([lease.signal, failing.signal]),
      disable: (webhook, reason) => disableWebhook(context, one, webhook, reason),
    });
    one.channel = channel;
    context.look.wake();
    const flushing = flushOften(channel, failing);
    try {
      await deliverUntilEnd(channel, alarm, context.timing.pollMs);
    } finally {
      failing.abort();
      await channel.settle();
      await flushing;
      await channel.flush();
    }
    return 0;
  } finally {
    await lease.giveBack();
  }
}

async function deliverUntilEnd(channel: WebhookChannel, alarm: AlarmClock, pollMs: number): Promise<void> {
  const computeRest = createRest();
  while (!channel.signal.aborted && channel.webhook.enabled) {
    const { idleMs, isBehind, pauseMs } = await channel.deliver();
    const minMs = Math.max(pauseMs, isBehind ? idleMs : computeRest(idleMs));
    await alarm.wait({ minMs, maxMs: isBehind ? minMs : Math.max(pollMs, minMs) }, channel.signal);
  }
}

/** Gives the rest after each look. A look that was slow by chance does not count: the shorter of the last two does. */
function createRest(): (tookMs: number) => number {
  let before = 0;
  return (tookMs) => {
    const restMs = Math.min(before, tookMs) * REST_FACTOR;
    before = tookMs;
    return restMs;
  };
}

/** Saves positions while the channel is open. If that fails, it ends the channel, because deliveries would be repeated. */
async function flushOften(channel: WebhookChannel, failing: AbortController): Promise<void> {
  while (!channel.signal.aborted) {
    await pauseFor(FLUSH_MS, channel.signal);
    try {
      await channel.flush();
    } catch (error) {
      failing.abort(error);
    }
  }
}

/** Disables a webhook for its failures. If a user changes it at the same time, that change wins. */
async function disableWebhook(
  { webhooks, list }: DeliveryContext,
  { end }: Following,
  webhook: Webhook,
  disabledFor: "gone" | "failing",
): Promise<void> {
  await webhooks
    .save({ ...webhook, enabled: false, disabledFor, version: webhook.version + 1 })
    .catch(() => {});
  end.abort();
  list.wake();
}

/** Runs at most this many pieces of work at once, in the order of their requests. */
function createLimiter(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** A pause that can be cut short. */
interface AlarmClock {
  /** Ends the pause, or the next one. */
  readonly wake: () => void;
  /** Waits for `minMs`, and then until it is woken, at most until `maxMs`. */
  wait(times: { readonly minMs: number; readonly maxMs: number }, signal: AbortSignal): Promise<void>;
}

function createAlarmClock(): AlarmClock {
  let woken = new AbortController();
  return {
    wake: () => woken.abort(),
    async wait({ minMs, maxMs }, signal) {
      await pauseFor(minMs, signal);
      await pauseFor(Math.max(0, maxMs - minMs), AbortSignal.any([signal, woken.signal]));
      woken = new AbortController();
    },
  };
}
