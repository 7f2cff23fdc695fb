import type { Memory } from "../../../../domain/memory.ts";
import type { Question } from "../../../../ports/language/question-reader.ts";
import type { Looked, Looking } from "../look.ts";
import type { Match } from "../match.ts";
import type { Span } from "./moments.ts";

/** A question about a time, and the ways to look for its answer. */
export interface TimelyAsking {
  readonly text: string;
  readonly read: Question;
  readonly looking: Looking;
  /** The memories that may be used, in the order in which they were first stored. */
  readonly all: () => readonly Memory[];
  readonly reread: (text: string) => Question;
  readonly look: (text: string, question: Question, span?: Span) => Looked;
  readonly choose: (question: Question, found: readonly Match[]) => Promise<Match[]>;
}

/** An answer; "unknown" where it was understood what is asked and nothing known answers it. */
export type TimelyAnswer =
  | { readonly text: string; readonly used: readonly string[] }
  | "unknown"
  | undefined;
