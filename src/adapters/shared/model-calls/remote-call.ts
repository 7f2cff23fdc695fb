import { setTimeout as pause } from "node:timers/promises";
import { MemoryError } from "../../../errors.ts";

/** A server that is called through a client supplied by the user. */
export interface RemoteService extends RetryPolicy {
  /** The server, for messages: "Pinecone". */
  readonly place: string;
  /** Translates an error of the client. */
  troubleOf(error: unknown): RemoteFault;
}

/** Either a temporary fault, with what the server did ("answered 429"), or a permanent error to throw. */
export type RemoteFault = { readonly passes: string } | { readonly stays: MemoryError };

/** Limits for one request: timeout (5 s), tries (5) and a deadline for all tries and pauses (12 s). */
export const REMOTE_RETRY_POLICY: RetryPolicy = { tries: 5, timeoutMs: 5000, deadlineMs: 12_000 };

/** The first and the longest pause of `pollUntil`, in ms. */
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 1000;

/**
 * Makes one request. Retries temporary faults until the deadline, and rejects with the caller's own reason on abort.
 * The call gets a signal. If the client ignores it, its answer is no longer awaited. Throws `unavailable` if all tries fail.
 */
export function callRemote<Value>(
  remote: RemoteService,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { place } = remote;
  return retryWithBackoff<Value>(remote, signal, async (timeoutMs) => {
    const timeoutError = createUnavailableError(`${place} gave no answer within ${timeoutMs} ms`);
    const end = new AbortController();
    try {
      const both = signal ? AbortSignal.any([end.signal, signal]) : end.signal;
      return { value: await withTimeout(call(both), timeoutMs, () => timeoutError, signal) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error === timeoutError) return { failed: timeoutError };
      const fault = remote.troubleOf(error);
      if ("stays" in fault) throw fault.stays;
      return { failed: createUnavailableError(`${place} ${fault.passes}`) };
    } finally {
      end.abort();
    }
  });
}

/** Polls with growing pauses until the condition holds or `withinMs` is over. Gives whether it held. */
export async function pollUntil(
  withinMs: number,
  signal: AbortSignal | undefined,
  holds: () => Promise<boolean>,
): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(LONGEST_POLL_MS, pauseMs * 1.5)) {
    if (await holds()) return true;
    if (performance.now() + pauseMs > end) return false;
    await pause(pauseMs);
    signal?.throwIfAborted();
  }
}

const createUnavailableError = (what: string): MemoryError =>
  new MemoryError("unavailable", `${what}. Try again later.`);

/** The outcome of one try: a value, or a temporary failure with the server's retry delay. */
type RetryAttempt<Value> =
  | { readonly value: Value }
  | { readonly failed: Error; readonly retryAfterMs?: number };

/** How many tries, the timeout of one try, and the deadline for all tries and pauses, in ms. */
export interface RetryPolicy {
  readonly tries: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;
/** A server that asks for a longer delay than this counts as unavailable. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Retries temporary failures. The pause is the server's retry delay, or else doubles each time, up to 20 s, with jitter.
 * Each try receives its timeout in ms. Throws the last failure, or the signal's reason.
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
    // Throw the caller's reason instead of the timer's.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Milliseconds from the headers `retry-after-ms` or `retry-after` (seconds or a date); undefined without a valid header. */
export function parseRetryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const header = headers.get("retry-after");
  if (header === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/**
 * Awaits a promise for at most `ms` milliseconds. Throws the error of `late` after that, or the signal's reason on abort.
 * The work itself continues: a client that ignores signals is at least no longer awaited.
 */
export async function withTimeout<Value>(
  work: Promise<Value>,
  ms: number,
  late: () => Error,
  signal?: AbortSignal,
): Promise<Value> {
  signal?.throwIfAborted();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  // First handle replies that arrived while this process was busy: a timer alone does not prove that the server is late.
  const timer = setTimeout(() => setImmediate(() => reject(late())), ms);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    // Nothing awaits the work any more, and an unhandled rejection would end the program.
    work.catch(() => {});
  }
}
