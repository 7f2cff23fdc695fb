import type { Memory } from "../../domain/memory.ts";

/** Finds out what a question asks, so that an answer can be composed from claims without a model. */
export interface QuestionReader {
  /** Whether a message asks something (of memory or of anybody), rather than telling or ordering. */
  isQuestion(message: string): boolean;
  read(question: string, context: { readonly at: string; readonly known: readonly Memory[] }): Question;
}

export interface Question {
  readonly asks: "value" | "yes_no" | "when" | "where" | "who" | "how_many" | "unknown";
  /** As in claims: `user`, `user/sister`, a name; absent where it could not be told. */
  readonly subject?: string;
  /** Verb phrases in base form that would answer it: `use`; `live in`; `be called`. */
  readonly relations: readonly string[];
  /** What kind of value is asked for ("keyboard", "productivity tools"), or the thing asked after. */
  readonly topic?: string;
  /** A value that the question names itself ("Am I still together with Jonas?"). */
  readonly value?: string;
  /** Words that narrow the question: "in Lima", "for work", "in the mornings". */
  readonly narrows?: string;
  /** When what is asked about is, was or will be so. */
  readonly tense?: "past" | "present" | "future";
  /** True for "where did I live before", "what did I use to …": the past is meant. */
  readonly past?: boolean;
  /** A span of time that the question names, ISO 8601, and the words that name it. */
  readonly from?: string;
  readonly to?: string;
  readonly dated?: string;
  /** What it is asked beside ("before Porto", "after I moved"), and the question without it. */
  readonly beside?: {
    readonly side: "before" | "after" | "when";
    readonly of: string;
    readonly rest: string;
  };
  /** "When did I last …", "the first time": which of several is meant. */
  readonly order?: "first" | "last";
  /** It is about the last answer: what it rests on, or why it left something out. */
  readonly talk?: { readonly asks: "source" | "omission"; readonly about?: string };
  /** What is asked for is a length of time: how long it lasts, how long it is ago, how old somebody is. */
  readonly measures?: "duration" | "ago" | "age";
}
