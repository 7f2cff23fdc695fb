import type { CallOptions } from "../call-options.ts";

/** Reads a query together with each text, and tells how relevant the text is. Slower than a search, and more exact. */
export interface Reranker {
  /** Names the model in explanations: "rerank-v3.5". */
  readonly name: string;
  /** True if it needs no network. */
  readonly local: boolean;
  /**
   * Returns the relevance of each text, in order: 0 to 1, higher is better. A text that is too long is truncated.
   *
   * Throws `unavailable` if the reranker cannot be reached now, and `invalid_input` if it will never accept these texts.
   * An aborted signal rejects with its reason. Error messages contain no user text.
   */
  score(query: string, texts: readonly string[], options?: CallOptions): Promise<number[]>;
}
