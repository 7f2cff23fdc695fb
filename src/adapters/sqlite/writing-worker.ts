import { workerData } from "node:worker_threads";
import { type ErrorCode, isMemoryError } from "../../errors.ts";
import { answering } from "../shared/thread-line.ts";
import { openSqliteRecord, type SqliteRecord } from "./index.ts";

/** What the thread does, by the names that the record has for it: it writes, and reads what is large. */
export type Write =
  | keyof Pick<
      SqliteRecord,
      | "commit"
      | "seal"
      | "scrub"
      | "keepBlock"
      | "keepRecalls"
      | "beginAnswer"
      | "endAnswer"
      | "letAnswerGo"
      | "dropAnswers"
      | "noteBackup"
      | "noteVisits"
      | "noteJob"
      | "takeLease"
      | "renewLease"
      | "giveBackLease"
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

export interface Asked {
  readonly write: Write;
  readonly given: readonly unknown[];
}

/** What came of it; an error goes from thread to thread without what makes it one of ours. */
export type Told =
  | { readonly gave: unknown }
  | {
      readonly code: ErrorCode | undefined;
      readonly message: string;
      readonly cause: string | undefined;
      /** Whether a sync has failed in this thread. */
      readonly hasLostSync: boolean;
    };

let hasLostSync = false;
const record = await openSqliteRecord({
  ...workerData,
  onSyncFailure: () => {
    hasLostSync = true;
  },
});
const { stage, begin, step } = record.erasing;
const { note, unname, removeBefore } = record.calls;
const writes: { readonly [name in Write]: (...given: never[]) => Promise<unknown> } = {
  ...record,
  fill: record.integrity.fill,
  "shareable.block": record.shareable.block,
  "erasing.stage": stage,
  "erasing.begin": begin,
  "erasing.step": step,
  "calls.note": note,
  "calls.unname": unname,
  "calls.removeBefore": removeBefore,
};

answering(async ({ write, given }: Asked): Promise<Told> => {
  try {
    // Name and values come from one call of a typed method.
    return { gave: await writes[write](...(given as never[])) };
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
