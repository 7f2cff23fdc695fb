import type { Recall, RecallOptions, RecallReceipt } from "../domain/recall.ts";
import type { Scope } from "../domain/scope.ts";
import type { GrantedContent } from "../domain/sharing.ts";
import type { TextSpan } from "../domain/text/split-text.ts";
import type { CallOptions } from "./call-options.ts";

/** A recall passed to a worker, with everything it needs apart from the memory store. */
export interface RecallRequest {
  readonly scope: Scope;
  /** Checked, like the options. */
  readonly query: string;
  readonly options: Omit<RecallOptions, "signal">;
  /** The query's vector; undefined if there is none. */
  readonly vector: Float32Array | undefined;
  /** Uses of memories by id, if the ranking asks for them. */
  readonly uses?: { readonly [id: string]: number };
  /** Set if units for a context are wanted. */
  readonly demand?: ContextDemand;
  /** Set if the scope is that of another user, who granted only this. */
  readonly granted?: readonly GrantedContent[];
  /** The id of the recall, and the time of the request (ISO 8601). */
  readonly id: string;
  readonly now: string;
}

/** What a context needs beyond the query. */
export interface ContextDemand {
  /** Token budget of the context. */
  readonly maxTokens: number;
  /** The direction of the vectors of memories that such a request needs without naming them. */
  readonly need?: Float32Array | undefined;
}

/** The memories that were read from one message, by their spans in it. */
export interface MessageSpans {
  /** Spans of statements that no longer hold. */
  readonly ended: readonly TextSpan[];
  /** Spans of statements that hold. */
  readonly current: readonly (TextSpan & { readonly id: string })[];
}

/** A worker's result. The caller stores its receipt. */
export interface RecallResponse {
  readonly recall: Recall;
  readonly receipt: RecallReceipt;
  /** For a context: the spans of the messages of all passages, by message id. */
  readonly spans?: { readonly [message: string]: MessageSpans };
}

/**
 * Runs recalls on another thread or process, over the same memory store. The result is the same as the
 * engine's own.
 */
export interface RecallWorker {
  /**
   * Returns undefined if the worker cannot run it now, for any reason; the caller then runs it. Rejects only
   * with the reason of an aborted signal.
   */
  recall(request: RecallRequest, options?: Pick<CallOptions, "signal">): Promise<RecallResponse | undefined>;
  /** Evicts a user, so that no erased content stays in the worker. */
  purgeUser(scope: Scope): Promise<void>;
  close(): Promise<void>;
}
