import type { Extractor } from "../ports/extractor.ts";

/** An extractor that reads requests to forget and nothing else: they are carried out at once, whoever reads the rest. */
export function withErasuresOnly(extractor: Extractor): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const proposals = await extractor.propose(reading, options);
      return proposals.filter(({ propose }) => propose === "erase");
    },
  };
}
