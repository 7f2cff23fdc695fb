import { isNationality } from "./nationalities.ts";
import type { Token } from "./token.ts";

/**
 * "Cats have whiskers": a kind of thing, whose capital is the sentence's; "he is Italian", "she speaks Thai": no name
 * either, unless somebody is called so.
 */
export function isKindName(
  tokens: readonly Token[],
  [from, to]: readonly [number, number],
  isCalled: (name: string) => boolean,
): boolean {
  const word = tokens[from];
  if (word && to - from === 1 && isNationality(word.lower)) return !isCalled(word.lower);
  if (from !== 0 || to - from !== 1 || word === undefined || word.class !== "noun") return false;
  if (NAMED.some((tag) => word.tags.has(tag))) return false;
  // "Chess is one of my favourite games" is told of the one who speaks.
  if (tokens.some(({ lower }, at) => at >= to && /^(?:my|our|mine|me|us)$/.test(lower))) return false;
  // A verb of many tells a kind from a name in "-s".
  const verb = tokens[to];
  const isMany =
    word.tags.has("Plural") && verb?.class === "verb" && /^(?:are|were|have|do)$|[^s]$/.test(verb.lower);
  return isMany || word.tags.has("Uncountable");
}

const NAMED = ["ProperNoun", "Person", "FirstName", "LastName", "Place", "Organization"];
