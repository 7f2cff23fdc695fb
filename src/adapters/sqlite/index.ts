import type { Scope } from "../../domain/scope.ts";
import type { Calls } from "../../ports/calls.ts";
import type { Integrity } from "../../ports/integrity.ts";
import type { KeptBlock, Record } from "../../ports/record.ts";
import { keepBlock, keptBlock, keptBlockToShare, keptSize } from "./blocks.ts";
import { sqliteCalls } from "./calls.ts";
import { checkAll } from "./check.ts";
import { conditionOf } from "./condition.ts";
import { copyTo } from "./copy.ts";
import type { Database } from "./database.ts";
import { beginErasure, committing, type ErasingSteps, stageErasure, stepErasure } from "./erasing.ts";
import { translate } from "./errors.ts";
import * as house from "./house-keeping.ts";
import { fillDigests } from "./integrity/fill-digests.ts";
import { sqliteIntegrity } from "./integrity/index.ts";
import * as answers from "./kept-answers.ts";
import { giveBackLease, renewLease, takeLease } from "./leases.ts";
import { type OpenOptions, openWithCopy } from "./open.ts";
import { unitsOutside, usersOutside } from "./outside.ts";
import { patiently } from "./patience.ts";
import * as proof from "./proof.ts";
import * as read from "./read.ts";
import { keepRecalls, recalls } from "./recalls.ts";
import { userOf } from "./rows.ts";
import { scrub } from "./scrub.ts";
import { since } from "./since.ts";
import { watchCopies } from "./update-copy.ts";
import { sqliteWhole } from "./whole/index.ts";
import { commit, seal } from "./write.ts";

export { translate } from "./errors.ts";
export { fileLedger } from "./ledger.ts";
export { beginRestore, type Restoring } from "./restore.ts";
export { digestKeyOf, fileSecret, hasFileSecret, textSecret } from "./secret.ts";
export { type UpdateCopy, updateCopies } from "./update-copy.ts";

const BUSY_TIMEOUT_MS = 5000;

export interface SqliteOptions {
  readonly path: string;
  readonly busyTimeoutMs?: number;
  /**
   * The key for digests of rows (32 bytes, hex), or what gives it: asked for once the file is known to be a database of ours. Without
   * it rows cannot be checked, and those that are written have none.
   */
  readonly digestKey?: string | (() => string);
  /** Told of each row that was read and is not as it was written. */
  readonly onDamage?: () => void;
  /** Told once, when the disk failed to make a change durable: from then on every write is `unavailable`. */
  readonly onSyncFailure?: () => void;
}

/** After so long, opening leaves the rest of the rows without digests to `tidy`. */
const FILLING_MS = 200;

/** The record, and the ledger of calls to models that stands in the same file; both close with the record. */
export type SqliteRecord = Record & {
  readonly calls: Calls;
  readonly erasing: ErasingSteps;
  readonly tidy: () => Promise<number>;
  readonly integrity: Integrity;
  /** What is kept for a user's search, for another thread; and how large it is, in bytes. */
  readonly shareable: {
    readonly size: (scope: Scope) => Promise<number>;
    readonly block: (scope: Scope) => Promise<KeptBlock | undefined>;
  };
};

/**
 * The record in one SQLite file, through `node:sqlite`; ":memory:" keeps nothing. Every commit is on the disk before
 * it returns (WAL with `synchronous=FULL`), and erased bytes are overwritten (`secure_delete`). Several processes may
 * use one file; a lock that lasts longer than `busyTimeoutMs` (5,000) is `unavailable`. A file of an older version is brought to
 * this one, once a copy of it lies beside it (`memory.db.before-v10`). Errors: see `openDatabase`.
 */
