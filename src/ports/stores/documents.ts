/**
 * Small named texts that several servers share: API keys and signed-in pages. They are not part of the memory
 * store and contain no user text.
 */
export interface Documents {
  /**
   * Returns the current text under a name, or undefined if there never was one. If `known` is still the
   * current mark, the result has no text.
   */
  read(name: string, known?: string): Promise<SharedDocument | undefined>;

  /**
   * Passes the current text to `change` and stores the result durably before it returns. Returns the stored
   * text with its new mark.
   *
   * Changes run one after another across all servers. `change` may be called more than once. If it returns
   * its input, nothing is written. If it throws, nothing is written and the error is passed on.
   */
  change(
    name: string,
    change: (current: string | undefined) => string | undefined,
  ): Promise<SharedDocument | undefined>;
}

export interface SharedDocument {
  /** Differs after each change. */
  readonly mark: string;
  /** Absent if the caller already has it. */
  readonly text?: string;
}
