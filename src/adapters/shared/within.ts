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