export async function openSqliteRecord(options: SqliteOptions): Promise<SqliteRecord> {
  const run = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await patiently(options.busyTimeoutMs ?? BUSY_TIMEOUT_MS, work);
    } catch (error) {
      throw translate(options.path, error);
    }
  };
  const { digestKey } = options;
  const keyOf = typeof digestKey === "string" ? () => digestKey : digestKey;
  const database = await opened(options.path, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS, {
    digestKey: keyOf,
    onSyncFailure: options.onSyncFailure,
  });
  const copies = watchCopies(database.path);
  if (database.guard && options.onDamage) database.guard.onDamage = options.onDamage;
  try {
    await run(() => fillDigests(database, FILLING_MS));
  } catch {
    // Somebody writes all the time, or a row cannot be read: the background tries again, and `doctor` tells.
  }
  const erasing: ErasingSteps = {
    stage: (scope, receipt, rows) => run(() => stageErasure(database, scope, receipt, rows)),
    begin: (scope, receipt, head) => run(() => beginErasure(database, scope, receipt, head)),
    step: (scope) => run(() => stepErasure(database, scope)),
  };
  return {
    name: "sqlite",
    erasing,
    calls: sqliteCalls(database, run),
    whole: sqliteWhole(database, run),
    revision: (scope) => run(() => userOf(database, scope)?.revision ?? 0),
    commit: committing(erasing, (scope, changes) => run(() => commit(database, scope, changes))),
    since: (scope, revision, what) => run(() => since(database, scope, revision, what)),
    read: (scope, ids) => run(() => read.byIds(database, scope, ids)),
    vectors: (scope, ids, space) => run(() => read.vectors(database, scope, ids, space)),
    block: (scope) => run(() => keptBlock(database, scope)),
    keepBlock: (scope, block) => run(() => keepBlock(database, scope, block)),
    keepRecalls: (kept) => run(() => keepRecalls(database, kept)),
    recalls: (scope, options) => run(() => recalls(database, scope, options)),
    beginAnswer: (scope, begun, limits) => run(() => answers.beginAnswer(database, scope, begun, limits)),
    endAnswer: (scope, key, answer, own) =>
      run(() => answers.endAnswer(database, scope, key, { answer, own })),
    letAnswerGo: (scope, key) => run(() => answers.letAnswerGo(database, scope, key)),
    dropAnswers: (before) => run(() => answers.dropAnswers(database, before)),
    versions: (scope, id) => run(() => read.versions(database, scope, id)),
    log: (scope, options) => run(() => read.log(database, scope, options)),
    receipt: (scope, key) => run(() => read.receipt(database, scope, key)),
    erasures: (scope) => run(() => read.erasures(database, scope)),
    erasureMarks: () => run(() => proof.erasureMarks(database)),
    traces: (scope) => run(() => proof.traces(database, scope)),
    touched: (scope, memories) => run(() => proof.touched(database, scope, memories)),
    identity: () => run(() => proof.identity(database)),
    copyTo: (file, how) => run(() => copyTo(database, file, how)),
    backups: () => run(() => proof.backups(database)),
    noteBackup: (note) => run(() => proof.noteBackup(database, note)),
    users: (project) => run(() => read.users(database, project)),
    usersOutside: (space, limit) => run(() => usersOutside(database, space, limit)),
    unitsOutside: (scope, space, limit) => run(() => unitsOutside(database, scope, space, limit)),
    usersWaiting: (before, limit) => run(() => house.usersWaiting(database, before, limit)),
    visits: (job, options) => run(() => house.visits(database, job, options)),
    visit: (job, scope) => run(() => house.visit(database, job, scope)),
    noteVisits: (job, visited) => run(() => house.noteVisits(database, job, visited)),
    failedVisits: (options) => run(() => house.failedVisits(database, options)),
    takeLease: (name, options) => run(() => takeLease(database, name, options)),
    renewLease: (name, token, forMs) => run(() => renewLease(database, name, token, forMs)),
    giveBackLease: (name, token, restMs) => run(() => giveBackLease(database, name, token, restMs ?? 0)),
    currentMemories: (scope, options) => run(() => house.currentMemories(database, scope, options)),
    recalled: (scope, memories) => run(() => house.recalled(database, scope, memories)),
    jobs: () => run(() => house.jobs(database)),
    noteJob: (note) => run(() => house.noteJob(database, note)),
    scrub: (scope, texts) => run(() => scrub(database, scope, texts)),
    seal: (scope, receipt) => run(() => seal(database, scope, receipt)),
    tidy: () => run(() => fillDigests(database)),
    condition: () => run(() => conditionOf(database)),
    check: () => run(() => checkAll(database)),
    integrity: sqliteIntegrity(database, run),
    shareable: {
      size: (scope) => run(() => keptSize(database, scope)),
      block: (scope) => run(() => keptBlockToShare(database, scope)),
    },
    close: () => {
      copies.stop();
      return run(() => database.close());
    },
  };
}

async function opened(path: string, waitMs: number, options: OpenOptions): Promise<Database> {
  try {
    return await openWithCopy(path, waitMs, options);
  } catch (error) {
    throw translate(path, error);
  }
}
