import type { Documents } from "../../ports/documents.ts";
import type { Calls } from "../../ports/language/model-calls.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import * as answers from "./answer-cache.ts";
import { createPostgresCallLedger } from "./calls.ts";
import { storeChangeSet, storeSealedReceipt } from "./commit.ts";
import { openPostgresDatabase, type PostgresOptions } from "./database/open.ts";
import { listenForErasures } from "./erasure-notifications.ts";
import { checkPostgresStore, fetchStorageCondition } from "./health.ts";
import * as house from "./job-store.ts";
import {
  acquireServerLease,
  fetchStaleUnits,
  fetchUsersWithStaleEmbeddings,
  releaseServerLease,
  renewServerLease,
} from "./job-store.ts";
import * as read from "./read.ts";
import * as proof from "./receipts.ts";
import { fetchRecallReceipts, storeRecallReceipts } from "./receipts.ts";
import { fetchRemainders, rewriteDueTables, rotateWal, scrubTables } from "./scrub.ts";
import { fetchSearchIndex, storeSearchIndex } from "./search-index.ts";
import { createPostgresDocuments } from "./shared-documents.ts";
import { createPostgresStoreDump } from "./transfer/store-dump.ts";

export type { PostgresConnection, PostgresPool, PostgresQuery, Row } from "./database/connection.ts";
export type { PostgresOptions } from "./database/open.ts";
export { postgresStream, type RowStream } from "./fast-path/copy-stream.ts";

/** The record, and the ledger of calls to models that stands in the same database; both close with the record. */
export type PostgresStore = MemoryStore & {
  readonly calls: Calls;
  /** What several servers share beside the record: their keys. */
  readonly documents: Documents;
  /** What the operator should know: what the server's settings take away from what is promised. */
  readonly notices: readonly string[];
};

/**
 * The record in PostgreSQL, through a pool of `pg` that the caller made and that stays the caller's. Every commit is on the
 * server's disk before it returns. Any number of processes may use one database. Errors: see `openDatabase`.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { database, notices, reducedBy } = await openPostgresDatabase(options);
  const stops = new Set<() => void>();
  return {
    name: "postgres",
    calls: createPostgresCallLedger(database),
    documents: createPostgresDocuments(database),
    dump: createPostgresStoreDump(database, options.secret),
    notices,
    revision: (scope) => read.fetchRevision(database, scope),
    commit: (scope, changes) => storeChangeSet(database, scope, changes),
    since: (scope, revision, what) => read.fetchChangesSince(database, scope, revision, what),
    read: (scope, ids) => read.fetchByIds(database, scope, ids),
    vectors: (scope, ids, space) => read.fetchVectors(database, scope, ids, space),
    searchIndex: (scope, parts) => fetchSearchIndex(database, scope, parts),
    saveSearchIndex: (scope, block) => storeSearchIndex(database, scope, block),
    saveRecallReceipts: (kept) => storeRecallReceipts(database, kept),
    recallReceipts: (scope, options) => fetchRecallReceipts(database, scope, options),
    beginAnswer: (scope, begun, limits) => answers.reserveAnswer(database, scope, begun, limits),
    endAnswer: (scope, key, answer, own) => answers.completeAnswer(database, scope, key, { answer, own }),
    releaseAnswer: (scope, key) => answers.releaseAnswer(database, scope, key),
    dropAnswers: (before) => answers.deleteOldAnswers(database, before),
    versions: (scope, id) => read.fetchVersions(database, scope, id),
    log: (scope, options) => read.fetchLog(database, scope, options),
    receipt: (scope, key) => read.fetchReceipt(database, scope, key),
    erasures: (scope) => read.fetchErasureReceipts(database, scope),
    erasureSummaries: () => proof.fetchErasureSummaries(database),
    traces: (scope) => proof.fetchTraces(database, scope),
    countDependents: (scope, memories) => proof.fetchTouchedCounts(database, scope, memories),
    identity: () => proof.fetchIdentity(database),
    backups: () => proof.fetchBackupNotes(database),
    saveBackupNote: (note) => proof.storeBackupNote(database, note),
    users: (project) => read.fetchUserNames(database, project),
    usersWithStaleEmbeddings: (space, limit) => fetchUsersWithStaleEmbeddings(database, space, limit),
    unitsWithStaleEmbeddings: (scope, space, limit) => fetchStaleUnits(database, scope, space, limit),
    usersWithPendingMessages: (before, limit) => house.fetchUsersWithPendingMessages(database, before, limit),
    jobProgress: (job, options) => house.fetchJobProgressPage(database, job, options),
    userProgress: (job, scope) => house.fetchJobProgress(database, job, scope),
    saveProgress: (job, visited) => house.storeJobProgress(database, job, visited),
    failedProgress: (options) => house.fetchFailedProgress(database, options),
    takeLease: (name, options) => acquireServerLease(database, name, options),
    renewLease: (name, token, forMs) => renewServerLease(database, name, token, forMs),
    releaseLease: (name, token, restMs) => releaseServerLease(database, name, token, restMs ?? 0),
    currentMemories: (scope, options) => house.fetchCurrentMemories(database, scope, options),
    findRecalled: (scope, memories) => house.fetchRecalledIds(database, scope, memories),
    jobRuns: () => house.fetchJobNotes(database),
    saveJobRun: (note) => house.storeJobNote(database, note),
    scrub: (scope, texts) => scrubTables(database, scope, texts),
    watchErasures: (erased) => {
      const stop = listenForErasures(database, erased);
      stops.add(stop);
      return () => {
        stops.delete(stop);
        stop();
      };
    },
    remains: () => fetchRemainders(database, options.logKeptMs),
    tidy: async () => (await rewriteDueTables(database)) + (await rotateWal(database)),
    seal: (scope, receipt) => storeSealedReceipt(database, scope, receipt),
    condition: () => fetchStorageCondition(database, reducedBy),
    check: () => checkPostgresStore(database),
    async close() {
      for (const stop of stops) stop();
      stops.clear();
      await database.close();
    },
  };
}

/** Earlier names, kept until version 1.0. */
export { openPostgresStore as openPostgresRecord, type PostgresStore as PostgresRecord };
