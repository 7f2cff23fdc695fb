import { setTimeout as pause } from "node:timers/promises";
import { MemoryError } from "../../errors.ts";

/** A server that is asked through a client which somebody else made. */
export interface RemoteService extends RetryPolicy {
  /** Who is asked, for messages: "Pinecone". */
  readonly place: string;
  /** What an error of the client means. */
  troubleOf(error: unknown): RemoteFault;
}

/** One that may pass, with what the server did ("answered 429"); or one that will not, as it is thrown. */
export type RemoteFault = { readonly passes: string } | { readonly stays: MemoryError };

/** How long a request may take (5 s), with its tries (5) and the pauses between (12 s). */
export const REMOTE_RETRY_POLICY: RetryPolicy = { tries: 5, timeoutMs: 5000, deadlineMs: 12_000 };

/** The first and the longest pause of `until`, in ms. */
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 1000;

/**
 * One request: tried again while its trouble may pass, ended at its deadline, broken off with the caller's own reason. The call
 * gets a signal; of a client that cannot be broken off, the answer is no longer waited for. `unavailable` where nothing helped.
 */
export function callRemote<Value>(
  remote: RemoteService,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { place } = remote;
  return retryWithBackoff<Value>(remote, signal, async (timeoutMs) => {
    const late = createUnavailableError(`${place} gave no answer within ${timeoutMs} ms`);
    const end = new AbortController();
    try {
      const both = signal ? AbortSignal.any([end.signal, signal]) : end.signal;
      return { value: await withTimeout(call(both), timeoutMs, () => late, signal) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error === late) return { failed: late };
      const trouble = remote.troubleOf(error);
      if ("stays" in trouble) throw trouble.stays;
      return { failed: createUnavailableError(`${place} ${trouble.passes}`) };
    } finally {
      end.abort();
    }
  });
}

/** Looks again, with growing pauses, until it holds or the time (ms) is over; whether it held. */
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

/** What one try came to: a value, or a reason that may pass, with what the server said of when to come again. */
type RetryAttempt<Value> =
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

/**
 * What a promise gives, unless it takes longer than so many milliseconds (then what `late` gives is thrown) or the signal
 * says otherwise (then its reason is). What the promise stands for goes on by itself: a client that cannot be told to stop
 * is at least not waited for.
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
  // What has arrived while this process was busy is taken in first: a clock that ran out alone is no server that is late.
  const timer = setTimeout(() => setImmediate(() => reject(late())), ms);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    // Nobody waits for it any more, and what nobody waits for must not end the program.
    work.catch(() => {});
  }
}
