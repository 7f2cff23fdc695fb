const TYPED_VERBS = ["forget", "delete", "erase", "remove"];

/** "dlete", "forgte", "forgett": a verb with one letter too many, too few or out of place. */
export function correctVerb(word: string): string {
  if (word.length < 5 || word.length > 7) return word;
  return TYPED_VERBS.find((verb) => isOneSlipAway(word, verb)) ?? word;
}

function isOneSlipAway(word: string, verb: string): boolean {
  if (word === verb || word[0] !== verb[0]) return false;
  if (word.length === verb.length) {
    const at = [...word].findIndex((letter, i) => letter !== verb[i]);
    const isSwapped = word[at] === verb[at + 1] && word[at + 1] === verb[at];
    return isSwapped && word.slice(at + 2) === verb.slice(at + 2);
  }
  const [long, short] = word.length > verb.length ? [word, verb] : [verb, word];
  if (long.length - short.length !== 1) return false;
  return [...long].some((_letter, i) => long.slice(0, i) + long.slice(i + 1) === short);
}
