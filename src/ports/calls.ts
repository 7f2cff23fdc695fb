import type { ModelCall, Purpose } from "../domain/model-call.ts";

/** The ledger of calls to models: what each was for, and what it cost. */
export interface Calls {
  /** Adds calls, each once by its id. Durable before it returns. */
  note(calls: readonly ModelCall[]): Promise<void>;
  /** Sums over the calls that are asked for, one for each purpose and model, in no order. */
  sums(asked: CallsAsked): Promise<CallSum[]>;
  /** Calls, newest first, at most `limit`. */
  list(asked: CallsAsked & { readonly limit: number }): Promise<ModelCall[]>;
}

export interface CallsAsked {
  readonly project?: string;
  readonly user?: string;
  /** From (inclusive) and to (exclusive), ISO 8601. */
  readonly from?: string;
  readonly to?: string;
}

export interface CallSum {
  readonly purpose: Purpose;
  readonly model: string;
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
