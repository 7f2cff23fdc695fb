import type { Source } from "./recall.ts";
import type { DroppedItem, RecalledItem, RecallReceipt } from "./recall-receipt.ts";

/** What has become of something by now. */
export type Fate = "current" | "superseded" | "retracted" | "expired" | "undone" | "erased";

/** Of what has been erased since, nothing is said but that. */
export type ExplainedItem =
  | { readonly id: string; readonly type: "memory" | "passage"; readonly now: "erased" }
  | (RecalledItem & {
      readonly now: Exclude<Fate, "erased">;
      readonly text: string;
      readonly sources: readonly Source[];
    });

export type ExplainedDrop =
  | { readonly id: string; readonly type: "memory" | "passage"; readonly now: "erased" }
  | (DroppedItem & { readonly now: Exclude<Fate, "erased"> });

/** Why a recall gave what it gave, and left out what it left out; told from its receipt, with the words as they are now. */
export interface RecallExplanation extends Omit<RecallReceipt, "items" | "dropped"> {
  readonly items: readonly ExplainedItem[];
  readonly dropped: readonly ExplainedDrop[];
  /** What became of the one that was asked about. */
  readonly about?: WhyNot;
}

/** Why something was or was not given. */
export interface WhyNot {
  readonly id: string;
  readonly reason: Reason;
  /** In a sentence for a person, without the words of the memory. */
  readonly text: string;
}

/** Why something was given, or was not. */
export type Reason =
  | "used"
  | "given"
  | "erased"
  | "not_yet_known"
  | "not_yet_true"
  | "superseded"
  | "retracted"
  | "expired"
  | "undone"
  | "quarantined"
  | "other_kind"
  | "other_type"
  | "other_session"
  | "other_agent"
  | "filtered"
  | "beyond_limit"
  | "below_score"
  | "below_floor";
