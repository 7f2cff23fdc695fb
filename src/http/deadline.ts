import { refuse } from "./problem.ts";

/** Requests end after this time where nothing else is set, in ms. */
export const REQUEST_MS = 60_000;

/**
 * Runs until a deadline. `signal` fires then, or when the client goes; what listens to it may stop. Gives 503 in the
 * end, whether it does or not.
 */
export async function inTime<Result>(
  ms: number,
  client: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const lateness = new Promise<never>((_resolve, reject) => {
    late.signal.addEventListener("abort", () => reject(late.signal.reason), { once: true });
  });
  const timer = setTimeout(() => late.abort(tooLate()), ms);
  try {
    return await Promise.race([run(AbortSignal.any([client, late.signal])), lateness]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(): Error {
  return refuse({
    status: 503,
    code: "unavailable",
    detail:
      "It took too long. What was to be written may be written yet: send the same again under the same Idempotency-Key.",
    headers: { "retry-after": "1" },
  });
}
