import type { Message } from "../../domain/message.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";

/** Users whose messages wait for others, so that a model reads many in one request: each request has its instructions to carry. */
export interface MessageBatcher {
  /** Another message of this user's waits. */
  add(scope: Scope): void;
  /** The users who have waited long enough; they gather no longer. */
  take(): Scope[];
  has(scope: Scope): boolean;
  /** Milliseconds until somebody has; undefined where nobody waits. */
  next(): number | undefined;
}

/** So many messages are worth a request: with twelve the instructions are no longer the most of it. */
const BATCH_SIZE = 12;
/** However long a conversation goes on without a pause, its first message waits no longer than so many pauses. */
const MAX_PAUSES = 5;

/**
 * The same of messages that this process has not seen coming: whether those that wait have waited long enough, by when they
 * were stored (ISO 8601). What nobody has heard yet waits for no others.
 */
export function isBatchReady(
  waiting: readonly Pick<Message, "heard" | "storedAt">[],
  pauseMs: number,
  now: number,
): boolean {
  if (waiting.length >= BATCH_SIZE || waiting.some(({ heard }) => !heard)) return true;
  const stored = waiting.map(({ storedAt }) => Date.parse(storedAt));
  // What was stored ahead of this clock waits for nothing: one of the clocks was wrong.
  const newest = Math.max(...stored);
  return newest > now || now - newest >= pauseMs || now - Math.min(...stored) >= pauseMs * MAX_PAUSES;
}

/** They wait until their user has paused for so long (milliseconds), there are a dozen, or the first has waited five times as long. */
export function createMessageBatcher(
  pauseMs: number,
  now: () => number = () => performance.now(),
): MessageBatcher {
  const waiting = new Map<string, { scope: Scope; first: number; last: number; count: number }>();
  const due = ({ first, last, count }: { first: number; last: number; count: number }): number =>
    count >= BATCH_SIZE ? last : Math.min(last + pauseMs, first + pauseMs * MAX_PAUSES);
  return {
    add(scope) {
      const key = toScopeKey(scope);
      const { first, count } = waiting.get(key) ?? { first: now(), count: 0 };
      waiting.set(key, { scope, first, last: now(), count: count + 1 });
    },
    take() {
      const ripe = [...waiting].filter(([, one]) => due(one) <= now());
      for (const [key] of ripe) waiting.delete(key);
      return ripe.map(([, { scope }]) => scope);
    },
    has: (scope) => waiting.has(toScopeKey(scope)),
    next() {
      if (waiting.size === 0) return undefined;
      return Math.max(0, Math.min(...[...waiting.values()].map(due)) - now());
    },
  };
}
