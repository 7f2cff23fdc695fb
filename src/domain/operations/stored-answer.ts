/**
 * An HTTP answer to a write, stored under the caller's idempotency key. A repeated request gets the same
 * answer and does nothing. The answer may contain user text, so an erasure of the user clears it.
 */
export interface StoredAnswer {
  /** SHA-256 of the caller's key, hex. */
  readonly key: string;
  /** SHA-256 of the request, hex; empty after an erasure. */
  readonly request: string;
  /** When it began (ISO 8601). */
  readonly at: string;
  /** `begun` while the request runs, `erased` after an erasure removed the content. */
  readonly state: "begun" | "done" | "erased";
  /** The answer; present only if `state` is `done`. */
  readonly answer?: HttpAnswer;
}

/** An HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  /** Headers of the answer itself: content-type, location. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** How long an answer is kept, in ms. */
export const ANSWER_TTL_MS = 86_400_000;
