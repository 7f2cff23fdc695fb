import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, isMemoryError, MemoryError } from "../../../errors.ts";

/** SQLSTATE codes (PostgreSQL manual, appendix A) with a special meaning here; two characters denote a class. */
const CODES: { readonly [code: string]: readonly [ErrorCode, string] } = {
  "08": ["unavailable", "the connection was lost. Try again."],
  // PgBouncer reports a wrong password like this.
  "08P01": [
    "unavailable",
    "the connection was refused or closed. With a pooler, check the name and password in MEMORY_DB_URL.",
  ],
  "22": ["invalid_input", "the change-set contains a value that cannot be stored. Nothing was stored."],
  "23": ["invalid_input", "the change-set contains a value that cannot be stored. Nothing was stored."],
  "25006": ["unavailable", "the server is a read-only replica. Use the address of the primary server."],
  "25P03": [
    "unavailable",
    "a transaction was idle for too long and was aborted. Nothing was stored. Try again.",
  ],
  "28000": [
    "forbidden",
    "the server does not allow this login from this host. Check the name in MEMORY_DB_URL. If the server requires TLS, append " +
      "?sslmode=verify-full.",
  ],
  "28": ["forbidden", "the server rejects this name and password. Check MEMORY_DB_URL."],
  "3D000": ["unavailable", "there is no database with this name. Create it first: CREATE DATABASE."],
  "40001": ["unavailable", "others kept writing at the same time. Try again."],
  "40P01": ["unavailable", "others kept writing at the same time. Try again."],
  "42501": ["forbidden", "the role lacks a privilege. See docs/backends/postgresql.md for what it needs."],
  "42P01": ["corrupt", "a table is missing. Restore the newest backup."],
  "53100": ["unavailable", "the server's disk is full. Free some space; nothing of this change was stored."],
  "53200": ["unavailable", "the server is out of memory. Nothing of this change was stored."],
  "53300": [
    "unavailable",
    "the server accepts no more connections. Lower CONNECTION_POOL_SIZE, or raise max_connections.",
  ],
  "54": ["invalid_input", "a text or a vector is too large for one row. Split it."],
  "55P03": ["unavailable", "another transaction held a lock for too long. Try again."],
  "57014": ["unavailable", "the statement took too long and was cancelled. Nothing was stored."],
  "57P": ["unavailable", "the server is starting or stopping. Try again."],
  XX001: ["corrupt", "a page is damaged. Keep a copy, then restore the newest backup."],
  XX002: ["corrupt", "an index is damaged. Run REINDEX, and check the disk."],
};

/** States of a server that stops, starts or is busy: the same transaction may succeed a moment later. */
const TRANSIENT_STATES: readonly string[] = ["08", "25006", "40001", "40P01", "53300", "55P03", "57P"];
const CONNECTION_LOST_STATES: readonly string[] = ["08", "57P"];

/** Error codes of Node for certificates (its `tls` module, "X509 certificate error codes"). */
const UNTRUSTED_CERTIFICATE = /CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

/** The answer to a COMMIT was lost, so it is unknown whether the transaction was stored. */
export class UnknownOutcomeError extends Error {}

/** Translates an error of PostgreSQL or its connection to an error of this library; gives any other error unchanged. */
export function toPostgresMemoryError(error: unknown): unknown {
  if (isMemoryError(error) || !(error instanceof Error)) return error;
  if (error instanceof UnknownOutcomeError) {
    return createUnavailableError(
      "the connection was lost during a commit and did not come back: it is unknown whether the change was stored. " +
        "Try again with the same ids or the same idempotency key.",
      "08007",
    );
  }
  const code = getSqlState(error);
  if (code !== undefined) {
    const [errorCode, what] = findErrorEntry(code) ?? [
      "unavailable",
      `the server reports code ${code}. See its log.`,
    ];
    return new MemoryError(errorCode, `PostgreSQL: ${what}`, { cause: createBareError(code) });
  }
  if (!isConnectionLost(error)) return error;
  const reason = "code" in error && typeof error.code === "string" ? error.code : "connection lost";
  if (UNTRUSTED_CERTIFICATE.test(reason)) {
    return createUnavailableError(
      `the server's certificate is not trusted (${reason}). Name its authority in MEMORY_DB_URL: ?sslmode=verify-full&sslrootcert=FILE.`,
      reason,
    );
  }
  return createUnavailableError(
    `the server cannot be reached (${reason}). Is it running, and is MEMORY_DB_URL correct?`,
    reason,
  );
}

/** The error for a connection that the pool did not give in time. */
export function createNoConnectionError(): MemoryError {
  return createUnavailableError(
    "no connection was available in time. Check that the server is running; if it is, raise CONNECTION_POOL_SIZE.",
    "08001",
  );
}

/** Whether the same transaction may succeed a moment later. */
export function isTransientFault(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError || isConnectionLost(error)) return true;
  const code = getSqlState(error);
  return code !== undefined && TRANSIENT_STATES.some((start) => code.startsWith(start));
}

/** Whether the connection is unusable, so that the outcome of the current statement is unknown. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error) || isMemoryError(error)) return false;
  const code = getSqlState(error);
  if (code !== undefined)
    return CONNECTION_LOST_STATES.some((start) => code.startsWith(start)) || isFatal(error);
  // Errors of the socket and the client have no SQLSTATE; these kinds are programming errors.
  return !(error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError);
}

function isFatal(error: Error): boolean {
  return "severity" in error && (error.severity === "FATAL" || error.severity === "PANIC");
}

function findErrorEntry(code: string): readonly [ErrorCode, string] | undefined {
  return CODES[code] ?? CODES[code.slice(0, 3)] ?? CODES[code.slice(0, 2)];
}

/** The five-character SQLSTATE of an error that the server reported. */
export function getSqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("severity" in error)) return undefined;
  return typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

function createUnavailableError(what: string, code: string): MemoryError {
  return new MemoryError("unavailable", `PostgreSQL: ${what}`, { cause: createBareError(code) });
}

/** Contains only the code, because messages of the server quote rows. */
function createBareError(code: string): Error {
  return new Error(`PostgreSQL: ${code}`);
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/** How long work is retried, in ms. */
export interface TransientRetryWindow {
  readonly forMs: number;
  /** The limit if the outcome is unknown: to report that is the last resort. */
  readonly unknownForMs: number;
}

/** Runs work, and retries it within the window if a server restart or another transaction interrupts it. */
export async function retryTransientFaults<Result>(
  { forMs, unknownForMs }: TransientRetryWindow,
  work: () => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
    try {
      return await work();
    } catch (error) {
      const patience = error instanceof UnknownOutcomeError ? unknownForMs : forMs;
      if (!isTransientFault(error) || performance.now() - begun + pauseMs > patience) throw error;
      // With jitter, so that two servers do not collide repeatedly.
      await pause(pauseMs * (0.5 + Math.random()));
    }
  }
}
