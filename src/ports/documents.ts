/**
 * Small texts that several servers share, each under a name: who has a key, and which pages are signed in. They are no part of
 * the record, and hold nothing of what users say.
 */
export interface Documents {
  /** What is kept under a name now; nothing where nothing ever was. With `known`, the mark that the caller has, no text where it is still that one. */
  read(name: string, known?: string): Promise<SharedDocument | undefined>;

  /**
   * Keeps what `change` makes of the text that is there, durably before it returns, and gives it with its new mark; one change
   * after the other, whoever makes them. `change` may be called again. Where it gives back what it was given, nothing is
   * written; what it throws is passed on, and nothing is written either.
   */
  change(
    name: string,
    change: (held: string | undefined) => string | undefined,
  ): Promise<SharedDocument | undefined>;
}

export interface SharedDocument {
  /** Another one after each change. */
  readonly mark: string;
  /** Absent where the caller has it. */
  readonly text?: string;
}
