import { MemoryError } from "../../../errors.ts";
import type { CircuitState } from "../../../ports/language/model-calls.ts";

/**
 * Circuit breaker for a failing server. After several failures in a row, it rejects requests for a while.
 * Then it lets one request through as a probe, which closes or reopens it (M. Nygard, "Release It!", 2007).
 */
export interface CircuitBreaker {
  state(): CircuitState;
  /** Call it before each request. Throws `unavailable` if the request must not go out. */
  enter(): void;
  /** The outcome of a request that entered; `unknown` if the caller aborted it. */
  recordOutcome(how: "well" | "badly" | "unknown"): void;
}

interface CircuitBreakerOptions {
  /** The server, for messages: "the embedding server api.openai.com". */
  readonly place: string;
  /** Consecutive failures that open the circuit (default: 5). */
  readonly failures?: number;
  /** First open period in ms (default: 10,000). It doubles each time the probe fails, up to `longestMs` (default: 5 minutes). */
  readonly openMs?: number;
  readonly longestMs?: number;
  /** A monotonic clock, in ms. */
  readonly now?: () => number;
  readonly onChange?: ((state: CircuitState) => void) | undefined;
}

const LONGEST_OPEN_MS = 300_000;

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { place, failures: most = 5, openMs: first = 10_000, onChange } = options;
  const { longestMs = LONGEST_OPEN_MS } = options;
  const now = options.now ?? (() => performance.now());
  let state: CircuitState = "closed";
  let failures = 0;
  let openMs = first;
  let until = 0;
  const become = (next: CircuitState): void => {
    if (next === state) return;
    state = next;
    onChange?.(next);
  };
  const open = (): void => {
    until = now() + openMs;
    openMs = Math.min(longestMs, openMs * 2);
    become("open");
  };
  return {
    state: () => state,
    enter() {
      if (state === "closed") return;
      const waitMs = until - now();
      if (state === "half_open" || waitMs > 0) {
        const delay = `${Math.max(1, Math.ceil(waitMs / 1000))} s`;
        throw new MemoryError(
          "unavailable",
          `${place} failed ${failures} times in a row. The next attempt is in ${delay}.`,
        );
      }
      become("half_open");
    },
    recordOutcome(how) {
      if (how === "well") {
        failures = 0;
        openMs = first;
        become("closed");
      } else if (how === "badly") {
        failures += 1;
        if (state === "half_open" || (state === "closed" && failures >= most)) open();
      } else if (state === "half_open") {
        // The outcome is unknown, so the next request is the probe.
        until = now();
        become("open");
      }
    },
  };
}
