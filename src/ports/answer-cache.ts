import type { Scope } from "../domain/scope.ts";
import type { HttpAnswer, StoredAnswer } from "../domain/stored-answer.ts";

/**
 * Answers under idempotency keys, beside the record: no revision, no log, nothing in `since`. Every erasure of a user
 * erases the user's answers in the same commit: those that are done lose what they hold, and those that are begun are
 * marked, so that what is answered from words of before is not kept after.
 */
export interface AnswerCache {
  /**
   * Begins an answer, and gives nothing. Where there is one under the key, nothing begins, and it gives that one; but one
   * that was kept, erased or begun before `outdated`, or begun and not ended before `abandoned`, makes room. Of two that
   * begin at once, one does.
   */
  beginAnswer(
    scope: Scope,
    begun: { readonly key: string; readonly request: string; readonly at: string },
    limits: { readonly outdated: string; readonly abandoned: string },
  ): Promise<StoredAnswer | undefined>;

  /**
   * Keeps the answer to what was begun. Erased at once where an erasure came in between that is not among `own`, the
   * receipts of the erasures that the request itself made. Nothing where it is not begun (any more).
   */
  endAnswer(scope: Scope, key: string, answer: HttpAnswer, own: readonly string[]): Promise<void>;

  /** Takes back what was begun: the request failed, and may be sent again. */
  releaseAnswer(scope: Scope, key: string): Promise<void>;

  /** Drops the answers of everybody that began before a time (ISO 8601), and says how many those were. */
  dropAnswers(before: string): Promise<number>;
}
