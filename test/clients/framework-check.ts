/** What a check can show of a framework, besides that it works. */
export type Proof = "two conversations" | "streaming" | "erasure";

/** A row of the table on docs/frameworks.md, and what a check shows of it. */
export interface ShownProofs {
  /** The framework, as the row names it. */
  readonly row: string;
  readonly proofs: readonly Proof[];
}

/** A check of an adapter, or of an example, with the framework that it is for. */
export interface FrameworkCheck {
  readonly name: string;
  /** What holds of the framework where the check finds no problem. */
  readonly shows?: ShownProofs;
  /** Each problem is a sentence. */
  run(): Promise<readonly string[]>;
}

/** What a story of two conversations and an erasure shows, streamed or not. */
export const showStory = (row: string, isStreamed: boolean): ShownProofs => ({
  row,
  proofs: ["two conversations", ...(isStreamed ? (["streaming"] as const) : []), "erasure"],
});
