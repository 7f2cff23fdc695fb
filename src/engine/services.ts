import type { ContextOptions, PromptContext } from "../domain/conversation/context.ts";
import type { MemoryUsage } from "../domain/memory.ts";
import type { RecallReceipt } from "../domain/recall.ts";
import type { VerifiedPlace } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import type { CallOptions } from "../ports/call-options.ts";
import type { CallHooks, CircuitState } from "../ports/language/model-calls.ts";
import type { Drift, DriftOptions, IndexProgress } from "./api/index-types.ts";
import type { JobState } from "./api/maintenance-types.ts";
import type { SearchIndex } from "./search-index/search-index.ts";

/** The state of a model server, according to the requests made to it. */
export interface ModelServerState {
  readonly kind: "embedder" | "model" | "reranker";
  readonly circuit: CircuitState;
  /** Whether the last request that needed an answer got no usable one. */
  readonly hasFailed: boolean;
}

/** Collects the state of model servers from regular requests, because each probe would cost money. */
export interface ModelServers {
  states(): readonly ModelServerState[];
  /** Registers a server of this kind. */
  add(kind: ModelServerState["kind"]): void;
  /** Returns hooks that also observe the requests, in addition to the given hooks. */
  observe(kind: ModelServerState["kind"], hooks: CallHooks): CallHooks;
}

/** Asks an index for the nearest units of a user; the store is the source of truth. */
export interface IndexSearch {
  /**
   * Slots of the nearest units, in any order. Undefined if no index can answer now; then the local search
   * continues. Throws only the reason of an aborted signal.
   */
  nearest(
    scope: Scope,
    searchIndex: SearchIndex,
    vector: Float32Array,
    call?: CallOptions,
  ): Promise<readonly number[] | undefined>;
}

/** The vector indexes and their updaters. */
export interface IndexSync extends Pick<IndexSearch, "nearest"> {
  readonly names: readonly string[];
  /** Reports a commit for a user. */
  onCommit(scope: Scope): void;
  /** Drops erased units and asks every index whether they are gone: each within a few seconds. */
  erase(scope: Scope, ids: readonly string[]): Promise<VerifiedPlace[]>;
  jobs(): Promise<JobState[]>;
  /**
   * The lag of each index: users with writes that are not indexed yet, as far as this process knows. Never
   * waits.
   */
  lag(): readonly { readonly name: string; readonly behind: number; readonly isFailing: boolean }[];
  /** Fills an index from scratch in the caller's own time. Throws `not_found` for an unknown name. */
  rebuild(name: string, signal?: AbortSignal): AsyncGenerator<IndexProgress, void, void>;
  /** Compares an index with the store, user by user, and repairs differences. */
  repairInconsistencies(name: string, options?: DriftOptions): Promise<Drift>;
  /** Interrupts what runs and waits for its end; this process's last writes get a moment to arrive. */
  stop(): Promise<void>;
}

/** Settings for when a recall asks an index. */
export interface IndexSearchOptions {
  /** Users with this many units or more are searched in an index (50,000). */
  readonly from?: number;
  /** How long a recall waits for it, in ms (50). */
  readonly timeoutMs?: number;
  /** How long an erasure waits for it, in ms (5,000); after that, it is completed when the index is back. */
  readonly erasureMs?: number;
}

/**
 * Erasures that have not reached every secondary store yet. They are saved in the store, so that none is lost
 * with this process.
 */
export interface PendingErasures {
  /** Retries pending erasures, soon and then at longer intervals, until none is left. */
  scheduleRetry(): void;
  /** Stops the retries and waits for the running one. */
  close(): Promise<void>;
}

/** Builds contexts. Keeps what is the same for every request of a user, until that user's memory changes. */
export interface ContextBuilder {
  /**
   * What a model is told before it answers a request: wishes for answers, a short profile, and everything that bears on
   * the request, within the budget. Leaves a recall with its receipt. Throws `invalid_input` for a wrong request or option.
   */
  build(scope: Scope, request: string, options?: ContextOptions): Promise<PromptContext>;
}

/**
 * Stores the receipts of recalls. They are written a moment later and in batches, so that no recall waits for
 * the disk. A crash in that moment loses only the explanation of those recalls.
 */
export interface RecallReceiptStore {
  keep(scope: Scope, id: string, make: () => RecallReceipt): void;
  /** Adds what becomes known after a recall: what an answer used, and which message asked. */
  note(scope: Scope, id: string, more: Partial<RecallReceipt>): void;
  find(scope: Scope, id: string): Promise<RecallReceipt | undefined>;
  /** The newest answer in a session, or in any session if none is given. */
  lastAnswer(scope: Scope, session: string | undefined): Promise<RecallReceipt | undefined>;
  /** Deletes the user's receipts, also the pending ones. A failure leaves them: they contain ids and numbers only. */
  clear(scope: Scope): Promise<void>;
  /** Writes the pending receipts. */
  flush(): Promise<void>;
}

/** Counts how often recalls return each memory. */
export interface UsageTracker {
  /** Counts one use of each memory. `at` is ISO 8601. Never waits. */
  note(scope: Scope, ids: readonly string[], at: string): void;
  /** The uses of some memories or of all, with those not yet written. Memories that were never used are left out. */
  read(scope: Scope, ids?: readonly string[]): Promise<ReadonlyMap<string, MemoryUsage>>;
  /** Writes what is pending. */
  flush(): Promise<void>;
}
