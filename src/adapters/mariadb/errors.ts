import { type ErrorCode, isMemoryError, MemoryError } from "../../errors.ts";

/** A COMMIT was sent, and its answer never came. */
export class MariadbOutcomeError extends Error {}

/** Error numbers of the server (MariaDB manual, "Error Codes") with a special meaning here. */
const ERROR_NUMBERS: { readonly [number: number]: readonly [ErrorCode, string] } = {
  1020: ["unavailable", "others kept writing at the same time. Try again."],
  1021: ["unavailable", "the server's disk is full. Free some space; nothing of this change was stored."],
  1040: ["unavailable", "the server has no connection left. Use fewer, or raise max_connections."],
  1044: [
    "forbidden",
    "this login may not use this database. See docs/backends/mariadb.md for what it needs.",
  ],
  1045: ["forbidden", "the server rejects this name and password. Check MEMORY_DB_URL."],
  1049: [
    "unavailable",
    "there is no database with this name. Create it first: CREATE DATABASE … CHARACTER SET utf8mb4.",
  ],
  1114: ["unavailable", "a table or the server's disk is full. Nothing of this change was stored."],
  1142: ["forbidden", "this login lacks a privilege. See docs/backends/mariadb.md for what it needs."],
  1146: ["corrupt", "a table is missing. Restore the newest backup."],
  1153: [
    "unavailable",
    "the change is larger than the server accepts. Raise max_allowed_packet; nothing of it was stored.",
  ],
  1203: ["unavailable", "this login has no connection left. Use fewer, or raise max_user_connections."],
  1205: ["unavailable", "another transaction holds the same rows for long. Try again later."],
  1213: ["unavailable", "others kept writing at the same time. Try again."],
  1227: ["forbidden", "this login lacks a privilege. See docs/backends/mariadb.md for what it needs."],
  1264: ["invalid_input", "the change-set contains a value that cannot be stored. Nothing was stored."],
  1290: ["unavailable", "the server is read-only. Use the address of the primary server."],
  1366: ["invalid_input", "the change-set contains a value that cannot be stored. Nothing was stored."],
  1406: ["invalid_input", "the change-set contains a value that cannot be stored. Nothing was stored."],
  1698: ["forbidden", "the server rejects this name and password. Check MEMORY_DB_URL."],
  1836: ["unavailable", "the server is read-only. Use the address of the primary server."],
};

/** The transaction was rolled back at once, so the same work may be tried again: a deadlock or a changed row. */
const ROLLED_BACK: ReadonlySet<number> = new Set([1020, 1213]);
/** Another transaction held a lock for the whole time that a statement may wait. */
const LOCK_WAIT = 1205;
/** The connection or the server ended. */
const LOST: ReadonlySet<number> = new Set([1053, 1077, 1078, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927]);
const LOST_CODES =
  /^(?:PROTOCOL_(?:CONNECTION_LOST|ENQUEUE_AFTER_\w+|SEQUENCE_TIMEOUT|PACKETS_OUT_OF_ORDER)|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|ENETUNREACH)$/;

interface DriverError {
  readonly errno?: unknown;
  readonly code?: unknown;
  readonly fatal?: unknown;
}

/** Whether the transaction was rolled back at once, after little time. */
export function isRolledBack(error: unknown): boolean {
  return ROLLED_BACK.has(Number((error as DriverError | null)?.errno));
}

/** Whether a statement waited for a lock until its time was over. */
export function isLockWait(error: unknown): boolean {
  return Number((error as DriverError | null)?.errno) === LOCK_WAIT;
}

/** Whether the connection is gone, so that another one may work. */
export function isLostConnection(error: unknown): boolean {
  if (error instanceof MariadbOutcomeError) return true;
  if (isMemoryError(error)) return false;
  const { errno, code } = (error ?? {}) as DriverError;
  return LOST.has(Number(errno)) || (typeof code === "string" && LOST_CODES.test(code));
}

/** An error of the store for an error of the driver, without the driver's message, which may quote the statement. */
export function toMariadbMemoryError(error: unknown): unknown {
  if (isMemoryError(error)) return error;
  if (error instanceof MariadbOutcomeError) {
    return new MemoryError(
      "unavailable",
      "MariaDB: the connection was lost while the change was stored, and it is unknown whether it was. Read again.",
      { cause: describeCause(error.cause) },
    );
  }
  const { errno, code, fatal } = (error ?? {}) as DriverError;
  const known = ERROR_NUMBERS[Number(errno)];
  if (known) return new MemoryError(known[0], `MariaDB: ${known[1]}`, { cause: describeCause(error) });
  if (isLostConnection(error) || fatal === true) {
    return new MemoryError(
      "unavailable",
      "MariaDB: the server does not answer. Check that it runs, and its address.",
      {
        cause: describeCause(error),
      },
    );
  }
  if (typeof code !== "string" || !code.startsWith("ER_")) return error;
  return new MemoryError("corrupt", `MariaDB: the server refused a statement (error ${Number(errno)}).`, {
    cause: describeCause(error),
  });
}

/** The numbers of an error. Its message and its `sql` may contain a user's words. */
function describeCause(error: unknown): { readonly code: string; readonly errno: number } {
  const { errno, code } = (error ?? {}) as DriverError;
  return { code: String(code), errno: Number(errno) };
}
