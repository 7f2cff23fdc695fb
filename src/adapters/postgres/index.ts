import type { Calls } from "../../ports/calls.ts";
import type { Documents } from "../../ports/documents.ts";
import type { Record } from "../../ports/record.ts";
import { keepBlock, keptBlock } from "./blocks.ts";
import { postgresCalls } from "./calls.ts";
import { check } from "./check.ts";
import { conditionOf } from "./condition.ts";
import { postgresDocuments } from "./documents.ts";
import { rewriteDue } from "./freed.ts";
import * as house from "./house-keeping.ts";
import * as answers from "./kept-answers.ts";
import { giveBackLease, renewLease, takeLease } from "./leases.ts";
import { turnLog } from "./log.ts";
import { openDatabase, type PostgresOptions } from "./open.ts";
import { unitsOutside, usersOutside } from "./outside.ts";
import * as proof from "./proof.ts";
import * as read from "./read.ts";
import { keepRecalls, recalls } from "./recalls.ts";
import { remains, scrub } from "./scrub.ts";
import { watchErased } from "./watch.ts";
import { postgresWhole } from "./whole/index.ts";
import { commit, seal } from "./write.ts";

export type { PostgresOptions } from "./open.ts";
export type { PostgresConnection, PostgresPool, PostgresQuery, Row } from "./pool.ts";
export { postgresStream, type RowStream } from "./stream.ts";

/** The record, and the ledger of calls to models that stands in the same database; both close with the record. */
export type PostgresRecord = Record & {
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
export async function openPostgresRecord(options: PostgresOptions): Promise<PostgresRecord> {
  const { database, notices, reducedBy } = await openDatabase(options);
  const stops = new Set<() => void>();
  return {
    name: "postgres",
    calls: postgresCalls(database),
    documents: postgresDocuments(database),
    whole: postgresWhole(database, options.secret),
    notices,
    revision: (scope) => read.revision(database, scope),
    commit: (scope, changes) => commit(database, scope, changes),
    since: (scope, revision, what) => read.since(database, scope, revision, what),
    read: (scope, ids) => read.byIds(database, scope, ids),
    vectors: (scope, ids, space) => read.vectors(database, scope, ids, space),
    block: (scope, parts) => keptBlock(database, scope, parts),
    keepBlock: (scope, block) => keepBlock(database, scope, block),
    keepRecalls: (kept) => keepRecalls(database, kept),
    recalls: (scope, options) => recalls(database, scope, options),
    beginAnswer: (scope, begun, limits) => answers.beginAnswer(database, scope, begun, limits),
    endAnswer: (scope, key, answer, own) => answers.endAnswer(database, scope, key, { answer, own }),
    letAnswerGo: (scope, key) => answers.letAnswerGo(database, scope, key),
    dropAnswers: (before) => answers.dropAnswers(database, before),
    versions: (scope, id) => read.versions(database, scope, id),
    log: (scope, options) => read.log(database, scope, options),
    receipt: (scope, key) => read.receipt(database, scope, key),
    erasures: (scope) => read.erasures(database, scope),
    erasureMarks: () => proof.erasureMarks(database),
    traces: (scope) => proof.traces(database, scope),
    touched: (scope, memories) => proof.touched(database, scope, memories),
    identity: () => proof.identity(database),
    backups: () => proof.backups(database),
    noteBackup: (note) => proof.noteBackup(database, note),
    users: (project) => read.users(database, project),
    usersOutside: (space, limit) => usersOutside(database, space, limit),
    unitsOutside: (scope, space, limit) => unitsOutside(database, scope, space, limit),
    usersWaiting: (before, limit) => house.usersWaiting(database, before, limit),
    visits: (job, options) => house.visits(database, job, options),
    visit: (job, scope) => house.visit(database, job, scope),
    noteVisits: (job, visited) => house.noteVisits(database, job, visited),
    failedVisits: (options) => house.failedVisits(database, options),
    takeLease: (name, options) => takeLease(database, name, options),
    renewLease: (name, token, forMs) => renewLease(database, name, token, forMs),
    giveBackLease: (name, token, restMs) => giveBackLease(database, name, token, restMs ?? 0),
    currentMemories: (scope, options) => house.currentMemories(database, scope, options),
    recalled: (scope, memories) => house.recalled(database, scope, memories),
    jobs: () => house.jobs(database),
    noteJob: (note) => house.noteJob(database, note),
    scrub: (scope, texts) => scrub(database, scope, texts),
    watchErased: (erased) => {
      const stop = watchErased(database, erased);
      stops.add(stop);
      return () => {
        stops.delete(stop);
        stop();
      };
    },
    remains: () => remains(database, options.logKeptMs),
    tidy: async () => (await rewriteDue(database)) + (await turnLog(database)),
    seal: (scope, receipt) => seal(database, scope, receipt),
    condition: () => conditionOf(database, reducedBy),
    check: () => check(database),
    async close() {
      for (const stop of stops) stop();
      stops.clear();
      await database.close();
    },
  };
}
