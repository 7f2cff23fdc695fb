import type { Where } from "./filters/metadata-filter.ts";
import type { WhereText } from "./filters/text-filter.ts";
import type { Claim, Kind, KindGroup, Status } from "./memory.ts";
import type { Role } from "./message.ts";
import type { TokenUsage } from "./model-usage.ts";

/** Options of `recall` and `answer`. An unknown option throws `invalid_input`. */
export interface RecallOptions {
  /** The maximum number of items (default 10). */
  readonly limit?: number;
  /** A token budget for `context`. */
  readonly maxTokens?: number;
  /** Only memories of these kinds, or groups of kinds ("semantic", "episodic", "procedural"). Default: all. */
  readonly kinds?: readonly (Kind | KindGroup)[];
  /** Only memories, or only passages of messages. Default: both. */
  readonly types?: readonly ("memory" | "passage")[];
  /** Recalls what was true at this time. */
  readonly asOf?: Date | string;
  /** Recalls what was stored at this time. */
  readonly knownAt?: Date | string;
  /** Only statements made in this session. */
  readonly session?: string;
  /** Only items whose metadata matches. */
  readonly where?: Where;
  /** Only items whose own text matches: the memory's sentence, or the passage's words. */
  readonly whereText?: WhereText;
  /** Items below this score are left out (default 0: all relevant items). */
  readonly minScore?: number;
  /** Adds `why` to each item and `explanation` to the recall (default false). */
  readonly explain?: boolean;
  /** The name of a weight profile ("default", "classic"). */
  readonly profile?: string;
  /** The weights of the profile "classic", which is then the default (see `RankingWeights`). */
  readonly weights?: RankingWeights;
  /**
   * Whether the recall leaves a receipt for `explain`, and counts as a use of its memories (default true). `false` is for a
   * person who looks around: search as one types.
   */
  readonly record?: boolean;
  /**
   * False leaves out what other users share (default true). A call with `session`, `asOf` or `knownAt` finds only the user's
   * own.
   */
  readonly shared?: boolean;
  /** Cancels the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Weights of the profile "classic", each 0 or more. They count by their share of the sum. Absent ones count 0. Without any,
 * the profile has similarity 0.4, recency 0.3, access 0.2 and confidence 0.1.
 */
export interface RankingWeights {
  /** How near the item's vector is to the query's. */
  readonly similarity?: number;
  /** How new it is: halved every 90 days (`decayDays`), counted from the user's newest statement. */
  readonly recency?: number;
  /** How often recalls returned the memory: 0 for never, 1 for 100 times, on a logarithmic scale. */
  readonly access?: number;
  /** How sure the memory is. */
  readonly confidence?: number;
  /** How often it was said. */
  readonly evidence?: number;
  /** How important it is. */
  readonly importance?: number;
}

/** How recalls rank unless the caller says otherwise. */
export interface RankingOptions {
  /** The name of a weight profile ("default", "classic"). */
  readonly profile?: string;
  /** The weights of the profile "classic". */
  readonly weights?: RankingWeights;
}

/**
 * The ranked, explained and budgeted result of a query. If nothing is relevant, `items` is empty and
 * `abstained` is true.
 */
export interface Recall {
  /** The recall's id, for `explain`. */
  readonly id: string;
  /** Best first. */
  readonly items: readonly Item[];
  /** The items as text for a prompt, within the budget: the newest truth first, with dates and sources. */
  readonly context: string;
  /** The estimated size of `context`, in tokens. */
  readonly tokens: number;
  /** Whether nothing relevant was found. */
  readonly abstained: boolean;
  /** How items were chosen; present with `explain: true`. */
  readonly explanation?: Explanation;
}

/** A recalled memory or passage. */
export interface Item {
  /** The id of the memory; for a passage, `<message id>#<number>`. */
  readonly id: string;
  /** A memory, or a passage of a message. */
  readonly type: "memory" | "passage";
  /** The memory's sentence, or the passage's words. */
  readonly text: string;
  /** The kind of the memory. */
  readonly kind?: Kind;
  /** The structured form of the memory, if it has one. */
  readonly claim?: Claim;
  /** Whether it is current, was replaced, or was never true. */
  readonly status: Status;
  /** 0 to 1, higher is better. */
  readonly score: number;
  /** When it was said. */
  readonly at: string;
  /** When the event takes place, or the commitment is due (ISO 8601). */
  readonly when?: string;
  /** From when it is true, inclusive (ISO 8601). */
  readonly validFrom?: string;
  /** Until when it is true, exclusive (ISO 8601). */
  readonly validTo?: string;
  /** The exact words it comes from. For a shared item only if the grant covers the owner's words. */
  readonly sources: readonly Source[];
  /** The user whose memory it is, if another user shares it. "The user" in the text is then replaced by that name. */
  readonly owner?: string;
  /** The id of the grant by which another user shares it. */
  readonly grant?: string;
  /** Why it was found; present with `explain: true`. */
  readonly why?: Why;
}

/** The exact words that a memory comes from, with their message. */
export interface Source {
  /** The message's id, given by the caller or generated. */
  readonly message: string;
  /** The session of the message. */
  readonly session?: string;
  /** The author's role. */
  readonly role: Role;
  /** The speaker's name. */
  readonly name?: string;
  /** When it was said (ISO 8601). */
  readonly at: string;
  /** The words. */
  readonly quote: string;
  /** The id of the image or recording that the words describe. Absent for other words. */
  readonly attachment?: string;
  /** Where the words begin in the message, in UTF-16 units. */
  readonly start: number;
  /** Where they end, exclusive. */
  readonly end: number;
}

/**
 * How a score came about: the sum of `adds`, times each of `factors`. Absent in the ranking for a context, and in receipts of
 * earlier versions.
 */
export interface ScoreParts {
  /** What was added: "relevance", or by the profile "classic" "similarity", "recency", "access", "confidence". */
  readonly adds?: { readonly [part: string]: number };
  /**
   * What it was multiplied by, 0 to 1: its qualities, its status, how sure the recall was, and whether it repeats another. Above
   * 1 only "update" and "rerank": an item that updates an older one, or that a reranker moved, took its place.
   */
  readonly factors?: { readonly [part: string]: number };
}

/** How a recall was reranked. */
export interface Reranking {
  /** The reranker's model. */
  readonly name: string;
  /** `reranked`, or why the order stayed: the reranker took too long, failed, or has too many requests waiting. */
  readonly outcome: RerankOutcome;
  /** The code of its error, if it failed: "unsupported" where its package is not installed. */
  readonly error?: string;
  /** The number of items that it was given. */
  readonly candidates: number;
}

export const RERANK_OUTCOMES = ["reranked", "late", "failed", "busy"] as const;
/** What became of a reranking: done, too late, failed, or not begun because too many requests wait. */
export type RerankOutcome = (typeof RERANK_OUTCOMES)[number];

/** The rank (from 1) and the score (0 to 1) that a reranker gave to an item. */
export interface RerankScore {
  /** Its rank among the candidates, by the reranker's score alone. */
  readonly rank: number;
  /** The reranker's score, 0 to 1. */
  readonly score: number;
}

/** Limits on reranking. */
export interface RerankingOptions {
  /** The number of best items that the reranker is given, 1 to 200 (default 30). */
  readonly candidates?: number;
  /** How long a recall waits for it, in ms (default 1,000). After that, the order stays. */
  readonly timeoutMs?: number;
}

/** Why an item was found: its rank and score in each retriever, and the contribution of each feature. */
export interface Why extends ScoreParts {
  /** Retriever -> rank (from 1) and raw score. */
  readonly arms: { readonly [arm: string]: { readonly rank: number; readonly score: number } };
  /** Feature -> contribution to the relevance. */
  readonly parts: { readonly [feature: string]: number };
  /** The words of the query that occur in the item. */
  readonly words: readonly string[];
  /** The reranker's rank and score, if the recall was reranked. */
  readonly reranked?: RerankScore;
}

/** How a recall chose its items; given with `explain: true`. */
export interface Explanation {
  /** The query. */
  readonly query: string;
  /** The name of the weight profile. */
  readonly profile: string;
  /** The number of memories and passages considered. */
  readonly considered: number;
  /** The evidence that the best item needed, 0 to 1. */
  readonly threshold: number;
  /** How the items were reranked, if there is a reranker. */
  readonly reranking?: Reranking;
  /** The nearest items that were left out, with the reason. */
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
  /** Why the model did not answer, or not completely; or `busy`. */
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
  "busy",
] as const;
/**
 * `ungrounded`: no sentence named anything known. `cut`: the answer was truncated. `busy`: no model was called; the answer was composed
 * without a close reading of what was found, because too many others were being answered.
 */
export type AnswerTrouble = (typeof ANSWER_TROUBLES)[number];

/** An answer to a question, with the recall that it is based on. */
export interface Answer extends AnsweredBy {
  /** The answer, for a person. If it is not sure, it says so and quotes what was found; if nothing is known, it says that. */
  readonly text: string;
  /** Ids of the items that the answer is based on. */
  readonly used: readonly string[];
  /** Whether the answer is not sure. `used` then names what the text quotes, and is empty if nothing relevant was found. */
  readonly abstained: boolean;
  /** The recall that the answer is based on. */
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

/** An item that was left out, and its current state. For an erased one, nothing else is reported. */
export type ExplainedDrop =
  | { readonly id: string; readonly type: "memory" | "passage"; readonly now: "erased" }
  | (DroppedItem & { readonly now: Exclude<Fate, "erased"> });

/**
 * Why a recall included and left out what it did. It is derived from the receipt, with the texts as they are
 * now.
 */
export interface RecallExplanation extends Omit<RecallReceipt, "items" | "dropped"> {
  /** The returned items, best first. */
  readonly items: readonly ExplainedItem[];
  /** The nearest items that were left out, with the reason. */
  readonly dropped: readonly ExplainedDrop[];
  /** The result for the item that the caller asked about. */
  readonly about?: WhyNot;
}

/** Why an item was or was not returned. */
export interface WhyNot {
  /** The id that the caller asked about. */
  readonly id: string;
  /** The reason, for programs. */
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
  /** The id of the message that asked, if there is one. */
  readonly message?: string;
  /** The restrictions of the recall. */
  readonly bounds: RecallBounds;
  /** The name of the weight profile, the number of units, and the evidence that the best item needed. */
  readonly profile: string;
  /** The number of memories and passages considered. */
  readonly considered: number;
  /** The evidence that the best item needed, 0 to 1. */
  readonly threshold: number;
  /** How the items were reranked, if there is a reranker. */
  readonly reranking?: Reranking;
  /** The returned items, best first. */
  readonly items: readonly RecalledItem[];
  /** The nearest items that were left out, with the reason; only the top ones. */
  readonly dropped: readonly DroppedItem[];
  /** The number of items that other users shared; absent for none. Nothing else of them is kept. */
  readonly shared?: number;
  /** The memories and passages that the answer is based on; absent if unknown. */
  readonly used?: readonly string[];
}

/** The restrictions of a recall, with defaults filled in. */
export interface RecallBounds {
  /** The maximum number of items. */
  readonly limit: number;
  /** The lowest score, 0 to 1. */
  readonly minScore: number;
  /** Recalled what was true at this time (ISO 8601). */
  readonly asOf?: string;
  /** Recalled what was stored at this time (ISO 8601). */
  readonly knownAt?: string;
  /** Only statements of this session. */
  readonly session?: string;
  /** Only statements to this agent. */
  readonly agent?: string;
  /** Only memories of these kinds. */
  readonly kinds?: readonly string[];
  /** Only items of these types. */
  readonly types?: readonly string[];
  /** Whether a metadata filter applied. The filter itself is not kept. */
  readonly where?: true;
  /** Whether a filter over texts applied. The filter itself is not kept, because it may hold words. */
  readonly whereText?: true;
  /** The weights that were asked for. */
  readonly weights?: RankingWeights;
}

/** An item that a recall returned, without its text. */
export interface RecalledItem extends ScoreParts {
  /** The id of the memory or the passage. */
  readonly id: string;
  /** A memory, or a passage of a message. */
  readonly type: "memory" | "passage";
  /** Its score, 0 to 1. */
  readonly score: number;
  /** The item's status at that time. */
  readonly status: Status;
  /** Retriever -> rank (from 1) and raw score. */
  readonly arms: { readonly [arm: string]: { readonly rank: number; readonly score: number } };
  /** Feature -> contribution to the relevance. */
  readonly parts: { readonly [feature: string]: number };
  /** The reranker's rank and score, if the recall was reranked. */
  readonly reranked?: RerankScore;
}

/** An item that a recall left out. */
export interface DroppedItem {
  /** The id of the memory or the passage. */
  readonly id: string;
  /** A memory, or a passage of a message. */
  readonly type: "memory" | "passage";
  /** Its score, 0 to 1. */
  readonly score: number;
  /** The reason, in fixed words. */
  readonly why: string;
}

/** The number of recall receipts kept for each user: the newest. */
export const MAX_RECALL_RECEIPTS = 1000;

/** The names of the weights, in the order in which they are shown. */
export const WEIGHT_NAMES: readonly (keyof RankingWeights)[] = [
  "similarity",
  "recency",
  "access",
  "confidence",
  "evidence",
  "importance",
];

const LIST = new RegExp(
  `^(?:${WEIGHT_NAMES.join("|")})=\\d{1,6}(?:\\.\\d{1,6})?(?:,(?:${WEIGHT_NAMES.join("|")})=\\d{1,6}(?:\\.\\d{1,6})?)*$`,
);

/** How weights are written in a setting or an option, for messages. */
export const WEIGHT_LIST_EXAMPLE = "similarity=0.4,recency=0.3,access=0.2,confidence=0.1";

/** The weights in a text such as "similarity=0.4,recency=0.6"; undefined if it is none, or names one twice. */
export function parseWeightList(text: string): RankingWeights | undefined {
  if (!LIST.test(text)) return undefined;
  const entries = text.split(",").map((part) => part.split("="));
  const weights = Object.fromEntries(entries.map(([name, value]) => [name, Number(value)]));
  const isUsable =
    Object.keys(weights).length === entries.length && entries.some(([, value]) => Number(value) > 0);
  return isUsable ? weights : undefined;
}
