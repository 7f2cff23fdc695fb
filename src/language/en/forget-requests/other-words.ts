import { stem } from "../../../domain/search/search-terms.ts";

/** Whether a text holds a name, given by its stem, only as another word: "I hope" is not Hope from accounts. */
export function isOtherWord(said: string, name: string): boolean {
  const spelt = Array.from(said.matchAll(/\p{L}+/gu)).filter(([word]) => stem(word.toLowerCase()) === name);
  return spelt.length > 0 && spelt.every(({ 0: word, index }) => isCommonWord(said, word, index));
}

function isCommonWord(said: string, word: string, at: number): boolean {
  if (/^\p{Lu}/u.test(word)) return false;
  const before = said.slice(Math.max(0, at - LONGEST_BEFORE), at);
  // "Mark the boxes": an order opens with the word.
  const isOrder =
    /^\W*$/.test(said.slice(0, at)) &&
    /^\s+(?:the|a|an|my|our|it|them|this|that)\b/i.test(said.slice(at + word.length, at + word.length + 12));
  return isOrder || COMMON_BEFORE.test(before);
}

const LONGEST_BEFORE = 12;

/** What stands before a name in lower case that is another word: "I hope", "to mark", "the rose". */
const COMMON_BEFORE =
  /\b(?:i|we|you|they|he|she|to|the|a|an|can|will|could|would|should|not|my|in|on|please)\s*$/i;
