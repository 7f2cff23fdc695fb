import { randomInt } from "node:crypto";
import type { LogEntry } from "../../domain/change-set.ts";
import {
  WEBHOOK_LIMITS,
  type Webhook,
  type WebhookCursor,
  type WebhookFailure,
  type WebhookHealth,
} from "../../domain/operations/webhook.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { ChangedUser, WebhookStore } from "../../ports/stores/webhook-store.ts";
import { sendWebhook, type WebhookOutcome, type WebhookPorts } from "./send-webhook.ts";
import { createWebhookMessage, type WebhookMessage } from "./sign-webhook.ts";
import { findUnseenRanges, type UserPages } from "./user-pages.ts";

/** Times of deliveries, in ms. */
export interface WebhookTiming {
  /** The pause after the first failure of an event; twice as long after each further one. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** An event that has failed for so long disables its webhook. */
  readonly giveUpMs: number;
  /** The longest time between two looks for changes by other processes, while looking is cheap. */
  readonly pollMs: number;
}

export const WEBHOOK_TIMING: WebhookTiming = {
  firstRetryMs: 1000,
  longestRetryMs: 3_600_000,
  giveUpMs: 3 * 86_400_000,
  pollMs: 500,
};

/** Fewer failed attempts never disable a webhook, whatever the clock says. */
const LEAST_ATTEMPTS = 10;
/** Users whose events are sent at once to one webhook. */
const CONCURRENCY = 8;
/** After this many failures without a delivery, the receiver counts as down: one event is tried, with growing pauses. */
const DOWN_AFTER = 8;
const LONGEST_PAUSE_MS = 300_000;
/** How often the backlog is counted while the receiver is left alone. */
const COUNT_MS = 30_000;
/** Entries of one user that are sent before others have their turn. */
const ENTRIES_PER_TURN = 50;

/** Deliveries to one webhook, while this process has its lease. */
export interface WebhookChannel {
  /** The newest definition. */
  webhook: Webhook;
  /** Aborted when the lease is lost, the webhook is removed or disabled, or the memory closes. */
  readonly signal: AbortSignal;
  /** Looks at the users of pages that have changed, and sends their events. Throws what the store throws. */
  deliver(): Promise<DeliveryRound>;
  /** What waits, as of the last complete look. */
  readonly backlog: WebhookBacklog;
  /** Waits for the requests under way. */
  settle(): Promise<void>;
  /** Saves cursors and the health, as far as they have changed. Throws what the store throws. */
  flush(): Promise<void>;
}

/** What waits to be delivered to a webhook. */
interface WebhookBacklog {
  /** Revisions of users that were neither delivered nor passed over. */
  readonly revisions: number;
  /** When the first attempt of the event failed that has waited longest since (ISO 8601); absent if none has failed. */
  readonly failingSince?: string;
}

/** What one look for changes has cost and left. */
interface DeliveryRound {
  /** Time that the store took where nothing was to be sent, in ms. */
  readonly idleMs: number;
  /** Whether there is more to send at once. */
  readonly isBehind: boolean;
  /** How long the receiver is left alone, in ms. */
  readonly pauseMs: number;
}

interface ChannelOptions {
  readonly ports: WebhookPorts;
  readonly webhooks: WebhookStore;
  readonly pages: UserPages;
  readonly webhook: Webhook;
  readonly health: WebhookHealth;
  readonly signal: AbortSignal;
  readonly timing: WebhookTiming;
  /** Limits the requests of all channels. */
  runLimited<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Ends the channel, and disables its webhook. */
  disable(webhook: Webhook, reason: "gone" | "failing"): Promise<void>;
}

interface ChannelState
  extends Pick<
    ChannelOptions,
    "ports" | "webhooks" | "pages" | "signal" | "timing" | "runLimited" | "disable"
  > {
  webhook: Webhook;
  health: WebhookHealth;
  savedHealth: WebhookHealth;
  /** The sums of pages as they were when none of their users had anything left to send. */
  readonly seen: Map<number, number>;
  /** Positions that are not stored yet, by user. */
  readonly unsaved: Map<string, WebhookCursor>;
  /** Positions that were stored since the last query began, which may not have seen them. */
  readonly justSaved: Map<string, WebhookCursor>;
  /** The users whose events are being sent. */
  readonly active: Map<string, Promise<void>>;
  /** When the receiver answered again after it was down (ISO 8601). Failures before need no further pause. */
  recoveredAt: string;
  isBehind: boolean;
  backlog: WebhookBacklog;
  /** By `performance.now()`. */
  countedAt: number;
  /** Whether a user waits for a turn. */
  isAwaited: boolean;
  /** What the store threw. */
  failed?: { readonly error: unknown };
}

