import { Socket } from "node:net";
import type { Calls } from "../../ports/language/model-calls.ts";
import type { CompactedSize, MemoryStore } from "../../ports/memory-store.ts";
import type { Documents } from "../../ports/stores/documents.ts";
import { createSlicedWebhooks } from "../shared/sliced-webhooks.ts";
import { storeChangeSet, storeSealedReceipt } from "./commit.ts";
import { quoteIdentifier } from "./database/connection.ts";
import type { PostgresDatabase } from "./database/database.ts";
import { openPostgresDatabase, type PostgresOptions } from "./database/open.ts";
import { listenForErasures } from "./erasure-notifications.ts";
import { createPinnedConnection } from "./fast-path/pinned-connection.ts";
import { checkPostgresStore, fetchStorageCondition } from "./health.ts";
import * as read from "./read.ts";
import { fetchRowsOfAllProjects } from "./read.ts";
import { fetchRemainders, rewriteDueTables, rotateWal, scrubTables } from "./scrub.ts";
import * as answers from "./tables/answer-cache.ts";
import { fetchAttachment, fetchAttachmentEntries } from "./tables/attachments.ts";
import { createPostgresCallLedger } from "./tables/calls.ts";
import { createPostgresEmbedderChoices, fetchStaleUsersByChoice } from "./tables/embedder-choices.ts";
import * as jobStore from "./tables/job-store.ts";
import {
  acquireServerLease,
  fetchStaleUnits,
  fetchUnitCount,
  fetchUsersWithStaleEmbeddings,
  releaseServerLease,
  renewServerLease,
} from "./tables/job-store.ts";
import * as receipts from "./tables/receipts.ts";
import { fetchRecallReceipts, removeRecallReceipts, storeRecallReceipts } from "./tables/receipts.ts";
import { fetchSearchIndex, storeSearchIndex } from "./tables/search-index.ts";
import { createPostgresDocuments } from "./tables/shared-documents.ts";
import { fetchShares, storeShareChanges } from "./tables/sharing.ts";
import { fetchUses, storeUses } from "./tables/usage.ts";
import * as webhooks from "./tables/webhooks.ts";
import { createPostgresStoreDump } from "./transfer/store-dump.ts";

export type { PostgresConnection, PostgresPool, PostgresQuery, Row } from "./database/connection.ts";
export type { PostgresOptions } from "./database/open.ts";

/** The memory store, and the ledger of model calls in the same database. Both close with the store. */
export type PostgresStore = MemoryStore & {
  readonly calls: Calls;
  /** Documents that several servers share, such as their keys. */
  readonly documents: Documents;
  /** Notices for the operator: server settings that weaken the guarantees. */
  readonly notices: readonly string[];
};

