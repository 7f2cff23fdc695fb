import { Worker } from "node:worker_threads";
import { MemoryError } from "../../errors.ts";
import { openWorkerChannel, resolveWorkerScript, type WorkerHandle } from "../shared/worker-channel.ts";
import { createCommit, type ErasureSteps } from "./erasure/erase-in-steps.ts";
import { openSqliteStore, type SqliteOptions, type SqliteStore } from "./index.ts";
import type { WriteOperation, WriteRequest, WriteResponse } from "./writing-worker.ts";

/** To read more than so many bytes in one go would hold up everybody here: the thread reads them. */
const LARGE_BYTES = 2_000_000;

/**
 * The record in one SQLite file, written to in a thread of its own: for a server, where a disk that takes a tenth of a second to
 * make a commit durable, or a checkpoint, would hold up everybody who only reads. It reads here, over a connection of its own.
 * Where the thread ends by itself, it goes on here.
 */
export async function openSqliteStoreInThread(
  options: SqliteOptions,
  begin: () => WorkerHandle = () => startWritingThread(options),
): Promise<SqliteStore> {
  // First: it makes the file, or brings it up to date.
  const own = await openSqliteStore(options);
  // No other connection would see it.
  if (options.path === ":memory:") return own;
  const line = openWorkerChannel<WriteRequest, WriteResponse>(begin);
  const apart = <Own extends (...given: never[]) => Promise<unknown>>(
    write: WriteOperation,
    here: Own,
  ): Own => {
    const there = async (...given: Parameters<Own>): Promise<unknown> => {
      const outcome = await line.request({ operation: write, args: given });
      if (outcome.told) {
        if ("hasLostSync" in outcome.told && outcome.told.hasLostSync) options.onSyncFailure?.();
        return unwrapWriteResponse(outcome.told);
      }
      if (outcome.ended === "before") return here(...given);
      throw createUnknownOutcomeError();
    };
    return there as Own;
  };
  const { calls } = own;
  const erasing: ErasureSteps = {
    stage: apart("erasing.stage", own.erasing.stage),
    begin: apart("erasing.begin", own.erasing.begin),
    step: apart("erasing.step", own.erasing.step),
  };
  const blockThere = apart("shareable.block", own.shareable.block);
  return {
    ...own,
    erasing,
    searchIndex: async (scope) =>
      (await own.shareable.size(scope)) > LARGE_BYTES ? blockThere(scope) : own.searchIndex(scope),
    // The parts of a large erasure go over one by one, and others' writes go between them.
    commit: createCommit(erasing, apart("commit", own.commit)),
    seal: apart("seal", own.seal),
    scrub: apart("scrub", own.scrub),
    saveSearchIndex: apart("saveSearchIndex", own.saveSearchIndex),
    saveRecallReceipts: apart("saveRecallReceipts", own.saveRecallReceipts),
    beginAnswer: apart("beginAnswer", own.beginAnswer),
    endAnswer: apart("endAnswer", own.endAnswer),
    releaseAnswer: apart("releaseAnswer", own.releaseAnswer),
    dropAnswers: apart("dropAnswers", own.dropAnswers),
    saveBackupNote: apart("saveBackupNote", own.saveBackupNote),
    tidy: apart("tidy", own.tidy),
    integrity: { ...own.integrity, addMissingDigests: apart("fill", own.integrity.addMissingDigests) },
    saveProgress: apart("saveProgress", own.saveProgress),
    saveJobRun: apart("saveJobRun", own.saveJobRun),
    takeLease: apart("takeLease", own.takeLease),
    renewLease: apart("renewLease", own.renewLease),
    releaseLease: apart("releaseLease", own.releaseLease),
    calls: {
      ...calls,
      note: apart("calls.note", calls.note),
      unname: apart("calls.unname", calls.unname),
      removeBefore: apart("calls.removeBefore", calls.removeBefore),
    },
    async close() {
      // What was asked before comes before it.
      await line.request({ operation: "close", args: [] });
      await line.close();
      await own.close();
    },
  };
}

function startWritingThread({ path, busyTimeoutMs, digestKey }: SqliteOptions): WorkerHandle {
  const key = typeof digestKey === "function" ? digestKey() : digestKey;
  return new Worker(resolveWorkerScript(import.meta.url, "./writing-worker"), {
    name: "writing",
    workerData: {
      path,
      ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
      ...(key === undefined ? {} : { digestKey: key }),
    } satisfies SqliteOptions,
  });
}

function unwrapWriteResponse(told: WriteResponse): unknown {
  if ("gave" in told) return told.gave;
  const options = told.cause === undefined ? {} : { cause: new Error(told.cause) };
  throw told.code === undefined
    ? new Error(told.message, options)
    : new MemoryError(told.code, told.message, options);
}

function createUnknownOutcomeError(): MemoryError {
  return new MemoryError(
    "unavailable",
    "the thread that writes has ended, and whether this was stored is not known. Ask again with the same ids or the same " +
      "idempotency key.",
  );
}
