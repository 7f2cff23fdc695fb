import { AUXILIARIES, FILLERS } from "../words/lexicon.ts";
import type { Token } from "../words/token.ts";

const ASKING_WORDS = /^(?:what|where|when|who|whom|whose|why|how|which)$/;
const JOINING = /^(?:and|but|so|or|then|also|plus)$/;

/**
 * From which token on a sentence asks: past its end where it asks nothing. "I keep geese, where does your sister
 * live?" asks from "where" on; what stands before is told. A mark without words that ask makes all of it a question.
 */
export function askedFrom(tokens: readonly Token[]): number {
  const isMarked = /\?/.test(tokens.at(-1)?.after ?? "") || tokens.at(-1)?.word.endsWith("?") === true;
  const opening = tokens.findIndex((_token, at) => opensQuestion(tokens, at, isMarked));
  if (opening >= 0) return opening;
  return isMarked ? 0 : tokens.length;
}

/** Whether a question begins there: with a word that asks, or an auxiliary before its subject. */
function opensQuestion(tokens: readonly Token[], at: number, isMarked: boolean): boolean {
  const token = tokens[at];
  const next = tokens[at + 1];
  if (!token || !next || !(isOpening(tokens, at) || isBidden(tokens, at))) return false;
  if (AUXILIARIES.has(token.lower)) {
    // "Have a dog", "do my taxes": "I" is left out, and nothing is asked.
    const isFull = /^(?:have|had|do)$/.test(token.lower) && next.class !== "pronoun" && !isMarked;
    return token.contracted !== "rest" && isSubjectLike(next) && !isFull;
  }
  if (!ASKING_WORDS.test(token.lower)) return false;
  if (isBidden(tokens, at)) return true;
  // "When my sister visits, we bake": told, where "when does my sister visit" is asked.
  const behind = tokens.slice(at + 1, at + 4).find(({ lower }) => AUXILIARIES.has(lower));
  return isMarked
    ? at === 0 || behind !== undefined
    : behind !== undefined && tokens.indexOf(behind) < at + 3;
}

/** "Remind me what my wife likes." */
function isBidden(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.lower === "me" && /^(?:tell|remind|show)$/.test(tokens[at - 2]?.lower ?? "");
}

function isSubjectLike({ class: kind, lower }: Token): boolean {
  return ["pronoun", "possessive", "determiner", "name"].includes(kind) || /^(?:there|anyone)$/.test(lower);
}

/** At the beginning, behind a mark, or behind a joining word. */
function isOpening(tokens: readonly Token[], at: number): boolean {
  for (let i = at - 1; i >= 0; i -= 1) {
    const token = tokens[i];
    if (!token || /[,;:–—-]/.test(token.after)) return true;
    if (!JOINING.test(token.lower) && !FILLERS.has(token.lower)) return false;
    if (JOINING.test(token.lower)) return true;
  }
  return true;
}
