import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { Calls } from "../../ports/language/model-calls.ts";
import type {
  CompactedSize,
  Integrity,
  MemoryStore,
  StorageMaintenance,
  StoreCopy,
  StoredSearchIndex,
} from "../../ports/memory-store.ts";
import type { AttachmentStore } from "../../ports/stores/attachment-store.ts";
import type { EmbedderChoices } from "../../ports/stores/embedder-choices.ts";
import type { SharingStore } from "../../ports/stores/sharing-store.ts";
import type { MemoryUse, UsageStore, UserUses } from "../../ports/stores/usage-store.ts";
import type { WebhookStore } from "../../ports/stores/webhook-store.ts";
import { createSlicedWebhooks, type WebhookSteps } from "../shared/sliced-webhooks.ts";
import { commitChangeSet, saveSealedReceipt } from "./commit.ts";
import { findUser, type SqliteDatabase } from "./database.ts";
import {
  beginErasure,
  createCommit,
  type ErasureSteps,
  stageErasure,
  stepErasure,
} from "./erasure/erase-in-steps.ts";
import { scrubDatabase } from "./erasure/scrub.ts";
import { isBusy, isFull, retryWhileBusy, translate } from "./errors.ts";
import { copyTo } from "./files/backup.ts";
import { scheduleCopyDeletion } from "./files/update-copies.ts";
import { checkSqliteStore, readStorageCondition } from "./health.ts";
import { createSqliteIntegrity } from "./integrity/repair-rows.ts";
import { fillDigests } from "./integrity/verify-digests.ts";
import { openWithUpdateCopy, type SqliteOpenOptions, type SqliteTuning } from "./open.ts";
import * as read from "./read.ts";
import { readChangesSince } from "./read.ts";
import { createSqliteStoreDump } from "./store-dump.ts";
import * as answers from "./tables/answer-cache.ts";
import { readAttachment, readAttachmentEntries } from "./tables/attachments.ts";
import { createSqliteCallLedger } from "./tables/calls.ts";
import {
  readEmbedderChoice,
  readEmbedderChoices,
  readStaleUsersByChoice,
  removeEmbedderChoice,
  saveEmbedderChoice,
} from "./tables/embedder-choices.ts";
import { readKeysId, writeKeysId } from "./tables/encryption.ts";
import * as jobStore from "./tables/job-store.ts";
import {
  acquireLocalLease,
  countUnits,
  readStaleUnits,
  readUsersWithStaleEmbeddings,
  releaseLocalLease,
  renewLocalLease,
} from "./tables/job-store.ts";
import * as receipts from "./tables/receipts.ts";
import { deleteRecallReceipts, readRecallReceipts, saveRecallReceipts } from "./tables/receipts.ts";
import {
  readSearchIndex,
  readSearchIndexSize,
  readSharedSearchIndex,
  saveSearchIndex,
} from "./tables/search-index.ts";
import { applyShareChanges, readStoredShares } from "./tables/sharing.ts";
import * as webhooks from "./tables/webhooks.ts";

export { translate } from "./errors.ts";
/** Copies a database file that this process need not have open, and verifies the copy. Errors: see `copyTo`. */
export const copyDatabase = (path: string, file: string): Promise<StoreCopy> => copyTo({ path }, file, {});
export { countRows } from "./files/copy-pages.ts";
export { fileLedger } from "./files/ledger.ts";
export { beginRestore, type Restoring } from "./files/restore.ts";
export { digestKeyOf, fileSecret, hasFileSecret, textSecret } from "./files/secret.ts";
export { type UpdateCopy, updateCopies } from "./files/update-copies.ts";
export { isAlteration } from "./integrity/verify-digests.ts";
export type { SqliteTuning } from "./open.ts";

const BUSY_TIMEOUT_MS = 5000;

/** Options of `openSqliteStore`. */
export interface SqliteOptions {
  /** The database file; ":memory:" stores nothing on disk. */
  readonly path: string;
  /** How long to wait for another process's lock, in ms (5,000). */
  readonly busyTimeoutMs?: number;
  /**
   * The key for row digests (32 bytes, hex), or a function that gives it. The function is called once the file is known to be a
   * database of this program. Without a key, rows cannot be checked, and new rows get no digest.
   */
  readonly digestKey?: string | (() => string);
  /** Called for each row that was changed outside of this program, when it is read. */
  readonly onDamage?: () => void;
  /** Called once, when the disk fails to make a change durable; from then on, every write throws `unavailable`. */
  readonly onSyncFailure?: () => void;
  /** Tuning of SQLite. */
  readonly tuning?: SqliteTuning;
}

