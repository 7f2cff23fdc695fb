import type { CallOutcome, CallPurpose, CallReport, ModelCall } from "../../domain/model-usage.ts";
import type { Scope } from "../../domain/scope.ts";

/**
 * The ledger of calls to models: what each was for, and what it cost. It holds ids, names and numbers; no text of anybody's.
 * `unavailable` where it cannot be read or written now.
 */
export interface Calls {
  /** Adds calls, each once by its id, and turns that were stored. All or nothing, durable before it returns. */
  note(calls: readonly ModelCall[], turns?: readonly StoredTurns[]): Promise<void>;
  /** Sums over the calls that are asked for, one for each purpose and model, and each of `by`, in no order. */
  sums(asked: CallFilter & { readonly by?: "day" | "outcome" }): Promise<CallSum[]>;
  /** How many turns were stored, on the days that are asked for. */
  turns(asked: CallFilter): Promise<number>;
  /** Calls, newest first, at most `limit`. */
  list(asked: CallFilter & { readonly limit: number }): Promise<ModelCall[]>;
  /** Takes the user's name away from everything noted; the sums of the project stay as they are. */
  unname(scope: Pick<Scope, "project" | "user">): Promise<void>;
  /** Removes what is older; gives how many calls. */
  removeBefore(at: string): Promise<number>;
}

/** Messages of one user that were stored on one day (UTC, "2026-11-21"). */
export interface StoredTurns {
  readonly project: string;
  readonly user: string;
  readonly day: string;
  readonly turns: number;
}

export interface CallFilter {
  readonly project?: string;
  readonly user?: string;
  /** From (inclusive) and to (exclusive), ISO 8601. Turns are known by whole days: the day of `from` counts, that of `to` does not, unless it has begun. */
  readonly from?: string;
  readonly to?: string;
}

export interface CallSum {
  readonly purpose: CallPurpose;
  readonly model: string;
  /** UTC; with `by: "day"`. */
  readonly day?: string;
  /** With `by: "outcome"`. */
  readonly outcome?: CallOutcome;
  readonly calls: number;
  /** Of these, those that ended otherwise than `ok`. */
  readonly failed: number;
  /** Texts or turns. */
  readonly units: number;
  readonly tokensIn: number;
  readonly tokensCached: number;
  readonly tokensOut: number;
  /** US dollars; of the calls that have a price. */
  readonly cost: number;
  /** Calls without a price. */
  readonly unpriced: number;
  readonly ms: number;
}

/** Is told of each request to a model's server when it has ended. It never throws, and nobody waits for it. */
export type OnCall = (report: CallReport, whose?: CallOwner) => void;

/** Whose a call is; of a project alone, where no user is named. */
export type CallOwner = Pick<Scope, "project"> & Partial<Pick<Scope, "user">>;

/**
 * Asked before each request to a model's server. `over_quota` where a budget is used up: the request is not made, and is not
 * told of. What it lets through is reserved until `onCall` tells of it: by `size`, where that is known, else by what such calls
 * took before.
 */
export type MayCall = (purpose: CallPurpose, whose?: CallOwner, size?: CallSize) => Promise<void>;

/** How large a request will be at most, as well as it is known before. */
export interface CallSize {
  readonly model: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

/** What an adapter that asks a model's server takes. */
export interface CallHooks {
  readonly onCall?: OnCall;
  readonly mayCall?: MayCall;
  /** Is told when requests to a server stop going out, and when they go out again. */
  readonly onCircuit?: (state: CircuitState, host: string) => void;
  /** Is told how many answers were held in memory, and how many had to be asked for. */
  readonly onCache?: (hits: number, misses: number) => void;
}

/**
 * Whether requests to a server go out: `open` after several failures in a row, for a while; `half_open` while one is out to
 * see whether it answers again.
 */
export type CircuitState = "closed" | "open" | "half_open";
