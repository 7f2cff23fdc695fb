import type { Where } from "./filter.ts";
import type { Claim, Kind, Status } from "./memory.ts";
import type { Role } from "./message.ts";
import type { TokenUsage } from "./model-call.ts";

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
