import type { Embedder } from "../ports/embedder.ts";

/**
 * The version of the word analysis that units are stored with. It stands in their space: what an older analysis left
 * behind is read anew in the background, as what another embedder left behind is (see `embedPending`). Raise it with
 * every change of `analyse` that gives other terms for a text.
 */
const ANALYSIS_VERSION = 2;

/** Where a unit belongs whose vector this embedder made, and whose terms are those of today. */
export function spaceOf({ fingerprint }: Pick<Embedder, "fingerprint">): string {
  return `${fingerprint} ${ANALYSIS_VERSION}`;
}

/** Spaces with vectors of the same embedder and terms of an older analysis, newest first. The first had no number. */
export function listOlderSpaces({ fingerprint }: Pick<Embedder, "fingerprint">): string[] {
  const numbered = Array.from(
    { length: ANALYSIS_VERSION - 2 },
    (_one, i) => `${fingerprint} ${ANALYSIS_VERSION - 1 - i}`,
  );
  return [...numbered, fingerprint];
}
