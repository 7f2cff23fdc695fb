import type { HttpAnswer, StoredAnswer } from "../../domain/operations/stored-answer.ts";
import type { Scope } from "../../domain/scope.ts";

/**
 * HTTP answers kept under idempotency keys. They are not part of a user's history: no revision, no log entry,
 * nothing in `since`.
 *
 * Every erasure of a user also erases that user's answers, in the same commit. A finished answer loses its
 * content. A started answer is marked, so that text derived from erased words is not kept later.
 */
export interface AnswerCache {
  /**
   * Starts an answer and returns undefined. If an answer exists under the key, nothing starts and that answer
   * is returned.
   *
   * An existing answer is replaced if it was kept, erased or started before `outdated`, or if it was started
   * before `abandoned` and never ended. If two calls start at once, one succeeds.
   */
  beginAnswer(
    scope: Scope,
    begun: { readonly key: string; readonly request: string; readonly at: string },
    limits: { readonly outdated: string; readonly abandoned: string },
  ): Promise<StoredAnswer | undefined>;

  /**
   * Keeps the answer to a started request. Does nothing if no request is started under the key.
   *
   * Stores the answer as erased if an erasure happened in between, unless its receipt is in `ownErasures`:
   * the erasures that the request itself made.
   */
  endAnswer(scope: Scope, key: string, answer: HttpAnswer, ownErasures: readonly string[]): Promise<void>;

  /** Releases a started request that failed, so that it can be sent again. */
  releaseAnswer(scope: Scope, key: string): Promise<void>;

  /** Deletes the answers of all users that started before a time (ISO 8601). Returns the number deleted. */
  dropAnswers(before: string): Promise<number>;
}
