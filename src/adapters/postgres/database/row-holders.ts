/** How many transactions the removal of rows is put off for. The setting is gone since PostgreSQL 16. */
const DEFERRED_TRANSACTIONS = "coalesce(current_setting('vacuum_defer_cleanup_age', true), '0')::integer";

/** Gives the next transaction, as a mark for `buildRowHolderCount`. Its type is `xid`, which has no epoch. */
export const SELECT_NEXT_TRANSACTION = "SELECT pg_snapshot_xmax(pg_current_snapshot())::xid AS mark";

/**
 * What keeps deleted rows in a table, through VACUUM and through a rewrite: sessions, prepared transactions, replicas that report
 * what they read (`hot_standby_feedback`), and replication slots, also of a replica that is away. A logical slot keeps rows of
 * users only until it is created; afterwards it keeps those of the catalogue. Until PostgreSQL 15, `vacuum_defer_cleanup_age` keeps
 * them for a number of transactions.
 *
 * A transaction with a number keeps rows of all databases, also a prepared one: the snapshot that a rewrite takes itself goes back
 * to it. A snapshot of a session keeps rows of its own database.
 *
 * Gives one statement whose column `found` counts those that began before a transaction. `mark` is SQL of type `xid`: a transaction
 * after the deletion.
 */
export function buildRowHolderCount(mark: string): string {
  return (
    `WITH mark AS (SELECT age(${mark}) AS age) SELECT ` +
    "(SELECT count(*) FROM pg_stat_activity, mark WHERE pid <> pg_backend_pid() " +
    "AND greatest(CASE WHEN datname = current_database() OR datname IS NULL THEN age(backend_xmin) END, age(backend_xid)) " +
    "> mark.age) + (SELECT count(*) FROM pg_prepared_xacts, mark WHERE age(transaction) > mark.age) + " +
    "(SELECT count(*) FROM pg_replication_slots AS slot, mark WHERE greatest(age(slot.xmin), " +
    "CASE WHEN slot_type = 'logical' AND confirmed_flush_lsn IS NULL THEN age(slot.catalog_xmin) END) > mark.age) + " +
    `(SELECT count(*) FROM mark WHERE mark.age < ${DEFERRED_TRANSACTIONS}) AS found`
  );
}

/**
 * One statement that counts in `found` what keeps deleted rows and may never end by itself. These are transactions that were
 * prepared some seconds ago and are not decided, slots of replicas that are away, and `vacuum_defer_cleanup_age`. A quiet server
 * may never have that many transactions.
 */
export function buildLastingHolderCount(preparedForSeconds: number): string {
  return (
    "SELECT (SELECT count(*) FROM pg_prepared_xacts " +
    `WHERE prepared <= now() - interval '${preparedForSeconds} seconds') + ` +
    "(SELECT count(*) FROM pg_replication_slots AS slot WHERE slot.xmin IS NOT NULL AND NOT active) + " +
    `(SELECT count(*) WHERE ${DEFERRED_TRANSACTIONS} > 0) AS found`
  );
}
