export type WordClass =
  | "verb"
  | "noun"
  | "name"
  | "pronoun"
  | "possessive"
  | "determiner"
  | "adjective"
  | "adverb"
  | "preposition"
  | "conjunction"
  | "number"
  | "question"
  | "negation"
  | "other";

/** A word with its place in the text. A contraction gives two tokens over the same place ("I've": I, have). */
export interface Token {
  /** The word itself, without punctuation. Of a contraction, the part's own word. */
  readonly word: string;
  readonly lower: string;
  readonly start: number;
  readonly end: number;
  readonly tags: ReadonlySet<string>;
  class: WordClass;
  /** Punctuation right before and after. */
  readonly before: string;
  readonly after: string;
  /** Whether the words that a contraction stands for begin or go on here. */
  readonly contracted?: "first" | "rest";
  /** Inside quotation marks: somebody else's words, or a title. */
  quoted?: boolean;
  /** "Ana's": the owner of what follows. */
  readonly owner?: boolean;
}

/** A stretch of tokens by index, the end exclusive. */
export type Stretch = readonly [number, number];

/** Whether a word begins with a capital. */
export function isCapital(token: Token | undefined): boolean {
  return /^\p{Lu}/u.test(token?.word ?? "");
}
