/** The state of a key's allowance after a request was accepted or refused. */
export interface Allowance {
  /** 0 if the request was accepted; otherwise the ms to wait before a retry, and nothing was taken. */
  readonly waitMs: number;
  /** The largest amount that one request may take. */
  readonly most: number;
  /** What is left, in whole units. */
  readonly left: number;
  /** The ms until the allowance is full again. */
  readonly fullMs: number;
}

/** Limits how often a caller may send requests. */
export interface RateLimits {
  /** Shown in messages: "memory". */
  readonly name: string;
  /**
   * Takes one request from a key's allowance. Returns 0 if accepted. Otherwise nothing is taken, and the
   * result is the ms (at least 1) until the next request is allowed, if no other caller takes it. Keys are
   * independent. Throws `unavailable` if the limits cannot be read.
   */
  take(key: string): Promise<number>;
  /**
   * Like `take`, for `amount` units at once (at least 1; an amount above the maximum takes all), and returns
   * what is left. Throws `unavailable` if the limits cannot be read.
   */
  spend(key: string, amount: number): Promise<Allowance>;
}