export function createWebhookChannel(options: ChannelOptions): WebhookChannel {
  const { webhook, health } = options;
  const isOldFailure = (health.failingSince ?? "") < webhook.enabledAt;
  const state: ChannelState = {
    ...options,
    health: isOldFailure ? endFailures(health) : health,
    savedHealth: health,
    seen: new Map(),
    unsaved: new Map(),
    justSaved: new Map(),
    active: new Map(),
    recoveredAt: "",
    isBehind: false,
    backlog: { revisions: 0 },
    countedAt: Number.NEGATIVE_INFINITY,
    isAwaited: false,
  };
  return {
    get webhook() {
      return state.webhook;
    },
    set webhook(newest) {
      if (newest.enabledAt > state.webhook.enabledAt) state.health = endFailures(state.health);
      state.webhook = newest;
    },
    signal: options.signal,
    get backlog() {
      return state.backlog;
    },
    deliver: () => deliverRound(state),
    async settle() {
      await Promise.all(state.active.values());
    },
    flush: () => flushChannel(state),
  };
}

async function deliverRound(state: ChannelState): Promise<DeliveryRound> {
  state.isBehind = false;
  let idleMs = 0;
  let backlog: WebhookBacklog = { revisions: 0 };
  const isCountDue = performance.now() - state.countedAt > COUNT_MS;
  let isComplete = true;
  for (const range of findUnseenRanges(state.pages.sums, state.seen)) {
    if (isOver(state) || (getPauseMs(state) > 0 && !isCountDue)) {
      isComplete = false;
      break;
    }
    const from = performance.now();
    state.justSaved.clear();
    const users = await state.webhooks.findChanged(state.webhook, range);
    const tookMs = performance.now() - from;
    backlog = users.reduce((sum, user) => addToBacklog(state, sum, user), backlog);
    if (users.length === 0) range.markSeen();
    else if (!(await startUsers(state, users))) idleMs += tookMs;
    await yieldToEventLoop();
  }
  if (state.failed) throw state.failed.error;
  if (isComplete) {
    state.backlog = backlog;
    state.countedAt = performance.now();
  }
  return { idleMs, isBehind: state.isBehind, pauseMs: getPauseMs(state) };
}

function addToBacklog(
  state: ChannelState,
  { revisions, failingSince }: WebhookBacklog,
  user: ChangedUser,
): WebhookBacklog {
  const { revision, failure } = findNewestCursor(state, user);
  const since = [failingSince, failure?.since].filter((time) => time !== undefined).sort()[0];
  return {
    revisions: revisions + Math.max(0, user.latest - revision),
    ...(since === undefined ? {} : { failingSince: since }),
  };
}

/** The cursor of a user that was found: the one in the store may be older. */
function findNewestCursor({ unsaved, justSaved }: ChannelState, found: WebhookCursor): WebhookCursor {
  const key = toScopeKey(found.scope);
  return unsaved.get(key) ?? justSaved.get(key) ?? found;
}

/** Starts to send the events of users that are due, as turns become free. False if there were none. */
async function startUsers(state: ChannelState, users: readonly ChangedUser[]): Promise<boolean> {
  const { active } = state;
  let hasStarted = false;
  for (const found of users) {
    const key = toScopeKey(found.scope);
    const cursor = findNewestCursor(state, found);
    if (active.has(key) || !isDue(state, cursor)) continue;
    if (!(await takeTurn(state))) break;
    hasStarted = true;
    const work = deliverUser(state, cursor)
      .catch((error: unknown) => {
        state.failed ??= { error };
      })
      .finally(() => active.delete(key));
    active.set(key, work);
  }
  return hasStarted;
}

/** Waits until a user's events may be sent. False if none may. */
async function takeTurn(state: ChannelState): Promise<boolean> {
  const { active } = state;
  for (;;) {
    if (isOver(state) || getPauseMs(state) > 0) return false;
    const limit = state.health.failures >= DOWN_AFTER ? 1 : CONCURRENCY;
    if (active.size < limit) return true;
    state.isAwaited = true;
    await Promise.race(active.values());
    state.isAwaited = false;
  }
}

function isOver({ signal, failed, webhook }: ChannelState): boolean {
  return signal.aborted || failed !== undefined || !webhook.enabled;
}

function getPauseMs({ health, ports }: ChannelState): number {
  const left = Date.parse(health.pausedUntil ?? "") - ports.clock().getTime();
  // A longer pause was noted before the clock was set back.
  return left > 0 && left <= LONGEST_PAUSE_MS ? left : 0;
}

function isDue({ recoveredAt, webhook, ports, timing }: ChannelState, { failure }: WebhookCursor): boolean {
  if (!failure || failure.at < recoveredAt || failure.since < webhook.enabledAt) return true;
  const left = Date.parse(failure.due) - ports.clock().getTime();
  return left <= 0 || left > timing.longestRetryMs;
}

/** Sends the events of one user, in order, until one fails, or others wait. */
async function deliverUser(state: ChannelState, start: WebhookCursor): Promise<void> {
  const { scope } = start;
  let cursor = start;
  for (;;) {
    const entries = await readEntries(state.ports.store, scope, cursor.revision);
    for (const entry of entries) {
      if (isOver(state)) return;
      const message = createWebhookMessage(state.webhook, scope, entry);
      if (message && !(await sendEvent(state, cursor, message))) return;
      cursor = { scope, revision: entry.revision };
      state.unsaved.set(toScopeKey(scope), cursor);
    }
    if (entries.length < ENTRIES_PER_TURN) return;
    if (!state.isAwaited) continue;
    state.isBehind = true;
    return;
  }
}

