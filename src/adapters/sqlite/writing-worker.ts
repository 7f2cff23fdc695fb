import { workerData } from "node:worker_threads";
import { type ErrorCode, isMemoryError } from "../../errors.ts";
import { serveInThread } from "../shared/worker-channel.ts";
import { openSqliteStore, type SqliteStore } from "./index.ts";

/** The operations of the thread, by their names in the store: writes, and large reads. */
export type WriteOperation =
  | keyof Pick<
      SqliteStore,
      | "commit"
      | "seal"
      | "scrub"
      | "saveSearchIndex"
      | "saveRecallReceipts"
      | "beginAnswer"
      | "endAnswer"
      | "releaseAnswer"
      | "dropAnswers"
      | "saveBackupNote"
      | "saveProgress"
      | "saveJobRun"
      | "takeLease"
      | "renewLease"
      | "releaseLease"
      | "tidy"
      | "close"
    >
  | "fill"
  | "shareable.block"
  | "erasing.stage"
  | "erasing.begin"
  | "erasing.step"
  | "calls.note"
  | "calls.unname"
  | "calls.removeBefore";

export interface WriteRequest {
  readonly operation: WriteOperation;
  readonly args: readonly unknown[];
}

/** The result. An error loses its class between threads, so its fields are sent. */
export type WriteResponse =
  | { readonly gave: unknown }
  | {
      readonly code: ErrorCode | undefined;
      readonly message: string;
      readonly cause: string | undefined;
      /** Whether a sync has failed in this thread. */
      readonly hasLostSync: boolean;
    };

let hasLostSync = false;
const store = await openSqliteStore({
  ...workerData,
  onSyncFailure: () => {
    hasLostSync = true;
  },
});
const { stage, begin, step } = store.erasing;
const { note, unname, removeBefore } = store.calls;
const operations: { readonly [name in WriteOperation]: (...given: never[]) => Promise<unknown> } = {
  ...store,
  fill: store.integrity.addMissingDigests,
  "shareable.block": store.shareable.block,
  "erasing.stage": stage,
  "erasing.begin": begin,
  "erasing.step": step,
  "calls.note": note,
  "calls.unname": unname,
  "calls.removeBefore": removeBefore,
};

serveInThread(async ({ operation, args }: WriteRequest): Promise<WriteResponse> => {
  try {
    // Operation and arguments come from one call of a typed method.
    return { gave: await operations[operation](...(args as never[])) };
  } catch (error) {
    const { message, cause } = error as Error;
    return {
      code: isMemoryError(error) ? error.code : undefined,
      message,
      cause: cause instanceof Error ? cause.message : undefined,
      hasLostSync,
    };
  }
});
