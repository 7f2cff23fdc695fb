import type { Claim, Kind, Status } from "./memory.ts";
import type { Role } from "./message.ts";
import type { Where } from "./metadata-filter.ts";
import type { TokenUsage } from "./model-usage.ts";

export interface RecallOptions {
  /** How many items at most (10). */
  readonly limit?: number;
  /** A budget for `context`. */
  readonly maxTokens?: number;
  readonly kinds?: readonly Kind[];
  readonly types?: readonly ("memory" | "passage")[];
  /** What was true then. */
  readonly asOf?: Date | string;
  /** What was stored then. */
  readonly knownAt?: Date | string;
  /** Only what was said in this session. */
  readonly session?: string;
  readonly where?: Where;
  /** Items below this score are left out (0: all that is relevant). */
  readonly minScore?: number;
  readonly explain?: boolean;
  /** The name of a set of weights ("default", "classic"). */
  readonly profile?: string;
  readonly signal?: AbortSignal;
}

/** The ranked, explained, budgeted answer to a query. With nothing relevant, `items` is empty and `abstained` true. */
export interface Recall {
  readonly id: string;
  /** Best first. */
  readonly items: readonly Item[];
  /** The items as text for a prompt: newest truth first, dated, sourced, within the budget. */
  readonly context: string;
  /** An estimate of the size of `context`, in tokens. */
  readonly tokens: number;
  readonly abstained: boolean;
  readonly explanation?: Explanation;
}

export interface Item {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly text: string;
  readonly kind?: Kind;
  readonly claim?: Claim;
  readonly status: Status;
  /** 0 to 1, higher is better. */
  readonly score: number;
  /** When it was said. */
  readonly at: string;
  readonly when?: string;
  readonly validFrom?: string;
  readonly validTo?: string;
  readonly sources: readonly Source[];
  readonly why?: Why;
}

export interface Source {
  /** The id that the caller gave to the message, or the one it was given. */
  readonly message: string;
  readonly session?: string;
  readonly role: Role;
  readonly name?: string;
  readonly at: string;
  readonly quote: string;
  readonly start: number;
  readonly end: number;
}

/** Why an item came: its rank and score in each arm, and what each part added. */
export interface Why {
  /** Arm -> rank from 1 and raw score. */
  readonly arms: { readonly [arm: string]: { readonly rank: number; readonly score: number } };
  /** Feature -> what it added to the score. */
  readonly parts: { readonly [feature: string]: number };
  /** The query's words that the item holds. */
  readonly words: readonly string[];
}

export interface Explanation {
  readonly query: string;
  readonly profile: string;
  readonly considered: number;
  readonly threshold: number;
  readonly dropped: readonly {
    readonly id: string;
    readonly type: "memory" | "passage";
    readonly score: number;
    readonly why: string;
  }[];
}

/** Who put an answer into words, and what it took. */
export interface AnsweredBy {
  /** `model`, or `memory` where it was composed without one. */
  readonly by: "model" | "memory";
  /** The model that was asked, as its server names it. */
  readonly model?: string;
  /** What asking it took, where it says. */
  readonly usage?: TokenUsage;
  /** Why the model did not answer, or not to the end. */
  readonly trouble?: AnswerTrouble;
}

export const ANSWER_TROUBLES = [
  "unavailable",
  "slow",
  "over_quota",
  "refused",
  "empty",
  "ungrounded",
  "cut",
  "failed",
] as const;
/** `ungrounded`: no sentence of it named anything that is known. `cut`: it ended in the middle. */
export type AnswerTrouble = (typeof ANSWER_TROUBLES)[number];

export interface Answer extends AnsweredBy {
  readonly text: string;
  /** Ids of the items that the answer rests on. */
  readonly used: readonly string[];
  readonly abstained: boolean;
  readonly recall: Recall;
}

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

/**
 * What one recall gave, and what it left out: ids, numbers and fixed words alone. No text of the query and none of
 * memories or messages, so that an erasure has nothing to take from it.
 */
export interface RecallReceipt {
  /** The recall's id. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** What was asked for: items, or an answer from them. */
  readonly kind: "recall" | "answer";
  /** The user's revision that it saw. */
  readonly revision: number;
  /** Where it was asked, and the id of the message that asked, where there is one. */
  readonly session?: string;
  readonly message?: string;
  /** What it was bounded by. */
  readonly bounds: RecallBounds;
  /** The name of the weights, how many units there were, and the evidence that the best needed. */
  readonly profile: string;
  readonly considered: number;
  readonly threshold: number;
  /** What was given, best first. */
  readonly items: readonly RecalledItem[];
  /** What came near and was left out, with why; the foremost alone. */
  readonly dropped: readonly DroppedItem[];
  /** The memories and passages that the answer rests on; none where it was not known. */
  readonly used?: readonly string[];
}

export interface RecallBounds {
  readonly limit: number;
  readonly minScore: number;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly kinds?: readonly string[];
  readonly types?: readonly string[];
  /** Whether a filter over metadata bounded it; the filter itself is not kept. */
  readonly where?: true;
}

export interface RecalledItem {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  /** What it had to say then. */
  readonly status: Status;
  /** Arm -> rank from 1, and raw score. */
  readonly arms: { readonly [arm: string]: { readonly rank: number; readonly score: number } };
  /** Feature -> what it added to the score. */
  readonly parts: { readonly [feature: string]: number };
}

export interface DroppedItem {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly why: string;
}

/** So many receipts of a user are kept, the newest. */
export const MAX_RECALL_RECEIPTS = 1000;
