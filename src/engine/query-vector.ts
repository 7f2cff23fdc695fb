import type { CallOptions } from "../ports/call.ts";
import type { Embedder } from "../ports/embedder.ts";

/** Milliseconds that a recall waits for a remote embedder which names none itself. */
const PATIENCE_MS = 50;
/** A vector that comes too late for its recall may serve the next one, where the embedder keeps it; so long it may take. */
const LATE_MS = 5000;
/** Where so many are on the way, the embedder does not keep up, and another question would only wait in line. */
const MOST_ON_THE_WAY = 32;

interface Asking {
  onTheWay: number;
  readonly stopping: AbortController;
}

const asking = new WeakMap<Embedder, Asking>();

/**
 * The vector of a query. A local embedder is waited for, and its errors are errors; a remote one has `patienceMs`, and
 * where it is late or fails there is no vector: recall goes on by words. An aborted signal rejects with its reason.
 */
export async function queryVector(
  embedder: Embedder,
  text: string,
  call: CallOptions = {},
): Promise<Float32Array | undefined> {
  if (!embedder.local) return remoteVector(embedder, text, call);
  const [vector] = await embedder.embed([text], call);
  return vector;
}

/** Breaks off the queries that are still on the way to an embedder, so that they hold up no end of the program. */
export function dropQueries(embedder: Embedder): void {
  asking.get(embedder)?.stopping.abort();
  asking.delete(embedder);
}

async function remoteVector(
  embedder: Embedder,
  text: string,
  { signal, ...rest }: CallOptions,
): Promise<Float32Array | undefined> {
  const mine = asking.get(embedder) ?? { onTheWay: 0, stopping: new AbortController() };
  asking.set(embedder, mine);
  if (mine.onTheWay >= MOST_ON_THE_WAY) return undefined;
  mine.onTheWay += 1;
  const ends = [mine.stopping.signal, AbortSignal.timeout(LATE_MS), ...(signal ? [signal] : [])];
  const coming = embedder
    .embed([text], { ...rest, signal: AbortSignal.any(ends) })
    .then(
      ([vector]) => vector,
      () => undefined,
    )
    .finally(() => {
      mine.onTheWay -= 1;
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
