import type { Memory } from "../../domain/memory.ts";
import type { Recall } from "../../domain/recall.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";
import type { Question } from "./question-reader.ts";
import type { StoredContent } from "./stored-content.ts";

/** Composes answers from memory in a language, without a model. */
export interface Answerer {
  /** Whether a question asks for everything that is known about the user. */
  asksForAll(question: string): boolean;
  /** Composes the answer to a question. Without an `answer` in the result, memory does not tell. */
  compose(asked: AnswerRequest): Promise<ComposedReply>;
  /**
   * Formats a date (ISO 8601) for a person: "Friday, 17 April 2026", with the time of day if it has one. Gives other
   * texts unchanged. `weekday: false` leaves out the day of the week.
   */
  formatDate(iso: string, options?: { readonly weekday?: boolean }): string;
  /** The memory that words describe: current memories first, then the newest. */
  findMemory(memories: ReadonlyMap<string, Memory>, words: string): Promise<Memory | undefined>;
}

export interface AnswerRequest {
  readonly question: string;
  /** Whose memory answers. Users take turns at what all answers share. */
  readonly user: string;
  readonly found: Recall;
  readonly content: StoredContent;
  /** Whether the caller's bounds admit a memory. */
  readonly mayUse: (memory: Memory) => boolean;
  /** Whether the caller set no bounds: no session, kinds, types, filter, least score or other time. */
  readonly isUnbounded: boolean;
  /** ISO 8601. With `asOf`, the answer describes that time. */
  readonly now: string;
  readonly asOf: string | undefined;
  /** The time zone of the user's newest message, if it is known. */
  readonly zone: string | undefined;
  /** The part of a sentence that may be quoted; empty if none may. */
  readonly toQuotableText: (content: string, passage: TextSpan, sentence: TextSpan) => string;
  /** Answers a question about the last answer. */
  readonly explain: (question: Question) => Promise<ComposedText | undefined>;
}

/** A text, and the ids of the items that it is based on. */
export interface ComposedText {
  readonly text: string;
  readonly used: readonly string[];
}

export interface ComposedReply {
  readonly answer: ComposedText | undefined;
  /** Whether the answer is sure. Otherwise its text says so, and quotes what was found. */
  readonly isSure: boolean;
  /** Whether no model could say it better: it quotes, explains or lists everything. */
  readonly isExact: boolean;
  /** Whether the question was about the last answer. */
  readonly isAboutAnswer: boolean;
  /** Whether the answer was composed without a part of the reading, for which there was no time. Then it is not sure. */
  readonly isUnread: boolean;
}
