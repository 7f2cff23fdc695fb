import type { CallOptions } from "../ports/call-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";

/** How long a recall waits for a remote embedder that sets no limit, in milliseconds. */
const PATIENCE_MS = 50;
/**
 * A vector that arrives too late for its recall may serve the next one if the embedder caches it; this is its
 * time limit.
 */
const LATE_MS = 5000;
/** With this many requests in flight, the embedder does not keep up, and another would only queue. */
const MAX_IN_FLIGHT = 32;

interface QueriesInFlight {
  count: number;
  readonly stopping: AbortController;
}

const queriesInFlight = new WeakMap<Embedder, QueriesInFlight>();

/**
 * The vector of a query. A local embedder is awaited, and its errors are thrown. A remote one has
 * `patienceMs`; if it is late or fails there is no vector, and recall uses words only. An aborted signal
 * rejects with its reason.
 */
export async function embedQuery(
  embedder: Embedder,
  text: string,
  call: CallOptions = {},
): Promise<Float32Array | undefined> {
  if (!embedder.local) return embedRemoteQuery(embedder, text, call);
  const [vector] = await embedder.embed([text], { ...call, isQuery: true });
  return vector;
}

/** Aborts the query requests in flight, so that they do not delay the end of the program. */
export function abortQueries(embedder: Embedder): void {
  queriesInFlight.get(embedder)?.stopping.abort();
  queriesInFlight.delete(embedder);
}

async function embedRemoteQuery(
  embedder: Embedder,
  text: string,
  { signal, ...rest }: CallOptions,
): Promise<Float32Array | undefined> {
  const mine = queriesInFlight.get(embedder) ?? { count: 0, stopping: new AbortController() };
  queriesInFlight.set(embedder, mine);
  if (mine.count >= MAX_IN_FLIGHT) return undefined;
  mine.count += 1;
  const ends = [mine.stopping.signal, AbortSignal.timeout(LATE_MS), ...(signal ? [signal] : [])];
  const coming = embedder
    .embed([text], { ...rest, isQuery: true, signal: AbortSignal.any(ends) })
    .then(
      ([vector]) => vector,
      () => undefined,
    )
    .finally(() => {
      mine.count -= 1;
    });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), embedder.patienceMs ?? PATIENCE_MS);
  });
  const vector = await Promise.race([coming, late]);
  clearTimeout(timer);
  signal?.throwIfAborted();
  return vector;
}
