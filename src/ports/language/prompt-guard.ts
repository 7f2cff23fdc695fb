import type { TextSpan } from "../../domain/text/split-text.ts";

/** An instruction to the assistant in a text. */
export interface InjectionSpan extends TextSpan {
  /** What it would make the assistant do, in words for a person: "favour something". */
  readonly does: string;
  /** True if it is not the user's own: it imitates a turn, a tool or a memory, or is in pasted text. */
  readonly foreign?: boolean;
}

/**
 * `typed`: the user's own words, except quotes. `reply`: an assistant's. `brought`: a tool's or a document's.
 */
export type TextAuthorship = "typed" | "reply" | "brought";

/** Finds prompt injections and the words of others in texts of a language. All positions are in characters. */
export interface PromptGuard {
  /**
   * The instructions to the assistant in a text, in order, without overlaps. The user's own requests for tone,
   * form, language, name and reminders are not among them.
   */
  findInjections(text: string, authorship: TextAuthorship): InjectionSpan[];
  /** Like `findInjections`, in steps, so that a caller can yield to other work in between. */
  findInjectionsInSteps(text: string, authorship: TextAuthorship): Generator<void, InjectionSpan[], void>;
  /** Where the text before an injection ends: before the words that join the two. */
  findJointBefore(text: string, start: number): number;
  /** The pasted spans of a user's message: a page, a mail, quoted lines, a block of code. */
  findPastedText(text: string): TextSpan[];
  /** The spans of a message with quoted sentences of others, in order. */
  findQuotes(text: string): TextSpan[];
  /** Whether a request is plainly about the style of answers, so that a model may be told to follow it. */
  isStyleRequest(text: string): boolean;
}
