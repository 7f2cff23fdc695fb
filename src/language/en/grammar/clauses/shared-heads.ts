import type { ClausePart } from "./parts.ts";
import type { Phrase } from "./phrases.ts";

/**
 * Whether the members of a list share what ends it: "action and sci-fi films", where the first is one bare word and
 * the second has a word before its noun; "lizards and animals with fur". "Coffee and green tea" looks the same; told
 * whole it is true as well.
 */
export function sharesEnd({ tokens, phrases }: ClausePart, phrase: Phrase): boolean {
  const [first, second, ...others] = phrase.items;
  if (!first || !second) return false;
  const behind = phrases[phrases.indexOf(phrase) + 1];
  if (behind?.kind === "preposition" && /^(?:with|without|of|for|from)$/.test(behind.head ?? "")) return true;
  if (others.length > 0 || first[1] - first[0] !== 1) return false;
  const word = tokens[first[0]];
  const isBare = word !== undefined && ["noun", "adjective"].includes(word.class) && !word.tags.has("Plural");
  const opening = tokens[second[0]]?.class ?? "";
  return isBare && second[1] - second[0] > 1 && ["noun", "adjective"].includes(opening);
}
