import type { Fields } from "../replies/reply.ts";

/** The model that is always there: it answers from memory, and needs no key and no network. */
export const BUILT_IN = "keepsake";

/** What the built-in model says, before it is put into one of the two forms. */
export interface BuiltInAnswer {
  readonly text: string;
  /** Unix time, in seconds. */
  readonly created: number;
  readonly id: string;
  readonly body: Fields;
  /** Texts that were read. */
  readonly words: string;
}

/** The same in the two ways in which it can be sent: at once, or as server-sent events. */
export interface Form {
  readonly whole: object;
  readonly frames: readonly string[];
}

/** A text in the parts in which it is sent: word by word. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}
