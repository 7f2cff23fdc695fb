import { isMemoryError, MemoryError } from "../../errors.ts";
import { handleConnectionErrors, handlePoolErrors } from "../shared/heard-connections.ts";
import { withTimeout } from "../shared/within.ts";
import type { IndexConnection, IndexPool, IndexRow } from "./pool.ts";

/** Asks on one connection. */
export type RunIndexQuery = (text: string, values?: unknown[]) => Promise<readonly IndexRow[]>;

/** Runs work on a connection, within a deadline. */
export type RunOnIndexConnection = <Value>(
  signal: AbortSignal | undefined,
  work: (ask: RunIndexQuery) => Promise<Value>,
) => Promise<Value>;

const AS_TEXT = { getTypeParser: () => (text: string) => text };

/**
 * Runs pieces of work on connections of a pool, each within so long (ms) altogether. The server ends a statement that takes longer; a
 * connection that gave no answer is closed, and never given back.
 */
export function createIndexRunner(pool: IndexPool, timeoutMs: number): RunOnIndexConnection {
  handlePoolErrors(pool);
  return async (signal, work) => {
    signal?.throwIfAborted();
    const end = performance.now() + timeoutMs;
    const left = (): number => Math.max(1, end - performance.now());
    const connecting = pool.connect();
    let connection: IndexConnection | undefined;
    try {
      connection = await withTimeout(connecting, left(), createTimeoutError, signal);
    } catch (error) {
      // It may come yet: nobody waits for it then, and it goes back.
      connecting.then((one) => one.release()).catch(() => {});
      throw toIndexError(error, signal);
    }
    const held = connection;
    handleConnectionErrors(held);
    const ask: RunIndexQuery = async (text, values = []) =>
      (await held.query({ text, types: AS_TEXT, ...(values.length > 0 ? { values } : {}) })).rows;
    try {
      const value = await withTimeout(work(ask), left(), createTimeoutError, signal);
      held.release();
      return value;
    } catch (error) {
      held.release(!isServerAnswer(error));
      throw toIndexError(error, signal);
    }
  };
}

/** All of it, or nothing. */
export async function inTransaction<Value>(
  ask: RunIndexQuery,
  settings: readonly string[],
  work: () => Promise<Value>,
): Promise<Value> {
  await ask(["BEGIN", ...settings.map((one) => `SET LOCAL ${one}`)].join("; "));
  try {
    const value = await work();
    await ask("COMMIT");
    return value;
  } catch (error) {
    if (isServerAnswer(error)) await ask("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Codes of PostgreSQL (SQLSTATE, Appendix A of its manual) that are no trouble that passes. */
const LASTING_ERRORS: { readonly [code: string]: readonly ["forbidden" | "invalid_input", string] } = {
  "28": ["forbidden", "it does not take this name and password"],
  "42501": ["forbidden", "the role may not do this: it needs a schema where it may make tables"],
  "22": ["invalid_input", "it does not take such a value"],
};

function toIndexError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (isMemoryError(error) || error instanceof TypeError || error instanceof RangeError) return error;
  const code = getIndexErrorCode(error);
  const [known, what] = (code && (LASTING_ERRORS[code] ?? LASTING_ERRORS[code.slice(0, 2)])) || [
    "unavailable",
    "",
  ];
  const said = what === "" ? `it cannot be asked now${code === "" ? "" : ` (${code})`}` : what;
  return new MemoryError(known as "unavailable", `The index in PostgreSQL: ${said}.`);
}

/** Whether the server answered with an error: its connection is good for more. */
function isServerAnswer(error: unknown): boolean {
  return isMemoryError(error) ? error.code !== "unavailable" : /^[0-9A-Z]{5}$/.test(getIndexErrorCode(error));
}

/** The code that the server, or the system, gave. */
export function getIndexErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function createTimeoutError(): MemoryError {
  return new MemoryError("unavailable", "The index in PostgreSQL gave no answer in time.");
}
