import { Worker } from "node:worker_threads";
import { MemoryError } from "../../errors.ts";
import { createSlicedWebhooks, type WebhookSteps } from "../shared/sliced-webhooks.ts";
import { openWorkerChannel, resolveWorkerScript, type WorkerHandle } from "../shared/worker-channel.ts";
import { createCommit, type ErasureSteps } from "./erasure/erase-in-steps.ts";
import { openSqliteStore, type SqliteOptions, type SqliteStore } from "./index.ts";
import type { WriteOperation, WriteRequest, WriteResponse } from "./writing-worker.ts";

/** Search indexes above this size in bytes are read by the thread, because reading them here would block other requests. */
const LARGE_BYTES = 2_000_000;

/**
 * Opens the memory store in one SQLite file, with a separate thread for writes. It is for servers, where a slow commit or a
 * checkpoint would block all readers. Reads run in the calling thread, over their own connection. If the writing thread ends by
 * itself, writes continue in the calling thread.
 */
export async function openSqliteStoreInThread(
  options: SqliteOptions,
  begin: () => WorkerHandle = () => startWritingThread(options),
): Promise<SqliteStore> {
  // Opened first, because it creates or migrates the file.
  const local = await openSqliteStore(options);
  // No other connection can see an in-memory database.
  if (options.path === ":memory:") return local;
  const channel = openWorkerChannel<WriteRequest, WriteResponse>(begin);
  const inThread = <Own extends (...given: never[]) => Promise<unknown>>(
    write: WriteOperation,
    runHere: Own,
  ): Own => {
    const runThere = async (...args: Parameters<Own>): Promise<unknown> => {
      const outcome = await channel.request({ operation: write, args });
      if (outcome.told) {
        if ("hasLostSync" in outcome.told && outcome.told.hasLostSync) options.onSyncFailure?.();
        return unwrapWriteResponse(outcome.told);
      }
      if (outcome.ended === "before") return runHere(...args);
      throw createUnknownOutcomeError();
    };
    return runThere as Own;
  };
  const { calls } = local;
  const erasing: ErasureSteps = {
    stage: inThread("erasing.stage", local.erasing.stage),
    begin: inThread("erasing.begin", local.erasing.begin),
    step: inThread("erasing.step", local.erasing.step),
  };
  const webhookSteps: WebhookSteps = {
    ...local.webhookSteps,
    store: inThread("webhookSteps.store", local.webhookSteps.store),
    start: inThread("webhookSteps.start", local.webhookSteps.start),
    show: inThread("webhookSteps.show", local.webhookSteps.show),
    hide: inThread("webhookSteps.hide", local.webhookSteps.hide),
    clear: inThread("webhookSteps.clear", local.webhookSteps.clear),
  };
  const readIndexInThread = inThread("shareable.block", local.shareable.block);
  return {
    ...local,
    erasing,
    webhookSteps,
    // The parts of a large erasure are sent one by one, so that other writes can run between them.
    commit: createCommit(erasing, inThread("commit", local.commit)),
    integrity: {
      ...local.integrity,
      addMissingDigests: inThread("integrity.addMissingDigests", local.integrity.addMissingDigests),
    },
    calls: {
      ...calls,
      note: inThread("calls.note", calls.note),
      unname: inThread("calls.unname", calls.unname),
      removeBefore: inThread("calls.removeBefore", calls.removeBefore),
    },
    async close() {
      // Pending requests finish first.
      await channel.request({ operation: "close", args: [] });
      await channel.close();
      await local.close();
    },
    searchIndexes: {
      ...local.searchIndexes,
      read: async (scope) =>
        (await local.shareable.size(scope)) > LARGE_BYTES
          ? readIndexInThread(scope)
          : local.searchIndexes.read(scope),
      save: inThread("searchIndexes.save", local.searchIndexes.save),
    },
    erasures: {
      ...local.erasures,
      seal: inThread("erasures.seal", local.erasures.seal),
      scrub: inThread("erasures.scrub", local.erasures.scrub),
    },
    recallReceipts: {
      ...local.recallReceipts,
      save: inThread("recallReceipts.save", local.recallReceipts.save),
      clear: inThread("recallReceipts.clear", local.recallReceipts.clear),
    },
    usage: {
      ...local.usage,
      add: inThread("usage.add", local.usage.add),
    },
    sharing: {
      ...local.sharing,
      apply: inThread("sharing.apply", local.sharing.apply),
    },
    embedders: {
      ...local.embedders,
      save: inThread("embedders.save", local.embedders.save),
      remove: inThread("embedders.remove", local.embedders.remove),
    },
    webhooks: {
      ...local.webhooks,
      // Other writes can run between the steps.
      ...createSlicedWebhooks(webhookSteps),
      saveHealth: inThread("webhooks.saveHealth", local.webhooks.saveHealth),
      saveCursors: inThread("webhooks.saveCursors", local.webhooks.saveCursors),
    },
    answers: {
      ...local.answers,
      beginAnswer: inThread("answers.beginAnswer", local.answers.beginAnswer),
      endAnswer: inThread("answers.endAnswer", local.answers.endAnswer),
      releaseAnswer: inThread("answers.releaseAnswer", local.answers.releaseAnswer),
      dropAnswers: inThread("answers.dropAnswers", local.answers.dropAnswers),
    },
    backups: {
      ...local.backups,
      save: inThread("backups.save", local.backups.save),
    },
    maintenance: {
      ...local.maintenance,
      tidy: inThread("maintenance.tidy", local.maintenance.tidy),
      compact: inThread("maintenance.compact", local.maintenance.compact),
    },
    jobs: {
      ...local.jobs,
      saveProgress: inThread("jobs.saveProgress", local.jobs.saveProgress),
      saveJobRun: inThread("jobs.saveJobRun", local.jobs.saveJobRun),
      takeLease: inThread("jobs.takeLease", local.jobs.takeLease),
      renewLease: inThread("jobs.renewLease", local.jobs.renewLease),
      releaseLease: inThread("jobs.releaseLease", local.jobs.releaseLease),
    },
  };
}

function startWritingThread({ path, busyTimeoutMs, digestKey, tuning }: SqliteOptions): WorkerHandle {
  const key = typeof digestKey === "function" ? digestKey() : digestKey;
  return new Worker(resolveWorkerScript(import.meta.url, "./writing-worker"), {
    name: "writing",
    workerData: {
      path,
      ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
      ...(key === undefined ? {} : { digestKey: key }),
      ...(tuning === undefined ? {} : { tuning }),
    } satisfies SqliteOptions,
  });
}

function unwrapWriteResponse(response: WriteResponse): unknown {
  if ("gave" in response) return response.gave;
  const options = response.cause === undefined ? {} : { cause: new Error(response.cause) };
  throw response.code === undefined
    ? new Error(response.message, options)
    : new MemoryError(response.code, response.message, options);
}

function createUnknownOutcomeError(): MemoryError {
  return new MemoryError(
    "unavailable",
    "the writing thread ended, and it is unknown whether the change was stored. Try again with the same ids or the same " +
      "idempotency key.",
  );
}
