import { getNodeBindings, type RequestContext } from "./app-types.ts";
import type { Lifecycle } from "./lifecycle.ts";

/**
 * Runs the work of a request until the server has to end. Its signal fires then, or when the client goes, and for as long as
 * the answer is on its way. Rejects with the reason where the work had no answer by then.
 */
export async function runUntilShutdown<Result>(
  exchange: RequestContext,
  life: Lifecycle,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const client = exchange.req.raw.signal;
  const { outgoing } = getNodeBindings(exchange);
  const ending = new AbortController();
  const onGone = (): void => ending.abort(client.reason);
  if (client.aborted) onGone();
  client.addEventListener("abort", onGone, { once: true });
  const broken = Promise.withResolvers<never>();
  const forget = life.onBreakOff("requests", (reason) => {
    ending.abort(reason);
    broken.reject(reason);
  });
  try {
    const result = await Promise.race([run(ending.signal), broken.promise]);
    // What is sent in parts goes on after this. Without a connection nothing tells when it has gone out.
    if (outgoing && !outgoing.destroyed)
      outgoing.once(
        "close",
        life.onBreakOff("streams", (reason) => ending.abort(reason)),
      );
    return result;
  } finally {
    forget();
  }
}
