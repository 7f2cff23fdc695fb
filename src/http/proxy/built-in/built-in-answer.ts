import type { BodyFields } from "../replies/reply.ts";

/** The model that is always there: it answers from memory, and needs no key and no network. */
export const BUILT_IN_MODEL = "keepsake";

/** What the built-in model says, before it is put into one of the two forms. */
export interface BuiltInAnswer {
  readonly text: string;
  /** Unix time, in seconds. */
  readonly created: number;
  readonly id: string;
  readonly body: BodyFields;
  /** Texts that were read. */
  readonly words: string;
}

/** The same in the two ways in which it can be sent: at once, or as server-sent events. */
export interface BuiltInReply {
  readonly body: object;
  readonly eventFrames: readonly string[];
}

/** A text in the parts in which it is sent: word by word. */
export function splitIntoWords(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}
