import { isCapital, type Token } from "./token.ts";

/** Small words inside a title. */
const JOINT = /^(?:a|an|the|of|and|or|in|on|at|to|for|from|with|by|vs)$/;

/** The words of a title in quotation marks, "Becoming Nicole", are one name whatever each is by itself. */
export function nameTitles(tokens: readonly Token[]): void {
  for (let from = 0; from < tokens.length; from += 1) {
    if (!tokens[from]?.quoted || tokens[from - 1]?.quoted) continue;
    let to = from;
    while (tokens[to]?.quoted) to += 1;
    const words = tokens.slice(from, to);
    if (isTitle(words)) for (const word of words) word.class = "name";
    from = to;
  }
}

function isTitle(words: readonly Token[]): boolean {
  if (words.length === 0 || words.length > 8) return false;
  if (words.some(({ lower, contracted }) => lower === "i" || contracted !== undefined)) return false;
  return (
    isCapital(words[0]) &&
    words.every((word) => isCapital(word) || JOINT.test(word.lower) || /^\d/.test(word.word))
  );
}
