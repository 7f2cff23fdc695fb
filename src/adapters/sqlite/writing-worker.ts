import { workerData } from "node:worker_threads";
import { type ErrorCode, isMemoryError } from "../../errors.ts";
import { serveInThread } from "../shared/worker-channel.ts";
import { openSqliteStore, type SqliteStore } from "./index.ts";

/** The operations of the thread, by their names in the store: writes, and large reads. */
export type WriteOperation =
  | "commit"
  | "close"
  | "erasures.seal"
  | "erasures.scrub"
  | "searchIndexes.save"
  | "recallReceipts.save"
  | "recallReceipts.clear"
  | "usage.add"
  | "sharing.apply"
  | "embedders.save"
  | "embedders.remove"
  | "webhookSteps.store"
  | "webhookSteps.start"
  | "webhookSteps.show"
  | "webhookSteps.hide"
  | "webhookSteps.clear"
  | "webhooks.saveHealth"
  | "webhooks.saveCursors"
  | "answers.beginAnswer"
  | "answers.endAnswer"
  | "answers.releaseAnswer"
  | "answers.dropAnswers"
  | "backups.save"
  | "jobs.saveProgress"
  | "jobs.saveJobRun"
  | "jobs.takeLease"
  | "jobs.renewLease"
  | "jobs.releaseLease"
  | "maintenance.tidy"
  | "maintenance.compact"
  | "integrity.addMissingDigests"
  | "shareable.block"
  | "erasing.stage"
  | "erasing.begin"
  | "erasing.step"
  | "calls.note"
  | "calls.unname"
  | "calls.removeBefore";

type Operations = { readonly [name in WriteOperation]: (...given: never[]) => Promise<unknown> };

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
const operations = toOperations(store);

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

function toOperations(store: SqliteStore): Operations {
  const {
    erasures,
    searchIndexes,
    recallReceipts,
    usage,
    sharing,
    embedders,
    webhooks,
    answers,
    backups,
    jobs,
    maintenance,
  } = store;
  return {
    commit: store.commit,
    close: store.close,
    "erasures.seal": erasures.seal,
    "erasures.scrub": erasures.scrub,
    "searchIndexes.save": searchIndexes.save,
    "recallReceipts.save": recallReceipts.save,
    "recallReceipts.clear": recallReceipts.clear,
    "usage.add": usage.add,
    "sharing.apply": sharing.apply,
    "embedders.save": embedders.save,
    "embedders.remove": embedders.remove,
    "webhookSteps.store": store.webhookSteps.store,
    "webhookSteps.start": store.webhookSteps.start,
    "webhookSteps.show": store.webhookSteps.show,
    "webhookSteps.hide": store.webhookSteps.hide,
    "webhookSteps.clear": store.webhookSteps.clear,
    "webhooks.saveHealth": webhooks.saveHealth,
    "webhooks.saveCursors": webhooks.saveCursors,
    "answers.beginAnswer": answers.beginAnswer,
    "answers.endAnswer": answers.endAnswer,
    "answers.releaseAnswer": answers.releaseAnswer,
    "answers.dropAnswers": answers.dropAnswers,
    "backups.save": backups.save,
    "jobs.saveProgress": jobs.saveProgress,
    "jobs.saveJobRun": jobs.saveJobRun,
    "jobs.takeLease": jobs.takeLease,
    "jobs.renewLease": jobs.renewLease,
    "jobs.releaseLease": jobs.releaseLease,
    "maintenance.tidy": maintenance.tidy,
    "maintenance.compact": maintenance.compact,
    "integrity.addMissingDigests": store.integrity.addMissingDigests,
    "shareable.block": store.shareable.block,
    "erasing.stage": store.erasing.stage,
    "erasing.begin": store.erasing.begin,
    "erasing.step": store.erasing.step,
    "calls.note": store.calls.note,
    "calls.unname": store.calls.unname,
    "calls.removeBefore": store.calls.removeBefore,
  };
}
