import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { VectorIndex } from "../../ports/vector-index.ts";
import { runInUserQueue } from "../change-set.ts";

/**
 * Calls an index with a time limit in ms, even if the adapter ignores its signal. Rejects with `unavailable`
 * after the limit, and with the signal's reason if aborted.
 */
export async function callIndex<Result>(
  { name }: Pick<VectorIndex, "name">,
  ms: number,
  call: (options: CallOptions) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(ms);
  const both = signal ? AbortSignal.any([signal, late]) : late;
  let leave = (): void => {};
  const over = new Promise<never>((_resolve, reject) => {
    const stop = (): void => reject(signal?.aborted ? signal.reason : createTimeoutError(name, ms));
    both.addEventListener("abort", stop, { once: true });
    leave = () => both.removeEventListener("abort", stop);
  });
  try {
    return await Promise.race([call({ signal: both }), over]);
  } catch (error) {
    signal?.throwIfAborted();
    if (late.aborted) throw createTimeoutError(name, ms);
    throw error;
  } finally {
    leave();
  }
}

/**
 * Runs one or more calls that no other call of this user interrupts. The limit in ms includes the wait in the
 * queue. An adapter that never returns does not block the next call.
 */
export function callIndexInTurn<Result>(
  follower: VectorIndex,
  scope: Scope,
  ms: number,
  call: (options: CallOptions) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return callIndex(
    follower,
    ms,
    (waiting) => runInUserQueue(follower, scope, () => callIndex(follower, ms, call, waiting.signal)),
    signal,
  );
}

function createTimeoutError(name: string, ms: number): MemoryError {
  return new MemoryError(
    "unavailable",
    `the index "${name}" did not answer within ${ms} ms. It will be tried again.`,
  );
}
