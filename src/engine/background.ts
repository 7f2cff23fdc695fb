import { type Scope, scopeKey } from "../domain/scope.ts";
import { digestPending } from "./digest-pending.ts";
import type { Ports } from "./ports.ts";

/** Work that no caller waits for. It has an owner: `stop` breaks it off and waits for its end. */
export interface Background {
  /** Reads the user's waiting messages when there is time; one reading per user at once. */
  later(scope: Scope): void;
  stop(): Promise<void>;
}

/**
 * Reads waiting messages. What fails stays pending in the record: the next write of the user tries again, so a
 * failure here is nobody's to catch.
 */
export function background(ports: Ports): Background {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  return {
    later(scope) {
      const key = scopeKey(scope);
      if (!ports.extractor.local || running.has(key) || stopping.signal.aborted) return;
      const reading = digestPending(ports, scope, stopping.signal).then(
        () => {},
        () => {},
      );
      running.set(key, reading);
      void reading.then(() => running.delete(key));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}
