import type { Calls } from "../../ports/language/model-calls.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Documents } from "../../ports/stores/documents.ts";
import { writeMariadbChanges } from "./commit.ts";
import { checkMariadbStore, readMariadbCondition } from "./health.ts";
import { type MariadbOptions, openMariadbDatabase } from "./open.ts";
import { createMariadbReads } from "./read.ts";
import {
  compactMariadbTables,
  listMariadbRemainders,
  rebuildDueTables,
  scrubMariadbTables,
} from "./scrub.ts";
import { createMariadbDump } from "./store-dump.ts";
import { createMariadbAnswers } from "./tables/answer-cache.ts";
import { createMariadbAttachments, createMariadbSearchIndexes } from "./tables/attachments.ts";
import { createMariadbCallLedger } from "./tables/calls.ts";
import { createMariadbEmbedderChoices, createMariadbStaleEmbeddings } from "./tables/embedder-choices.ts";
import { createMariadbJobs } from "./tables/job-store.ts";
import {
  createMariadbBackupNotes,
  createMariadbErasures,
  createMariadbRecallReceipts,
  createMariadbUsage,
} from "./tables/receipts.ts";
import { createMariadbDocuments, createMariadbSharing } from "./tables/sharing.ts";
import { createMariadbWebhooks } from "./tables/webhooks.ts";

export type { MariadbConnection, MariadbPool, MariadbQuery } from "./database.ts";
export type { MariadbOptions } from "./open.ts";

/** The memory store, and the ledger of model calls in the same database. Both close with the store. */
export type MariadbStore = MemoryStore & {
  readonly calls: Calls;
  /** Documents that several servers share, such as their keys. */
  readonly documents: Documents;
  /** Notices for the operator: server settings that weaken the guarantees. */
  readonly notices: readonly string[];
};

/**
 * Opens the memory store in MariaDB, through the caller's pool of `mysql2/promise`, which stays open. Every commit is on the server's
 * disk before it returns. Any number of processes may use one database. Errors: see `openMariadbDatabase`.
 */
export async function openMariadbStore(options: MariadbOptions): Promise<MariadbStore> {
  const { database, notices, reducedBy } = await openMariadbDatabase(options);
  return {
    name: "mariadb",
    notices,
    ...createMariadbReads(database),
    commit: (scope, changes) => writeMariadbChanges(database, scope, changes),
    identity: async () => String((await database.query("SELECT id FROM identity"))[0]?.id ?? ""),
    check: () => checkMariadbStore(database),
    close: database.close,
    calls: createMariadbCallLedger(database),
    documents: createMariadbDocuments(database),
    dump: createMariadbDump(database, options.secret),
    searchIndexes: createMariadbSearchIndexes(database),
    recallReceipts: createMariadbRecallReceipts(database),
    usage: createMariadbUsage(database),
    sharing: createMariadbSharing(database),
    attachments: createMariadbAttachments(database),
    webhooks: createMariadbWebhooks(database),
    embedders: createMariadbEmbedderChoices(database),
    answers: createMariadbAnswers(database),
    erasures: {
      ...createMariadbErasures(database),
      scrub: (scope, texts) => scrubMariadbTables(database, scope, texts),
    },
    backups: createMariadbBackupNotes(database),
    staleEmbeddings: createMariadbStaleEmbeddings(database),
    jobs: createMariadbJobs(database),
    maintenance: {
      remains: () => listMariadbRemainders(database, options.logKeptMs),
      tidy: () => rebuildDueTables(database),
      compact: () => compactMariadbTables(database),
      condition: () => readMariadbCondition(database, reducedBy),
    },
  };
}
