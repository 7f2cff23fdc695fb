import type { Integrity } from "../../../ports/integrity.ts";
import type { Database } from "../database.ts";
import { userOf } from "../rows.ts";
import { countWithoutDigest, dropDigests, fillDigests } from "./fill-digests.ts";
import { acceptUnits, repairRows } from "./repair-rows.ts";

type Run = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** The digests of a database's rows, over the record's own connection. */
export function sqliteIntegrity(database: Database, run: Run): Integrity {
  return {
    state: ({ counts = false } = {}) =>
      run(() => ({
        secret: database.guard?.key ?? "none",
        withoutDigest: counts ? countWithoutDigest(database) : 0,
        damageSeen: database.guard?.damageSeen ?? 0,
      })),
    fill: () => run(() => fillDigests(database)),
    adoptSecret: () =>
      run(() => {
        if (database.guard?.adopt()) dropDigests(database);
      }),
    repairRows: (file) => run(() => repairRows(database, file, false)),
    repairable: (file) => run(() => repairRows(database, file, true)),
    acceptUnits: (scope) => run(() => acceptUnits(database, userOf(database, scope)?.id ?? -1)),
  };
}
