/** How a state is written to a file. */
export interface StateFormat<State> {
  /** What the file contains, for errors: "keys". */
  readonly name: string;
  /** The state of a file that does not exist. */
  readonly empty: State;
  /** Throws if the text is something else. */
  parse(text: string): State;
  format(state: State): string;
  /** What a person can do about a damaged file. */
  readonly remedy: string;
}

/** A small state in a file that several processes share. */
export interface StateFile<State> {
  /** Gives the stored state; undefined if there is no file. */
  read(): State | undefined;
  /**
   * Applies `change` to the stored state, atomically and in order with other writers. Writes nothing if it returns its
   * argument. Throws `unavailable` if another program writes for longer than `patienceMs` (2,000).
   */
  write(change: (held: State) => State, patienceMs?: number): void;
}
