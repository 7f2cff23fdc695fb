import { setTimeout as pause } from "node:timers/promises";

/** What one try came to: a value, or a reason that may pass, with what the server said of when to come again. */
export type RetryAttempt<Value> =
  | { readonly value: Value }
  | { readonly failed: Error; readonly retryAfterMs?: number };

/** How often to try, how long one try may take, and how long all of them with the pauses between, in ms. */
export interface RetryPolicy {
  readonly tries: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;
/** A server that wants more patience than this is told of as not there. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Tries again what may pass: after the time the server asks for, else after twice as long as the time before, up to 20 s,
 * and never in step with others. A try is told how long it may take. Throws what failed last, or the signal's reason.
 */
export async function retryWithBackoff<Value>(
  { tries, timeoutMs, deadlineMs }: RetryPolicy,
  signal: AbortSignal | undefined,
  attempt: (timeoutMs: number) => Promise<RetryAttempt<Value>>,
): Promise<Value> {
  const end = performance.now() + deadlineMs;
  for (let tried = 1; ; tried += 1) {
    signal?.throwIfAborted();
    const outcome = await attempt(Math.ceil(Math.min(timeoutMs, Math.max(1, end - performance.now()))));
    if ("value" in outcome) return outcome.value;
    const { failed, retryAfterMs = 0 } = outcome;
    if (tried >= tries || retryAfterMs > LONGEST_WAIT_MS) throw failed;
    const pauseMs = retryAfterMs > 0 ? retryAfterMs * randomBetween(1, 1.1) : computePause(tried);
    if (performance.now() + pauseMs >= end) throw failed;
    await sleep(pauseMs, signal);
  }
}

function computePause(tried: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tried - 1)) * randomBetween(0.5, 1);
}

function randomBetween(from: number, to: number): number {
  return from + Math.random() * (to - from);
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await pause(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    // The caller's reason, not the timer's.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Milliseconds from the headers `retry-after-ms` or `retry-after` (seconds, or a date); nothing where neither says. */
export function parseRetryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const said = headers.get("retry-after");
  if (said === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(said.trim())) return Number(said) * 1000;
  const at = Date.parse(said);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
