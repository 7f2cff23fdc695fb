/** Knows what requests need without naming it: a snack, what one may not eat. */
export interface NeedReader {
  /**
   * The direction of the vectors of memories that such a request needs, of unit length. Undefined if the request has no vector,
   * or none can be computed now. `vector` is the request's.
   */
  findNeed(vector: Float32Array | undefined): Promise<Float32Array | undefined>;
}

/** Something that the user said, one sentence of it. */
export interface TalkStatement {
  readonly text: string;
  /** When it was said, in milliseconds since 1970. */
  readonly at: number;
}

/** Finds statements that a later one has ended, where neither was read as a memory. */
export interface OutdatedReader {
  /** Whether a statement can end an earlier one at all. Where none of the newest can, nothing has to be compared again. */
  mayEnd(text: string): boolean;

  /**
   * The statements that a later one has ended: by position, the position of the later one. `statements`
   * are in the order in which they were said. Empty where that is not certain enough.
   */
  findOutdated(statements: readonly TalkStatement[]): Promise<ReadonlyMap<number, number>>;
}
