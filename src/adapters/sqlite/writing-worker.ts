import { workerData } from "node:worker_threads";
import { type ErrorCode, isMemoryError } from "../../errors.ts";
import { serveInThread } from "../shared/worker-channel.ts";
import { openSqliteStore, type SqliteStore } from "./index.ts";

/** What the thread does, by the names that the record has for it: it writes, and reads what is large. */
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

/** What came of it; an error goes from thread to thread without what makes it one of ours. */
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

serveInThread(async ({ operation: write, args: given }: WriteRequest): Promise<WriteResponse> => {
  try {
    // Name and values come from one call of a typed method.
    return { gave: await operations[write](...(given as never[])) };
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
