/** Something that a person said, one sentence of it. */
export interface TalkStatement {
  readonly text: string;
  /** When it was said, in milliseconds since 1970. */
  readonly at: number;
  /** Who said it: equal for equal speakers. */
  readonly speaker: string;
}

/** Finds statements that a later one has ended, where neither was read as a memory. */
export interface OutdatedReader {
  /**
   * The statements that a later one of the same speaker has ended: by position, the position of the later one. `statements`
   * are in the order in which they were said. Empty where that is not certain enough.
   */
  findOutdated(statements: readonly TalkStatement[]): Promise<ReadonlyMap<number, number>>;
}