/** Sends one event. False if it has to be sent again later. */
async function sendEvent(
  state: ChannelState,
  cursor: WebhookCursor,
  message: WebhookMessage,
): Promise<boolean> {
  const { ports, webhook, signal, timing } = state;
  const isCounted = cursor.failure !== undefined && cursor.failure.since >= webhook.enabledAt;
  const before = isCounted ? cursor.failure : undefined;
  const attempt = (before?.attempts ?? 0) + 1;
  const outcome = await state.runLimited(() => sendWebhook(ports, webhook, message, { attempt, signal }));
  const { problem, status, at } = outcome.attempt;
  if (problem === "stopped") return false;
  ports.meter?.count("keepsake_webhook_attempts_total", {
    outcome: problem === undefined ? "delivered" : "failed",
  });
  const wasDown = state.health.failures >= DOWN_AFTER;
  const nowMs = ports.clock().getTime();
  state.health = noteAttempt(state.health, outcome, nowMs, timing);
  if (problem === undefined) {
    if (wasDown) state.recoveredAt = at;
    return true;
  }
  const failure = toFailure(before, outcome, nowMs, timing);
  state.unsaved.set(toScopeKey(cursor.scope), { ...cursor, failure });
  if (status === 410) await state.disable(webhook, "gone");
  else if (isHopeless(failure, state.health, nowMs, timing)) await state.disable(webhook, "failing");
  return false;
}

async function flushChannel(state: ChannelState): Promise<void> {
  const { webhooks, webhook, unsaved, justSaved, health } = state;
  const cursors = [...unsaved];
  if (cursors.length > 0) {
    await webhooks.saveCursors(
      webhook,
      cursors.map(([, cursor]) => cursor),
    );
    for (const [key, cursor] of cursors) {
      justSaved.set(key, cursor);
      if (unsaved.get(key) === cursor) unsaved.delete(key);
    }
  }
  if (health === state.savedHealth) return;
  await webhooks.saveHealth(webhook.project, webhook.id, health);
  state.savedHealth = health;
}

/** The next entries of a user's log after a revision, oldest first. Revisions have no gaps. */
async function readEntries(
  store: Pick<MemoryStore, "log">,
  scope: Scope,
  after: number,
): Promise<LogEntry[]> {
  const newest = await store.log(scope, { before: after + ENTRIES_PER_TURN + 1, limit: ENTRIES_PER_TURN });
  return newest.filter(({ revision }) => revision > after).reverse();
}

function noteAttempt(
  health: WebhookHealth,
  { attempt, retryAfterMs = 0 }: WebhookOutcome,
  nowMs: number,
  { firstRetryMs }: WebhookTiming,
): WebhookHealth {
  const attempts = [attempt, ...health.attempts].slice(0, WEBHOOK_LIMITS.attempts);
  if (attempt.problem === undefined)
    return { ...endFailures(health), attempts, delivered: health.delivered + 1, lastDeliveredAt: attempt.at };
  const failures = health.failures + 1;
  const downMs =
    failures < DOWN_AFTER
      ? 0
      : jitter(Math.min(LONGEST_PAUSE_MS, firstRetryMs * 2 ** Math.min(20, failures - DOWN_AFTER)));
  const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(downMs, retryAfterMs));
  const { pausedUntil: _pausedUntil, ...rest } = health;
  return {
    ...rest,
    attempts,
    failures,
    failingSince: health.failingSince ?? attempt.at,
    ...(pauseMs === 0 ? {} : { pausedUntil: new Date(nowMs + pauseMs).toISOString() }),
  };
}

function endFailures(health: WebhookHealth): WebhookHealth {
  if (health.failures === 0) return health;
  const { failingSince: _failingSince, pausedUntil: _pausedUntil, ...rest } = health;
  return { ...rest, failures: 0 };
}

function toFailure(
  before: WebhookFailure | undefined,
  { attempt, retryAfterMs = 0 }: WebhookOutcome,
  nowMs: number,
  { firstRetryMs, longestRetryMs }: WebhookTiming,
): WebhookFailure {
  const attempts = (before?.attempts ?? 0) + 1;
  const delayMs = jitter(Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(20, attempts - 1)));
  const due = new Date(nowMs + Math.min(longestRetryMs, Math.max(delayMs, retryAfterMs))).toISOString();
  return { attempts, since: before?.since ?? attempt.at, at: attempt.at, due };
}

/** Whether an event, or all events, have failed for so long that the receiver seems abandoned. */
function isHopeless(
  failure: WebhookFailure,
  { failures, failingSince = failure.at }: WebhookHealth,
  nowMs: number,
  { giveUpMs }: WebhookTiming,
): boolean {
  const isOld = (since: string): boolean => nowMs - Date.parse(since) >= giveUpMs;
  return (
    (failure.attempts >= LEAST_ATTEMPTS && isOld(failure.since)) ||
    (failures >= LEAST_ATTEMPTS && isOld(failingSince))
  );
}

/** Between half of a time and all of it, so that retries do not come together. */
function jitter(ms: number): number {
  return (ms * randomInt(500, 1001)) / 1000;
}