/** After this time, opening leaves the remaining rows without digests to `tidy`. */
const FILL_DIGESTS_MS = 200;

/** The memory store, and the ledger of model calls in the same file. Both close with the store. */
export type SqliteStore = MemoryStore & {
  readonly calls: Calls;
  readonly erasing: ErasureSteps;
  readonly webhookSteps: WebhookSteps;
  readonly maintenance: StorageMaintenance;
  readonly integrity: Integrity;
  readonly usage: UsageStore;
  readonly sharing: SharingStore;
  readonly attachments: AttachmentStore;
  readonly webhooks: WebhookStore;
  readonly embedders: EmbedderChoices;
  /** The stored search index of a user, for another thread, and its size in bytes. */
  readonly shareable: {
    readonly size: (scope: Scope) => Promise<number>;
    readonly block: (scope: Scope) => Promise<StoredSearchIndex | undefined>;
  };
};

/**
 * Opens the memory store in one SQLite file, through `node:sqlite`; ":memory:" is not persistent. Every commit is on disk before
 * it returns (WAL with `synchronous=FULL`), and erased bytes are overwritten (`secure_delete`). Several processes may use one
 * file. A lock that lasts longer than `busyTimeoutMs` (5,000) throws `unavailable`. A file of an older version is migrated, after a
 * copy was made next to it (`memory.db.before-v` and the number of the new format). Errors: see `openWithUpdateCopy`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const run = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await retryWhileBusy(options.busyTimeoutMs ?? BUSY_TIMEOUT_MS, work);
    } catch (error) {
      throw translate(options.path, error);
    }
  };
  const { digestKey } = options;
  const keyOf = typeof digestKey === "string" ? () => digestKey : digestKey;
  const database = await openDatabaseFile(options.path, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS, {
    digestKey: keyOf,
    onSyncFailure: options.onSyncFailure,
    tuning: options.tuning,
  });
  const copies = scheduleCopyDeletion(database.path);
  if (database.guard && options.onDamage) database.guard.onDamage = options.onDamage;
  try {
    await run(() => fillDigests(database, FILL_DIGESTS_MS));
  } catch {
    // Another process keeps writing, or a row cannot be read: `tidy` tries again, and `doctor` reports it.
  }
  const erasing: ErasureSteps = {
    stage: (scope, receipt, rows) => run(() => stageErasure(database, scope, receipt, rows)),
    begin: (scope, receipt, head) => run(() => beginErasure(database, scope, receipt, head)),
    step: (scope) => run(() => stepErasure(database, scope)),
  };
  const webhookSteps = webhooks.createSqliteWebhookSteps(database, run);
  return {
    name: "sqlite",
    erasing,
    webhookSteps,
    encryptionMark: {
      read: () => run(() => readKeysId(database)),
      write: (keysId) => run(() => writeKeysId(database, keysId)),
    },
    calls: createSqliteCallLedger(database, run),
    dump: createSqliteStoreDump(database, run),
    revision: (scope) => run(() => findUser(database, scope)?.revision ?? 0),
    commit: createCommit(erasing, (scope, changes) => run(() => commitChangeSet(database, scope, changes))),
    since: (scope, revision, what) => run(() => readChangesSince(database, scope, revision, what)),
    read: (scope, ids) => run(() => read.readByIds(database, scope, ids)),
    vectors: (scope, ids, space) => run(() => read.readVectors(database, scope, ids, space)),
    versions: (scope, id) => run(() => read.readVersions(database, scope, id)),
    log: (scope, options) => run(() => read.readLog(database, scope, options)),
    receipt: (scope, key) => run(() => read.readReceipt(database, scope, key)),
    identity: () => run(() => receipts.readIdentity(database)),
    users: (project) => run(() => read.readUserNames(database, project)),
    check: () => run(() => checkSqliteStore(database)),
    integrity: createSqliteIntegrity(database, run),
    shareable: {
      size: (scope) => run(() => readSearchIndexSize(database, scope)),
      block: (scope) => run(() => readSharedSearchIndex(database, scope)),
    },
    close: () => {
      copies.stop();
      return run(() => database.close());
    },
    searchIndexes: {
      read: (scope) => run(() => readSearchIndex(database, scope)),
      save: (scope, index) => run(() => saveSearchIndex(database, scope, index)),
    },
    recallReceipts: {
      save: (kept) => run(() => saveRecallReceipts(database, kept)),
      list: (scope, options) => run(() => readRecallReceipts(database, scope, options)),
      clear: (scope) => run(() => deleteRecallReceipts(database, scope)),
    },
    usage: {
      add: (added) => run(() => addUses(database, added)),
      read: (scope, ids) => run(() => readUses(database, scope, ids)),
    },
    sharing: {
      read: (scope) => run(() => readStoredShares(database, scope)),
      apply: (project, changes) => run(() => applyShareChanges(database, project, changes)),
    },
    attachments: {
      list: (scope) => run(() => readAttachmentEntries(database, scope)),
      read: (scope, digest) => run(() => readAttachment(database, scope, digest)),
    },
    webhooks: {
      list: (project) => run(() => webhooks.readWebhooks(database, project)),
      ...createSlicedWebhooks(webhookSteps),
      saveHealth: (project, id, health) =>
        run(() => webhooks.saveWebhookHealth(database, project, id, health)),
      readPageSums: (options) => run(() => webhooks.readPageSums(database, options)),
      findChanged: (webhook, range) => run(() => webhooks.readChangedUsers(database, webhook, range)),
      saveCursors: (webhook, cursors) => run(() => webhooks.saveWebhookCursors(database, webhook, cursors)),
    },
    embedders: {
      read: (scope) => run(() => readEmbedderChoice(database, scope)),
      list: (project) => run(() => readEmbedderChoices(database, project)),
      save: (choice) => run(() => saveEmbedderChoice(database, choice)),
      remove: (choice) => run(() => removeEmbedderChoice(database, choice)),
    },
    answers: {
      beginAnswer: (scope, begun, limits) =>
        run(() => answers.beginStoredAnswer(database, scope, begun, limits)),
      endAnswer: (scope, key, answer, own) =>
        run(() => answers.endStoredAnswer(database, scope, key, { answer, own })),
      releaseAnswer: (scope, key) => run(() => answers.cancelStoredAnswer(database, scope, key)),
      dropAnswers: (before) => run(() => answers.deleteStoredAnswers(database, before)),
    },
    erasures: {
      list: (scope) => run(() => read.readErasureReceipts(database, scope)),
      summaries: () => run(() => receipts.readErasureSummaries(database)),
      traces: (scope) => run(() => receipts.readTraces(database, scope)),
      countDependents: (scope, memories) => run(() => receipts.readTouchedCounts(database, scope, memories)),
      scrub: (scope, texts, samples) => run(() => scrubDatabase(database, scope, texts, samples)),
      seal: (scope, receipt) => run(() => saveSealedReceipt(database, scope, receipt)),
    },
    fileCopy: {
      copyTo: (file, how) => run(() => copyTo(database, file, how)),
    },
    backups: {
      list: () => run(() => receipts.readBackupNotes(database)),
      save: (note) => run(() => receipts.saveBackupNote(database, note)),
    },
    staleEmbeddings: {
      users: (space, limit, options) =>
        run(() =>
          options
            ? readStaleUsersByChoice(database, space, limit, options.chosen)
            : readUsersWithStaleEmbeddings(database, space, limit),
        ),
      units: (scope, space, limit) => run(() => readStaleUnits(database, scope, space, limit)),
      count: (scope, space) => run(() => countUnits(database, scope, space)),
    },
    jobs: {
      usersWithPendingMessages: (before, limit) =>
        run(() => jobStore.readUsersWithPendingMessages(database, before, limit)),
      jobProgress: (job, options) => run(() => jobStore.readJobProgressPage(database, job, options)),
      userProgress: (job, scope) => run(() => jobStore.readJobProgress(database, job, scope)),
      saveProgress: (job, visited) => run(() => jobStore.saveJobProgress(database, job, visited)),
      failedProgress: (options) => run(() => jobStore.readFailedProgress(database, options)),
      takeLease: (name, options) => run(() => acquireLocalLease(database, name, options)),
      renewLease: (name, token, forMs) => run(() => renewLocalLease(database, name, token, forMs)),
      releaseLease: (name, token, restMs) => run(() => releaseLocalLease(database, name, token, restMs ?? 0)),
      currentMemories: (scope, options) => run(() => jobStore.readCurrentMemories(database, scope, options)),
      findRecalled: (scope, memories) => run(() => jobStore.readRecalledIds(database, scope, memories)),
      jobRuns: () => run(() => jobStore.readJobNotes(database)),
      saveJobRun: (note) => run(() => jobStore.saveJobNote(database, note)),
    },
    maintenance: {
      // Every place is cleared at once.
      remains: async () => [],
      tidy: () => run(() => fillDigests(database)),
      compact: () => run(() => compactDatabase(database)),
      condition: () => run(() => readStorageCondition(database)),
    },
  };
}

async function openDatabaseFile(
  path: string,
  waitMs: number,
  options: SqliteOpenOptions,
): Promise<SqliteDatabase> {
  try {
    return await openWithUpdateCopy(path, waitMs, options);
  } catch (error) {
    throw translate(path, error);
  }
}

/** Earlier names, kept until version 1.0. */
export { openSqliteStore as openSqliteRecord, type SqliteStore as SqliteRecord };

