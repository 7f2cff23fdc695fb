/** What a sentence gives for a thing: the words behind "is", a colon or a preposition of place. */
export interface Complement {
  readonly text: string;
  /** The words before it. */
  readonly before: string;
}

const GIVES =
  /(?:\b(?:is|are|was|were|remains?|stays?|equals|becomes|became|reads?|says|as|to)\b:?|:|=)\s+/gi;
const PLACE =
  /\b(?:under|behind|beneath|below|inside|beside|above|between|among|near|next to|on top of|on|in|at|by) (?:the|a|an|my|our|his|her|their)?\s?/gi;
const ENDS = /[.;,!?]|\s(?:and|but|so|because|which|that|if|when|until|for now|instead|now)\b|\s[–—-]\s/i;
const LONGEST = 12;

/** The values that a sentence gives in words, each with what stands before it. */
export function complementsIn(sentence: string, isPlace: boolean): Complement[] {
  const found: Complement[] = [];
  const pattern = isPlace ? PLACE : GIVES;
  for (const { 0: match, index } of sentence.matchAll(pattern)) {
    const start = isPlace ? index : index + match.length;
    const behind = sentence.slice(start);
    const text = behind.slice(0, ENDS.exec(behind)?.index ?? behind.length).trim();
    const count = text.split(/\s+/).length;
    if (text === "" || count > LONGEST || (isPlace && count < 2)) continue;
    found.push({ text, before: sentence.slice(0, index) });
    if (isPlace) break;
  }
  return isPlace ? found : found.slice(-1);
}
