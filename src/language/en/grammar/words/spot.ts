import type { Token, WordClass } from "./token.ts";

/** A token among its neighbours. */
export interface Spot {
  readonly tokens: readonly Token[];
  readonly i: number;
  readonly current: Token;
  readonly previous: Token | undefined;
  readonly next: Token | undefined;
  /** No mark stands between it and the word before. */
  readonly glued: boolean;
  /** The word before, negation and adverb skipped. */
  readonly helper: Token | undefined;
}

export function isA(token: Token | undefined, ...kinds: WordClass[]): boolean {
  return token !== undefined && kinds.includes(token.class);
}

/** Whether nothing follows, or a mark. */
export function ends({ current, next }: Spot): boolean {
  return !next || current.after.trim() !== "";
}

export function isSmall(token: Token): boolean {
  return /^[a-z]/.test(token.word);
}

/** "bagels, pretzels and stollen": what ends a list of nouns. */
export function isLastOfList({ tokens, i, current, previous, glued, next }: Spot): boolean {
  const isEnd = !next || /[.,!?;:]/.test(current.after);
  const before = tokens[i - 2];
  if (!glued || !isEnd || current.class !== "adjective" || !isA(before, "noun")) return false;
  const isListed = tokens[i - 3]?.after.includes(",") === true && isA(tokens[i - 3], "noun", "name");
  return ["and", "or", "&"].includes(previous?.lower ?? "") && isListed;
}