/**
 * Opens the memory store in PostgreSQL, through the caller's `pg` pool, which stays open. Every commit is on the server's disk
 * before it returns. Any number of processes may use one database. Errors: see `openPostgresDatabase`.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { database, notices, reducedBy } = await openPostgresDatabase(
    options,
    options.fastPath === false ? undefined : createPinnedConnection,
  );
  const unsubscribers = new Set<() => void>();
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
    versions: (scope, id) => read.fetchVersions(database, scope, id),
    log: (scope, options) => read.fetchLog(database, scope, options),
    receipt: (scope, key) => read.fetchReceipt(database, scope, key),
    identity: () => receipts.fetchIdentity(database),
    users: (project) => read.fetchUserNames(database, project),
    check: () => checkPostgresStore(database),
    async close() {
      for (const unsubscribe of unsubscribers) unsubscribe();
      unsubscribers.clear();
      await database.close();
    },
    searchIndexes: {
      read: (scope, parts) => fetchSearchIndex(database, scope, parts),
      save: (scope, index) => storeSearchIndex(database, scope, index),
    },
    recallReceipts: {
      save: (kept) => storeRecallReceipts(database, kept),
      list: (scope, options) => fetchRecallReceipts(database, scope, options),
      clear: (scope) => removeRecallReceipts(database, scope),
    },
    usage: {
      add: (added) => storeUses(database, added),
      read: (scope, ids) => fetchUses(database, scope, ids),
    },
    sharing: {
      read: (scope) => fetchShares(database, scope),
      apply: (project, changes) => storeShareChanges(database, project, changes),
    },
    attachments: {
      list: (scope) => fetchAttachmentEntries(database, scope),
      read: (scope, digest) => fetchAttachment(database, scope, digest),
    },
    webhooks: {
      list: (project) => webhooks.fetchWebhooks(database, project),
      ...createSlicedWebhooks(webhooks.createPostgresWebhookSteps(database)),
      saveHealth: (project, id, health) => webhooks.storeWebhookHealth(database, project, id, health),
      readPageSums: (options) => webhooks.fetchPageSums(database, options),
      findChanged: (webhook, range) => webhooks.fetchChangedUsers(database, webhook, range),
      saveCursors: (webhook, cursors) => webhooks.storeWebhookCursors(database, webhook, cursors),
    },
    embedders: createPostgresEmbedderChoices(database),
    answers: {
      beginAnswer: (scope, begun, limits) => answers.reserveAnswer(database, scope, begun, limits),
      endAnswer: (scope, key, answer, own) => answers.completeAnswer(database, scope, key, { answer, own }),
      releaseAnswer: (scope, key) => answers.releaseAnswer(database, scope, key),
      dropAnswers: (before) => answers.deleteOldAnswers(database, before),
    },
    erasures: {
      list: (scope) => read.fetchErasureReceipts(database, scope),
      summaries: () => receipts.fetchErasureSummaries(database),
      traces: (scope) => receipts.fetchTraces(database, scope),
      countDependents: (scope, memories) => receipts.fetchTouchedCounts(database, scope, memories),
      scrub: (scope, texts) => scrubTables(database, scope, texts),
      seal: (scope, receipt) => storeSealedReceipt(database, scope, receipt),
    },
    backups: {
      list: () => receipts.fetchBackupNotes(database),
      save: (note) => receipts.storeBackupNote(database, note),
    },
    staleEmbeddings: {
      users: (space, limit, options) =>
        options
          ? fetchStaleUsersByChoice(database, space, limit, options.chosen)
          : fetchUsersWithStaleEmbeddings(database, space, limit),
      units: (scope, space, limit) => fetchStaleUnits(database, scope, space, limit),
      count: (scope, space) => fetchUnitCount(database, scope, space),
    },
    jobs: {
      usersWithPendingMessages: (before, limit) =>
        jobStore.fetchUsersWithPendingMessages(database, before, limit),
      jobProgress: (job, options) => jobStore.fetchJobProgressPage(database, job, options),
      userProgress: (job, scope) => jobStore.fetchJobProgress(database, job, scope),
      saveProgress: (job, visited) => jobStore.storeJobProgress(database, job, visited),
      failedProgress: (options) => jobStore.fetchFailedProgress(database, options),
      takeLease: (name, options) => acquireServerLease(database, name, options),
      renewLease: (name, token, forMs) => renewServerLease(database, name, token, forMs),
      releaseLease: (name, token, restMs) => releaseServerLease(database, name, token, restMs ?? 0),
      currentMemories: (scope, options) => jobStore.fetchCurrentMemories(database, scope, options),
      findRecalled: (scope, memories) => jobStore.fetchRecalledIds(database, scope, memories),
      jobRuns: () => jobStore.fetchJobNotes(database),
      saveJobRun: (note) => jobStore.storeJobNote(database, note),
    },
    erasureFeed: {
      subscribe: (erased) => {
        const unsubscribe = listenForErasures(database, erased);
        unsubscribers.add(unsubscribe);
        return () => {
          unsubscribers.delete(unsubscribe);
          unsubscribe();
        };
      },
    },
    maintenance: {
      remains: () => fetchRemainders(database, options.logKeptMs),
      tidy: async () => (await rewriteDueTables(database)) + (await rotateWal(database)),
      compact: () => compactTables(database),
      condition: () => fetchStorageCondition(database, reducedBy),
    },
  };
}

/** Takes the rows of a COPY from a socket. Kept until version 1.0: no socket has it. */
export interface RowStream {
  takeRows(take: ((row: Buffer) => void) | undefined): void;
}

/** A plain socket for the option `stream` of a `pg` pool. Kept until version 1.0: leave the option out. */
export function postgresStream(_config?: { readonly ssl?: unknown }): Socket & Partial<RowStream> {
  return new Socket();
}

/** Earlier names, kept until version 1.0. */
export { openPostgresStore as openPostgresRecord, type PostgresStore as PostgresRecord };

const VACUUM_MS = 600_000;

const SELECT_TABLES =
  "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " +
  "WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY c.relname";

const SELECT_SIZE =
  "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c " +
  "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";

/**
 * Frees the space of deleted rows for new ones, and refreshes the planner's statistics. Reads and writes go on. Tables that are
 * due after an erasure are rewritten first. The files shrink only there, or where the server can cut free pages off the end.
 */
async function compactTables(database: PostgresDatabase): Promise<CompactedSize> {
  const { schema } = database.settings;
  const measure = async (): Promise<number> =>
    Number((await fetchRowsOfAllProjects(database, SELECT_SIZE, schema))[0]?.bytes ?? 0);
  const before = await measure();
  await rewriteDueTables(database);
  const tables = await fetchRowsOfAllProjects(database, SELECT_TABLES, schema);
  for (const { name } of tables) {
    const table = `${quoteIdentifier(schema)}.${quoteIdentifier(name ?? "")}`;
    await database.runOutsideTransaction([`VACUUM (ANALYZE) ${table}`], { timeoutMs: VACUUM_MS });
  }
  return { before, after: await measure() };
}
