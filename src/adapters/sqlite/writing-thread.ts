import { Worker } from "node:worker_threads";
import { MemoryError } from "../../errors.ts";
import { lineTo, programBeside, type Thread } from "../shared/thread-line.ts";
import { committing, type ErasingSteps } from "./erasing.ts";
import { openSqliteRecord, type SqliteOptions, type SqliteRecord } from "./index.ts";
import type { Asked, Told, Write } from "./writing-worker.ts";

/** To read more than so many bytes in one go would hold up everybody here: the thread reads them. */
const LARGE_BYTES = 2_000_000;

/**
 * The record in one SQLite file, written to in a thread of its own: for a server, where a disk that takes a tenth of a second to
 * make a commit durable, or a checkpoint, would hold up everybody who only reads. It reads here, over a connection of its own.
 * Where the thread ends by itself, it goes on here.
 */
export async function sqliteRecordInThread(
  options: SqliteOptions,
  begin: () => Thread = () => begun(options),
): Promise<SqliteRecord> {
  // First: it makes the file, or brings it up to date.
  const own = await openSqliteRecord(options);
  // No other connection would see it.
  if (options.path === ":memory:") return own;
  const line = lineTo<Asked, Told>(begin);
  const apart = <Own extends (...given: never[]) => Promise<unknown>>(write: Write, here: Own): Own => {
    const there = async (...given: Parameters<Own>): Promise<unknown> => {
      const outcome = await line.ask({ write, given });
      if (outcome.told) {
        if ("hasLostSync" in outcome.told && outcome.told.hasLostSync) options.onSyncFailure?.();
        return gaveBy(outcome.told);
      }
      if (outcome.ended === "before") return here(...given);
      throw unknownOutcome();
    };
    return there as Own;
  };
  const { calls } = own;
  const erasing: ErasingSteps = {
    stage: apart("erasing.stage", own.erasing.stage),
    begin: apart("erasing.begin", own.erasing.begin),
    step: apart("erasing.step", own.erasing.step),
  };
  const blockThere = apart("shareable.block", own.shareable.block);
  return {
    ...own,
    erasing,
    block: async (scope) =>
      (await own.shareable.size(scope)) > LARGE_BYTES ? blockThere(scope) : own.block(scope),
    // The parts of a large erasure go over one by one, and others' writes go between them.
    commit: committing(erasing, apart("commit", own.commit)),
    seal: apart("seal", own.seal),
    scrub: apart("scrub", own.scrub),
    keepBlock: apart("keepBlock", own.keepBlock),
    keepRecalls: apart("keepRecalls", own.keepRecalls),
    beginAnswer: apart("beginAnswer", own.beginAnswer),
    endAnswer: apart("endAnswer", own.endAnswer),
    letAnswerGo: apart("letAnswerGo", own.letAnswerGo),
    dropAnswers: apart("dropAnswers", own.dropAnswers),
    noteBackup: apart("noteBackup", own.noteBackup),
    tidy: apart("tidy", own.tidy),
    integrity: { ...own.integrity, fill: apart("fill", own.integrity.fill) },
    noteVisits: apart("noteVisits", own.noteVisits),
    noteJob: apart("noteJob", own.noteJob),
    takeLease: apart("takeLease", own.takeLease),
    renewLease: apart("renewLease", own.renewLease),
    giveBackLease: apart("giveBackLease", own.giveBackLease),
    calls: {
      ...calls,
      note: apart("calls.note", calls.note),
      unname: apart("calls.unname", calls.unname),
      removeBefore: apart("calls.removeBefore", calls.removeBefore),
    },
    async close() {
      // What was asked before comes before it.
      await line.ask({ write: "close", given: [] });
      await line.end();
      await own.close();
    },
  };
}

function begun({ path, busyTimeoutMs, digestKey }: SqliteOptions): Thread {
  const key = typeof digestKey === "function" ? digestKey() : digestKey;
  return new Worker(programBeside(import.meta.url, "./writing-worker"), {
    name: "writing",
    workerData: {
      path,
      ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
      ...(key === undefined ? {} : { digestKey: key }),
    } satisfies SqliteOptions,
  });
}

function gaveBy(told: Told): unknown {
  if ("gave" in told) return told.gave;
  const options = told.cause === undefined ? {} : { cause: new Error(told.cause) };
  throw told.code === undefined
    ? new Error(told.message, options)
    : new MemoryError(told.code, told.message, options);
}

function unknownOutcome(): MemoryError {
  return new MemoryError(
    "unavailable",
    "the thread that writes has ended, and whether this was stored is not known. Ask again with the same ids or the same " +
      "idempotency key.",
  );
}
