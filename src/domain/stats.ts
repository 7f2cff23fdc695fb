import type { BudgetState } from "./budget.ts";
import type { Kind } from "./memory.ts";
import type { CallOutcome, CallPurpose } from "./model-call.ts";

/** What a number of calls to models came to. */
export interface CallTotals {
  readonly calls: number;
  /** Of these, those that ended otherwise than `ok`. */
  readonly failed: number;
  readonly tokensIn: number;
  /** Of these, from the provider's prompt cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
  /** US dollars, of the calls that have a price. */
  readonly cost: number;
  /** Calls without one: their model is in no price table. */
  readonly unpriced: number;
}

/** A line of a table: what it is of, by what was asked for. */
export interface UsageRow extends CallTotals {
  readonly purpose?: CallPurpose;
  readonly model?: string;
  /** UTC. */
  readonly day?: string;
}

export const USAGE_BY = ["purpose", "model", "day"] as const;
export type UsageBy = (typeof USAGE_BY)[number];

/** What calls to models came to in a time. `chat`, what a proxy passed on, is apart: it is not Keepsake's own. */
export interface Usage extends CallTotals {
  /** ISO 8601; from the beginning, where absent. */
  readonly since?: string;
  readonly until: string;
  /** Messages that were stored meanwhile. */
  readonly turns: number;
  /** US dollars for 1,000 of them; absent where there were none. */
  readonly costPerThousandTurns?: number;
  readonly chat: CallTotals;
  /** The dearest first; with those of the chat. */
  readonly rows: readonly UsageRow[];
  readonly failures: readonly {
    readonly purpose: CallPurpose;
    readonly model: string;
    readonly outcome: CallOutcome;
    readonly calls: number;
  }[];
  /** As they stand now. */
  readonly budgets: readonly BudgetState[];
}

/** A project: how many users it has, and what they cost. */
export interface ProjectStats {
  readonly users: number;
  readonly usage: Usage;
}

/** A user: what is known, and what it cost. */
export interface UserStats {
  readonly total: number;
  readonly current: number;
  readonly superseded: number;
  readonly retracted: number;
  /** Of those that are current. */
  readonly kinds: { readonly [kind in Kind]: number };
  readonly messages: number;
  /** Of these, how many wait to be understood. */
  readonly pending: number;
  readonly revision: number;
  /** When anything changed last, ISO 8601. */
  readonly changedAt?: string;
  readonly usage: Usage;
}