const MAX_ATTEMPTS = 5;
const PAUSE_MS = 200;

/**
 * Rewrites the file, so that it contains its rows and no free space. Other processes may read meanwhile; their writes wait.
 * SQLite needs as much free space as the file takes. If it fails, the file stays as it is.
 */
async function compactDatabase(database: SqliteDatabase): Promise<CompactedSize> {
  const before = measureFiles(database.path);
  for (let attempt = 1; !tryRewrite(database, attempt === MAX_ATTEMPTS); attempt += 1) await pause(PAUSE_MS);
  // Without it, the new file is in the log until the next checkpoint. A reader elsewhere may delay it; that costs space only.
  database.handle.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  return { before, after: measureFiles(database.path) };
}

/** False if another process holds the file and there are attempts left. */
function tryRewrite({ handle, noteFailure }: SqliteDatabase, isLast: boolean): boolean {
  try {
    handle.exec("VACUUM");
    return true;
  } catch (error) {
    if (isBusy(error) && !isLast) return false;
    noteFailure(error);
    if (isBusy(error))
      throw new MemoryError("unavailable", "another process is writing to the database. Try again later.", {
        cause: error,
      });
    if (isFull(error))
      throw new MemoryError(
        "unavailable",
        "the disk has too little free space: rewriting needs as much as the database takes. Nothing was changed.",
        { cause: error },
      );
    throw error;
  }
}

