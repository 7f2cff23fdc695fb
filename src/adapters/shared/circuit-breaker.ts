import { MemoryError } from "../../errors.ts";
import type { CircuitState } from "../../ports/language/model-calls.ts";

/**
 * Spares a server that is down, and whoever waits for it: after several failures in a row nothing is sent for a while;
 * then one request goes out as a probe, and decides (M. Nygard, "Release It!", 2007).
 */
export interface CircuitBreaker {
  state(): CircuitState;
  /** To be called before a request; `unavailable` where it must not go out. */
  enter(): void;
  /** What became of the request that entered; `unknown` where the caller broke it off. */
  recordOutcome(how: "well" | "badly" | "unknown"): void;
}

export interface CircuitBreakerOptions {
  /** Who is asked, for messages: "the embedding server api.openai.com". */
  readonly place: string;
  /** Failures in a row that open it (5). */
  readonly failures?: number;
  /** How long it stays open the first time, in ms (10,000); twice as long each time the probe fails, up to `longestMs` (5 minutes). */
  readonly openMs?: number;
  readonly longestMs?: number;
  /** In ms, never going back. */
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
      const waits = until - now();
      if (state === "half_open" || waits > 0) {
        const soon = `${Math.max(1, Math.ceil(waits / 1000))} s`;
        throw new MemoryError(
          "unavailable",
          `${place} failed ${failures} times in a row; it is asked again in ${soon}.`,
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
        // Nothing was learnt; the next one is the probe.
        until = now();
        become("open");
      }
    },
  };
}
