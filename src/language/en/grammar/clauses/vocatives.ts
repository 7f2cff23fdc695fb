import { isCapital, type Token } from "../words/token.ts";

/**
 * A sentence without the name of the one it is said to: "Olaf, after the show I …", "I agree, Mia". Between commas and
 * the ends only, and never of a list of names.
 */
export function withoutVocatives(tokens: readonly Token[]): Token[] {
  const [first] = tokens;
  const last = tokens.at(-1);
  let kept = [...tokens];
  if (first && kept.length > 2 && isAddress(kept, 0) && /^,/.test(first.after) && !isAddress(kept, 1))
    kept = kept.slice(1);
  const before = kept.at(-2);
  if (last && before && kept.length > 1 && isAddress(kept, kept.length - 1) && /^,/.test(before.after)) {
    // "Ana, Bo, Cem": each of them is told of.
    if (isAddress(kept, kept.length - 2)) return kept;
    kept = [...kept.slice(0, -2), { ...before, after: last.after }];
  }
  return kept;
}

function isAddress(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (!token || token.owner || !isCapital(token) || token.word.length < 2) return false;
  return token.tags.has("FirstName") || token.tags.has("Person") || token.class === "name";
}
