import type { Status } from "./memory.ts";

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
