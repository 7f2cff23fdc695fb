import { refuse } from "./problem.ts";

/** Requests end after this time where nothing else is set, in ms. */
export const DEFAULT_REQUEST_MS = 60_000;

/**
 * Runs until a deadline. `signal` fires then, or when the client goes; what listens to it may stop. Gives 503 in the
 * end, whether it does or not.
 */
export async function runWithDeadline<Result>(
  ms: number,
  client: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const gone = (): void => ending.abort(client.reason);
  if (client.aborted) gone();
  // For as long as the request is there: what streams goes on after this.
  client.addEventListener("abort", gone, { once: true });
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = createDeadlineError();
      ending.abort(error);
      reject(error);
    }, ms);
  });
  try {
    return await Promise.race([run(ending.signal), lateness]);
  } finally {
    clearTimeout(timer);
  }
}

function createDeadlineError(): Error {
  return refuse({
    status: 503,
    code: "unavailable",
    detail:
      "It took too long. What was to be written may be written yet: send the same again under the same Idempotency-Key.",
    headers: { "retry-after": "1" },
  });
}
