import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { VectorIndex } from "../../ports/vector-index.ts";
import { runInUserQueue } from "../ingest/change-set.ts";

/**
 * A call to an index that has so long (ms) and no longer, even where the adapter takes no notice of its signal: then it is
 * `unavailable`. An aborted signal rejects with its reason.
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
 * A call, or several, that no other of this user's comes between, within so long (ms) with the wait for its turn. An adapter that
 * never comes back holds up none of the next.
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
    `the index "${name}" gave no answer within ${ms} ms. It is tried again.`,
  );
}
