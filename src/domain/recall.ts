import type { Claim, Kind, Status } from "./memory.ts";
import type { Role } from "./message.ts";
import type { Where } from "./metadata-filter.ts";
import type { TokenUsage } from "./model-usage.ts";

export interface RecallOptions {
  /** The maximum number of items (default 10). */
  readonly limit?: number;
  /** A token budget for `context`. */
  readonly maxTokens?: number;
  readonly kinds?: readonly Kind[];
  readonly types?: readonly ("memory" | "passage")[];
  /** Recalls what was true at this time. */
  readonly asOf?: Date | string;
  /** Recalls what was stored at this time. */
  readonly knownAt?: Date | string;
  /** Only statements made in this session. */
  readonly session?: string;
  readonly where?: Where;
  /** Items below this score are left out (default 0: all relevant items). */
  readonly minScore?: number;
  readonly explain?: boolean;
  /** The name of a weight profile ("default", "classic"). */
  readonly profile?: string;
  readonly signal?: AbortSignal;
}

/**
 * The ranked, explained and budgeted result of a query. If nothing is relevant, `items` is empty and
 * `abstained` is true.
 */
export interface Recall {
  readonly id: string;
  /** Best first. */
  readonly items: readonly Item[];
  /** The items as text for a prompt, within the budget: the newest truth first, with dates and sources. */
  readonly context: string;
  /** The estimated size of `context`, in tokens. */
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
  /** The message's id, given by the caller or generated. */
  readonly message: string;
  readonly session?: string;
  readonly role: Role;
  readonly name?: string;
  readonly at: string;
  readonly quote: string;
  readonly start: number;
  readonly end: number;
}

/** Why an item was found: its rank and score in each retriever, and the contribution of each feature. */
export interface Why {
  /** Retriever -> rank (from 1) and raw score. */
  readonly arms: { readonly [arm: string]: { readonly rank: number; readonly score: number } };
  /** Feature -> contribution to the score. */
  readonly parts: { readonly [feature: string]: number };
  /** The words of the query that occur in the item. */
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

/** Who wrote an answer, and its token usage. */
export interface AnsweredBy {
  /** `model`, or `memory` if it was composed without a model. */
  readonly by: "model" | "memory";
  /** The model, as its server names it. */
  readonly model?: string;
  /** The token usage, if the server reports it. */
  readonly usage?: TokenUsage;
  /** Why the model did not answer, or not completely. */
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
/** `ungrounded`: no sentence named anything known. `cut`: the answer was truncated. */
export type AnswerTrouble = (typeof ANSWER_TROUBLES)[number];

export interface Answer extends AnsweredBy {
  readonly text: string;
  /** Ids of the items that the answer is based on. */
  readonly used: readonly string[];
  readonly abstained: boolean;
  readonly recall: Recall;
}

/** The current state of something recalled earlier. */
export type Fate = "current" | "superseded" | "retracted" | "expired" | "undone" | "erased";

/** For an erased item, nothing is reported except that it was erased. */
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

/**
 * Why a recall included and left out what it did. It is derived from the receipt, with the texts as they are
 * now.
 */
export interface RecallExplanation extends Omit<RecallReceipt, "items" | "dropped"> {
  readonly items: readonly ExplainedItem[];
  readonly dropped: readonly ExplainedDrop[];
  /** The result for the item that the caller asked about. */
  readonly about?: WhyNot;
}

/** Why an item was or was not returned. */
export interface WhyNot {
  readonly id: string;
  readonly reason: Reason;
  /** A sentence for a person, without the memory's words. */
  readonly text: string;
}

/** Why an item was or was not returned. */
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
 * The result of one recall, by ids, numbers and fixed words only. It contains no text of the query, of
 * memories or of messages, so an erasure has nothing to remove from it.
 */
export interface RecallReceipt {
  /** The recall's id. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** What was requested: items, or an answer based on them. */
  readonly kind: "recall" | "answer";
  /** The user's revision that the recall saw. */
  readonly revision: number;
  /** The session of the request, and the id of the message that asked, if there is one. */
  readonly session?: string;
  readonly message?: string;
  /** The restrictions of the recall. */
  readonly bounds: RecallBounds;
  /** The name of the weight profile, the number of units, and the evidence that the best item needed. */
  readonly profile: string;
  readonly considered: number;
  readonly threshold: number;
  /** The returned items, best first. */
  readonly items: readonly RecalledItem[];
  /** The nearest items that were left out, with the reason; only the top ones. */
  readonly dropped: readonly DroppedItem[];
  /** The memories and passages that the answer is based on; absent if unknown. */
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
  /** Whether a metadata filter applied. The filter itself is not kept. */
  readonly where?: true;
}

export interface RecalledItem {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  /** The item's status at that time. */
  readonly status: Status;
  /** Retriever -> rank (from 1) and raw score. */
  readonly arms: { readonly [arm: string]: { readonly rank: number; readonly score: number } };
  /** Feature -> contribution to the score. */
  readonly parts: { readonly [feature: string]: number };
}

export interface DroppedItem {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly why: string;
}

/** The number of recall receipts kept for each user: the newest. */
export const MAX_RECALL_RECEIPTS = 1000;
