import type { Stretch, Token } from "./token.ts";

/**
 * Whether a list of two shares the noun at its end, "action and sci-fi films": the first is one bare word, and the
 * second has a word before its noun. "Coffee and green tea" looks the same; told whole it is true as well.
 */
export function sharesHead(
  tokens: readonly Token[],
  [first, second, ...others]: readonly Stretch[],
): boolean {
  if (!first || !second || others.length > 0 || first[1] - first[0] !== 1) return false;
  const word = tokens[first[0]];
  const isBare = word !== undefined && ["noun", "adjective"].includes(word.class) && !word.tags.has("Plural");
  const opening = tokens[second[0]]?.class ?? "";
  return isBare && second[1] - second[0] > 1 && ["noun", "adjective"].includes(opening);
}
