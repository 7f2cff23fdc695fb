import type { Memory } from "../../domain/memory.ts";

/** Parses a question, so that an answer can be composed from claims without a model. */
export interface QuestionReader {
  /** Whether a message asks something, of memory or of anyone, rather than stating or ordering. */
  isQuestion(message: string): boolean;
  /** Parses a question asked at a time (ISO 8601), with the memories it may refer to. */
  read(question: string, context: { readonly at: string; readonly known: readonly Memory[] }): Question;
}

/** A parsed question. */
export interface Question {
  /** What it asks for. */
  readonly asks: "value" | "yes_no" | "when" | "where" | "who" | "how_many" | "unknown";
  /** As in claims: `user`, `user/sister`, a name. Absent if unknown. */
  readonly subject?: string;
  /** Verb phrases in base form that would answer it: `use`; `live in`; `be called`. */
  readonly relations: readonly string[];
  /** The kind of value that is wanted ("keyboard", "productivity tools"), or the thing it asks about. */
  readonly topic?: string;
  /** A value that the question itself names ("Am I still together with Jonas?"). */
  readonly value?: string;
  /** Words that narrow the question: "in Lima", "for work", "in the mornings". */
  readonly narrows?: string;
  /** The tense of the question. */
  readonly tense?: "past" | "present" | "future";
  /** True if the question means the past: "where did I live before", "what did I use to …". */
  readonly past?: boolean;
  /** A period that the question names, ISO 8601, and the words for it. */
  readonly from?: string;
  /** The end of the period, exclusive (ISO 8601). */
  readonly to?: string;
  /** The words that name the period. */
  readonly dated?: string;
  /** What it is compared with ("before Porto", "after I moved"), and the question without it. */
  readonly beside?: {
    readonly side: "before" | "after" | "when";
    readonly of: string;
    readonly rest: string;
  };
  /** Which of several is meant: "When did I last …", "the first time". */
  readonly order?: "first" | "last";
  /** The question is about the last answer: its sources, or why it omitted something. */
  readonly talk?: { readonly asks: "source" | "omission"; readonly about?: string };
  /** The question asks for a length of time: how long it lasts, how long ago it was, how old someone is. */
  readonly measures?: "duration" | "ago" | "age";
}
