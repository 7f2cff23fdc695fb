/** How often somebody may ask. */
export interface RateLimits {
  /** Shown in messages: "memory". */
  readonly name: string;
  /**
   * Takes one request of a key's allowance. 0 where it may go on; else the time in ms (1 or more) after which one more
   * may, if nobody else takes it: nothing was taken then. Keys know nothing of each other. `unavailable` where the
   * limits cannot be asked.
   */
  take(key: string): Promise<number>;
}
