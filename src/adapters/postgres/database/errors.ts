import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, isMemoryError, MemoryError } from "../../../errors.ts";

/** Codes of PostgreSQL (SQLSTATE, Appendix A of its manual) that have a meaning of their own here; two signs stand for a class. */
const CODES: { readonly [code: string]: readonly [ErrorCode, string] } = {
  "08": ["unavailable", "the connection was lost. Try again."],
  // PgBouncer says no more of a wrong password.
  "08P01": [
    "unavailable",
    "the connection was refused or broken off. Through a pooler: check name and password in MEMORY_DB_URL.",
  ],
  "22": ["invalid_input", "the change-set holds a value that no row may hold. Nothing of it was stored."],
  "23": ["invalid_input", "the change-set holds a value that no row may hold. Nothing of it was stored."],
  "25006": ["unavailable", "it is a copy that can only be read. Name the server that is written to."],
  "25P03": [
    "unavailable",
    "a transaction stood still for too long and was ended. Nothing of it was stored. Try again.",
  ],
  "28000": [
    "forbidden",
    "it does not let this login in from here. Check the name in MEMORY_DB_URL; where the server asks for TLS, end it with " +
      "?sslmode=verify-full.",
  ],
  "28": ["forbidden", "it does not take this name and password. Check MEMORY_DB_URL."],
  "3D000": ["unavailable", "there is no database of this name. Make it first: CREATE DATABASE."],
  "40001": ["unavailable", "others wrote at the same time, again and again. Try again."],
  "40P01": ["unavailable", "others wrote at the same time, again and again. Try again."],
  "42501": ["forbidden", "the role may not do this. Look at docs/backends/postgresql.md for what it needs."],
  "42P01": ["corrupt", "a table is missing. Restore the newest backup."],
  "53100": ["unavailable", "its disk is full. Make room; nothing of this change was stored."],
  "53200": ["unavailable", "it has too little memory. Nothing of this change was stored."],
  "53300": [
    "unavailable",
    "it takes no more connections. Lower CONNECTION_POOL_SIZE, or raise max_connections.",
  ],
  "54": ["invalid_input", "a text or a vector is too large for one row. Split it."],
  "55P03": ["unavailable", "another transaction holds a lock for too long. Try again."],
  "57014": ["unavailable", "it took too long and was ended. Nothing of it was stored."],
  "57P": ["unavailable", "the server is starting or stopping. Try again."],
  XX001: ["corrupt", "a page is damaged. Keep a copy, and restore the newest backup."],
  XX002: ["corrupt", "an index is damaged. Run REINDEX, and look at the disk."],
};

/** A server that is going, coming, or busy: the same transaction may succeed a moment later. */
const TRANSIENT_STATES: readonly string[] = ["08", "25006", "40001", "40P01", "53300", "55P03", "57P"];
const CONNECTION_LOST_STATES: readonly string[] = ["08", "57P"];

/** What Node says of a certificate (its `tls` module, "X509 certificate error codes"). */
const UNTRUSTED_CERTIFICATE = /CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

/** Where an answer was lost between a COMMIT and its acknowledgement: it may have happened, or not. */
export class UnknownOutcomeError extends Error {}

/** Gives a fault of PostgreSQL or its connection as an error of this library; anything else as it is. */
export function toPostgresMemoryError(error: unknown): unknown {
  if (isMemoryError(error) || !(error instanceof Error)) return error;
  if (error instanceof UnknownOutcomeError) {
    return createUnavailableError(
      "the connection was lost while it stored, and it did not come back: whether it was stored is not known. " +
        "Ask again with the same ids or the same idempotency key.",
      "08007",
    );
  }
  const code = getSqlState(error);
  if (code !== undefined) {
    const [known, what] = findErrorEntry(code) ?? [
      "unavailable",
      `it answers with code ${code}. Look at its log.`,
    ];
    return new MemoryError(known, `PostgreSQL: ${what}`, { cause: createBareError(code) });
  }
  if (!isConnectionLost(error)) return error;
  const reason = "code" in error && typeof error.code === "string" ? error.code : "connection lost";
  if (UNTRUSTED_CERTIFICATE.test(reason)) {
    return createUnavailableError(
      `its certificate is not trusted (${reason}). Give the authority's in MEMORY_DB_URL: ?sslmode=verify-full&sslrootcert=FILE.`,
      reason,
    );
  }
  return createUnavailableError(
    `it cannot be reached (${reason}). Is it running, and is MEMORY_DB_URL right?`,
    reason,
  );
}

/** What is thrown where the wait was too long for a connection of the pool. */
export function createNoConnectionError(): MemoryError {
  return createUnavailableError(
    "no connection was free or came about in time. Is it running? Raise CONNECTION_POOL_SIZE where it is.",
    "08001",
  );
}

/** Whether the same transaction may succeed a moment later. */
export function isTransientFault(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError || isConnectionLost(error)) return true;
  const code = getSqlState(error);
  return code !== undefined && TRANSIENT_STATES.some((start) => code.startsWith(start));
}

/** Whether the connection is no good any more, so that what was under way may or may not have happened. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error) || isMemoryError(error)) return false;
  const code = getSqlState(error);
  if (code !== undefined)
    return CONNECTION_LOST_STATES.some((start) => code.startsWith(start)) || isFatal(error);
  // Faults of the socket and of the client have no SQLSTATE; mistakes in a program are of these kinds.
  return !(error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError);
}

function isFatal(error: Error): boolean {
  return "severity" in error && (error.severity === "FATAL" || error.severity === "PANIC");
}

function findErrorEntry(code: string): readonly [ErrorCode, string] | undefined {
  return CODES[code] ?? CODES[code.slice(0, 3)] ?? CODES[code.slice(0, 2)];
}

/** The five signs of a fault that the server told of. */
export function getSqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("severity" in error)) return undefined;
  return typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

function createUnavailableError(what: string, code: string): MemoryError {
  return new MemoryError("unavailable", `PostgreSQL: ${what}`, { cause: createBareError(code) });
}

/** The server's own words quote rows: only the code goes on. */
function createBareError(code: string): Error {
  return new Error(`PostgreSQL: ${code}`);
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/** For how long the same work is tried again, in ms. */
export interface TransientRetryWindow {
  readonly forMs: number;
  /** Where it is not known whether it was stored: to say so is the last resort. */
  readonly unknownForMs: number;
}

/** Runs work that a restart of the server or another transaction may break off, again and again for as long as given. */
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
      // Unevenly, so that two servers do not meet again and again.
      await pause(pauseMs * (0.5 + Math.random()));
    }
  }
}
