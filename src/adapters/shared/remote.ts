import { setTimeout as pause } from "node:timers/promises";
import { MemoryError } from "../../errors.ts";
import { type RetryPolicy, retryWithBackoff } from "./retry.ts";
import { withTimeout } from "./within.ts";

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
