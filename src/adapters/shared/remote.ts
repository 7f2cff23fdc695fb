import { setTimeout as pause } from "node:timers/promises";
import { MemoryError } from "../../errors.ts";
import { type Patience, patiently } from "./retry.ts";
import { within } from "./within.ts";

/** A server that is asked through a client which somebody else made. */
export interface Remote extends Patience {
  /** Who is asked, for messages: "Pinecone". */
  readonly place: string;
  /** What an error of the client means. */
  troubleOf(error: unknown): RemoteTrouble;
}

/** One that may pass, with what the server did ("answered 429"); or one that will not, as it is thrown. */
export type RemoteTrouble = { readonly passes: string } | { readonly stays: MemoryError };

/** How long a request may take (5 s), with its tries (5) and the pauses between (12 s). */
export const REMOTE_PATIENCE: Patience = { tries: 5, timeoutMs: 5000, deadlineMs: 12_000 };

/** The first and the longest pause of `until`, in ms. */
const FIRST_LOOK_MS = 50;
const LONGEST_LOOK_MS = 1000;

/**
 * One request: tried again while its trouble may pass, ended at its deadline, broken off with the caller's own reason. The call
 * gets a signal; of a client that cannot be broken off, the answer is no longer waited for. `unavailable` where nothing helped.
 */
export function asked<Value>(
  remote: Remote,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { place } = remote;
  return patiently<Value>(remote, signal, async (timeoutMs) => {
    const late = unavailable(`${place} gave no answer within ${timeoutMs} ms`);
    const end = new AbortController();
    try {
      const both = signal ? AbortSignal.any([end.signal, signal]) : end.signal;
      return { value: await within(call(both), timeoutMs, () => late, signal) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error === late) return { failed: late };
      const trouble = remote.troubleOf(error);
      if ("stays" in trouble) throw trouble.stays;
      return { failed: unavailable(`${place} ${trouble.passes}`) };
    } finally {
      end.abort();
    }
  });
}

/** Looks again, with growing pauses, until it holds or the time (ms) is over; whether it held. */
export async function until(
  withinMs: number,
  signal: AbortSignal | undefined,
  holds: () => Promise<boolean>,
): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 1.5)) {
    if (await holds()) return true;
    if (performance.now() + pauseMs > end) return false;
    await pause(pauseMs);
    signal?.throwIfAborted();
  }
}

const unavailable = (what: string): MemoryError =>
  new MemoryError("unavailable", `${what}. Try again later.`);
