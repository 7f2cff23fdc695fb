import type { Integrity } from "../../../ports/integrity.ts";
import type { SqliteDatabase } from "../database.ts";
import { findUser } from "../rows.ts";
import { countWithoutDigest, dropDigests, fillDigests } from "./fill-digests.ts";
import { acceptUnits, repairRows } from "./repair-rows.ts";

type RunIntegrityWork = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** The digests of a database's rows, over the record's own connection. */
export function createSqliteIntegrity(database: SqliteDatabase, run: RunIntegrityWork): Integrity {
  return {
    state: ({ counts = false } = {}) =>
      run(() => ({
        secret: database.guard?.key ?? "none",
        withoutDigest: counts ? countWithoutDigest(database) : 0,
        damageSeen: database.guard?.damageSeen ?? 0,
      })),
    addMissingDigests: () => run(() => fillDigests(database)),
    adoptSecret: () =>
      run(() => {
        if (database.guard?.adoptKey()) dropDigests(database);
      }),
    repairRows: (file) => run(() => repairRows(database, file, false)),
    countRepairable: (file) => run(() => repairRows(database, file, true)),
    acceptUnits: (scope) => run(() => acceptUnits(database, findUser(database, scope)?.id ?? -1)),
  };
}
