import type { Claim, Kind } from "../../domain/memory.ts";
import type { CallOptions } from "../../ports/call-options.ts";

/** What is compared of a memory. */
export interface ReplayedFact {
  /** The statement, in one sentence. */
  readonly text: string;
  /** The kind of statement. */
  readonly kind: Kind;
  /** The structured form of the statement, if it has one. */
  readonly claim?: Claim;
  /** `ended`: replaced or over. `retracted`: never true. `quarantined`: waits for a person. */
  readonly state: "current" | "ended" | "retracted" | "quarantined";
  /** From when it was true, inclusive (ISO 8601). */
  readonly validFrom?: string;
  /** Until when it was true, exclusive (ISO 8601). */
  readonly validTo?: string;
  /** When an event takes place, or a commitment is due. */
  readonly when?: string;
  /** The id of the message that said it first. */
  readonly message: string;
}

/** A field in which two facts can differ. `dates`: `validFrom`, `validTo` or `when`. */
export type ReplayedField = "state" | "text" | "kind" | "claim" | "dates";

/** A fact that is on one side only, or differs. */
export interface FactDifference {
  /** The fact on the left side. Absent: only the right side has it. */
  readonly left?: ReplayedFact;
  /** The fact on the right side. Absent: only the left side has it. */
  readonly right?: ReplayedFact;
  /** The fields that differ. Empty for a fact on one side only. */
  readonly fields: readonly ReplayedField[];
}

/** A comparison of what two readings of the same messages know. */
export interface ReplayReport {
  /** What is compared: the store with a replay, or the rules with the model. */
  readonly sides: { readonly left: "store" | "rules"; readonly right: "replay" | "model" };
  /** Whether both sides have the same facts. */
  readonly isEqual: boolean;
  /** How many messages and facts there are of each kind. */
  readonly counts: {
    /** The messages that were read. */
    readonly messages: number;
    /** Messages that no extractor of the store has read yet. They are left out. */
    readonly unread: number;
    /** Facts that both sides have. */
    readonly same: number;
    /** Facts that both sides have, with another state, text, kind, claim or dates. */
    readonly different: number;
    /** Facts of the left side alone. */
    readonly onlyLeft: number;
    /** Facts of the right side alone. */
    readonly onlyRight: number;
    /**
     * Facts that the replay took from the log: what a model read, a person added or edited, an import added, or a clean-up
     * changed. Facts of messages with erased words are among them.
     */
    readonly notFromMessages: number;
  };
  /** SHA-256 of the compared facts of each side (hex). Equal if the facts are. */
  readonly digests: { readonly left: string; readonly right: string };
  /** The facts that differ, in the order of the messages. */
  readonly differences: readonly FactDifference[];
}

/** Options of `replay` and `compareExtractors`. */
export interface ReplayOptions extends CallOptions {
  /**
   * Whether `replay` has the model read the messages again (false). Its calls cost what they cost. By default, what it read
   * is taken from the log, and no call is made. Without a model it does nothing; `compareExtractors` always asks the model.
   */
  readonly askModel?: boolean;
  /** Called with the number of messages read, and of all. */
  readonly onProgress?: (done: number, of: number) => void;
}
