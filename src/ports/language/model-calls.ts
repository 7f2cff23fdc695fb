import type { CallOutcome, CallPurpose, CallReport, ModelCall } from "../../domain/model-usage.ts";
import type { Scope } from "../../domain/scope.ts";

/**
 * The ledger of model calls: purpose and cost of each. It holds ids, names and numbers, never user text.
 * Throws `unavailable` if it cannot be read or written now.
 */
export interface Calls {
  /** Adds calls, each once by its id, and counts of stored turns. Atomic, and durable before it returns. */
  note(calls: readonly ModelCall[], turns?: readonly StoredTurns[]): Promise<void>;
  /** Sums over the selected calls: one for each purpose, model and `by` value. Unordered. */
  sums(asked: CallFilter & { readonly by?: "day" | "outcome" }): Promise<CallSum[]>;
  /** The number of turns stored on the selected days. */
  turns(asked: CallFilter): Promise<number>;
  /** Calls, newest first, at most `limit`. */
  list(asked: CallFilter & { readonly limit: number }): Promise<ModelCall[]>;
  /** Removes the user's name from all entries. The project's sums do not change. */
  unname(scope: Pick<Scope, "project" | "user">): Promise<void>;
  /** Deletes older calls. Returns the number deleted. */
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
  /**
   * From (inclusive) and to (exclusive), ISO 8601. Turns are counted by whole days: the day of `from` is
   * included. The day of `to` is included only if `to` is after its start.
   */
  readonly from?: string;
  readonly to?: string;
}

export interface CallSum {
  readonly purpose: CallPurpose;
  readonly model: string;
  /** UTC; present with `by: "day"`. */
  readonly day?: string;
  /** Present with `by: "outcome"`. */
  readonly outcome?: CallOutcome;
  readonly calls: number;
  /** Of these, the calls whose outcome is not `ok`. */
  readonly failed: number;
  /** Texts or turns. */
  readonly units: number;
  readonly tokensIn: number;
  readonly tokensCached: number;
  readonly tokensOut: number;
  /** US dollars, of the calls that have a price. */
  readonly cost: number;
  /** Calls without a price. */
  readonly unpriced: number;
  readonly ms: number;
}

/** Called after each request to a model's server. It never throws and is not awaited. */
export type OnCall = (report: CallReport, whose?: CallOwner) => void;

/** The owner of a call. Without a user, it belongs to the project alone. */
export type CallOwner = Pick<Scope, "project"> & Partial<Pick<Scope, "user">>;

/**
 * Called before each request to a model's server. Throws `over_quota` if a budget is used up; the request is
 * then neither made nor reported.
 *
 * An approved request is reserved until `onCall` reports it: by `size` if known, otherwise by what such calls
 * took before.
 */
export type MayCall = (purpose: CallPurpose, whose?: CallOwner, size?: CallSize) => Promise<void>;

/** The estimated maximum size of a request. */
export interface CallSize {
  /** The model, as its server names it. */
  readonly model: string;
  /** Input tokens. */
  readonly tokensIn: number;
  /** Output tokens, at most. */
  readonly tokensOut: number;
}

/** Hooks of an adapter that calls a model's server. */
export interface CallHooks {
  /** Called after each request, with its cost. */
  readonly onCall?: OnCall;
  /** Called before each request. Throws `over_quota` to prevent it. */
  readonly mayCall?: MayCall;
  /** Called when requests to a server stop, and when they resume. */
  readonly onCircuit?: (state: CircuitState, host: string) => void;
  /** Called with the number of cached answers and the number of answers to request. */
  readonly onCache?: (hits: number, misses: number) => void;
}

/**
 * State of the circuit breaker. `open`: no requests for a while, after several failures in a row.
 * `half_open`: one trial request is under way.
 */
export type CircuitState = "closed" | "open" | "half_open";

/** Tells the state of a server's circuit breaker. */
export interface CircuitMonitor {
  /** The state now. Asks no server. */
  state(): CircuitState;
}
