/** What a model is asked for. `chat` is the conversation that a proxy passes on; it is not ours, but it is seen and counted. */
export const CALL_PURPOSES = ["understand", "answer", "embed", "chat"] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];

/**
 * How a call ended. `aborted`: whoever asked no longer wanted it. `over_budget` and `not_tried` (the circuit was open)
 * never left this machine.
 */
export const CALL_OUTCOMES = [
  "ok",
  "invalid",
  "refused",
  "cut",
  "rate_limited",
  "timeout",
  "unreachable",
  "rejected",
  "failed",
  "aborted",
  "over_budget",
  "not_tried",
] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** Tokens as the server counted them; estimated, and marked so, where it does not say. */
export interface TokenUsage {
  /** All that was sent, with what came from the provider's cache. */
  readonly tokensIn: number;
  /** Of these, from the provider's prompt cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
  readonly isEstimated?: boolean;
}

/** One request to a model's server, as the adapter that made it tells of it. No text of anybody's is in it. */
export interface CallReport extends TokenUsage {
  readonly purpose: CallPurpose;
  readonly model: string;
  /** The server's host. */
  readonly host: string;
  /** From the request to the last byte, in ms. */
  readonly ms: number;
  readonly outcome: CallOutcome;
  /** How many texts or turns it was for. */
  readonly units: number;
}

/** A call as the ledger keeps it. */
export interface ModelCall extends CallReport {
  readonly id: string;
  readonly project: string;
  /** Absent where it was for several users, or for nobody's. */
  readonly user?: string;
  /** ISO 8601. */
  readonly at: string;
  /** US dollars by the price table of that day; absent where the model is not in it. */
  readonly cost?: number;
}
