import type { Extractor } from "../ports/extractor.ts";

/** An extractor that leaves out what it is less sure of than `threshold`. Changes and requests to forget stay. */
export function filterByConfidence(extractor: Extractor, threshold: number): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const proposals = await extractor.propose(reading, options);
      return proposals.filter((one) => one.propose !== "add" || one.confidence >= threshold);
    },
  };
}
