import type { RankingWeights } from "./recall.ts";

/** The names of the weights, in the order in which they are shown. */
export const WEIGHT_NAMES: readonly (keyof RankingWeights)[] = [
  "similarity",
  "recency",
  "access",
  "confidence",
  "evidence",
  "importance",
];

const LIST = new RegExp(
  `^(?:${WEIGHT_NAMES.join("|")})=\\d{1,6}(?:\\.\\d{1,6})?(?:,(?:${WEIGHT_NAMES.join("|")})=\\d{1,6}(?:\\.\\d{1,6})?)*$`,
);

/** How weights are written in a setting or an option, for messages. */
export const WEIGHT_LIST_EXAMPLE = "similarity=0.4,recency=0.3,access=0.2,confidence=0.1";

/** The weights in a text such as "similarity=0.4,recency=0.6"; undefined if it is none, or names one twice. */
export function parseWeightList(text: string): RankingWeights | undefined {
  if (!LIST.test(text)) return undefined;
  const entries = text.split(",").map((part) => part.split("="));
  const weights = Object.fromEntries(entries.map(([name, value]) => [name, Number(value)]));
  const isUsable =
    Object.keys(weights).length === entries.length && entries.some(([, value]) => Number(value) > 0);
  return isUsable ? weights : undefined;
}
