/**
 * An answer to a write, kept under the caller's idempotency key, so that the same request again gives the same answer and
 * does nothing. It may hold a user's words: an erasure of the user takes them from it.
 */
export interface StoredAnswer {
  /** SHA-256 of the caller's key, hex. */
  readonly key: string;
  /** SHA-256 of what was asked, hex; empty once it was erased. */
  readonly request: string;
  /** When it began (ISO 8601). */
  readonly at: string;
  /** `begun` while the request is at work, `erased` where an erasure took what it held. */
  readonly state: "begun" | "done" | "erased";
  /** What was answered; absent unless it is done. */
  readonly answer?: HttpAnswer;
}

/** An answer as HTTP gives it. */
export interface HttpAnswer {
  readonly status: number;
  /** Those that belong to the answer itself: content-type, location. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** So long an answer is kept. */
export const ANSWER_TTL_MS = 86_400_000;