/** The bytes of the database and its log; 0 in memory. */
function measureFiles(path: string): number {
  if (path === ":memory:") return 0;
  return [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Adds uses in one transaction, because each waits for a disk write. Memories that do not exist have none. */
function addUses(database: SqliteDatabase, added: readonly UserUses[]): void {
  database.transaction(() => {
    const add = database.statement(
      "INSERT INTO uses (user, id, count, last_at) SELECT user, id, :count, :lastAt FROM heads WHERE user = :user AND id = :id " +
        "ON CONFLICT (user, id) DO UPDATE SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)",
    );
    for (const { scope, uses } of added) {
      const user = findUser(database, scope)?.id;
      if (user === undefined) continue;
      for (const { id, count, lastAt } of uses) add.run({ user, id, count, lastAt });
    }
  });
}

/** The uses of some memories, or of all of a user. */
function readUses(database: SqliteDatabase, scope: Scope, ids?: readonly string[]): MemoryUse[] {
  const user = findUser(database, scope)?.id ?? -1;
  const rows = ids
    ? database
        .statement(
          "SELECT id, count, last_at FROM uses WHERE user = :user AND id IN (SELECT value FROM json_each(:ids))",
        )
        .all({ user, ids: JSON.stringify(ids) })
    : database.statement("SELECT id, count, last_at FROM uses WHERE user = :user").all({ user });
  return rows.map((row) => ({ id: String(row.id), count: Number(row.count), lastAt: String(row.last_at) }));
}
