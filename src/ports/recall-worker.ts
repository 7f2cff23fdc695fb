import type { Recall, RecallOptions, RecallReceipt } from "../domain/recall.ts";
import type { Scope } from "../domain/scope.ts";
import type { CallOptions } from "./call-options.ts";

/** A recall as it is handed on: all that it hangs on, beside the record. */
export interface RecallRequest {
  readonly scope: Scope;
  /** Checked, as the options are. */
  readonly query: string;
  readonly options: Omit<RecallOptions, "signal">;
  /** Of the query; undefined where there is none. */
  readonly vector: Float32Array | undefined;
  /** The id that it is to have, and when it was asked (ISO 8601). */
  readonly id: string;
  readonly now: string;
}

/** What comes back of it. Its receipt is kept by whoever asked. */
export interface RecallResponse {
  readonly recall: Recall;
  readonly receipt: RecallReceipt;
}

/**
 * Carries out recalls elsewhere than where everybody waits for them, over the same record. What it gives is what the
 * engine would have given here.
 */
export interface RecallWorker {
  /** Nothing where it cannot now, whatever the reason: then it is done here. Rejects with the reason of an aborted signal alone. */
  recall(handed: RecallRequest, options?: Pick<CallOptions, "signal">): Promise<RecallResponse | undefined>;
  /** Takes in what was erased of a user, and leaves no trace of it; or lets go of the user. */
  purgeUser(scope: Scope): Promise<void>;
  close(): Promise<void>;
}
