/** What a key may still take, after it has taken something or was refused. */
export interface Allowance {
  /** 0 where it may go on; else the time in ms after which it may try again: nothing was taken then. */
  readonly waitMs: number;
  /** What may be taken in one go. */
  readonly most: number;
  /** What is left, in whole units. */
  readonly left: number;
  /** The time in ms after which all of it is there again. */
  readonly fullMs: number;
}

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
  /**
   * As `take`, for so many units at once (1 or more; of more than there ever are, all), and tells what is left. Absent where the
   * limits count single requests alone. `unavailable` where they cannot be asked.
   */
  spend?(key: string, amount: number): Promise<Allowance>;
}
