import { isMemoryError, MemoryError } from "../../errors.ts";
import { hearConnection, hearConnections } from "../shared/heard-connections.ts";
import { within } from "../shared/within.ts";
import type { IndexConnection, IndexPool, IndexRow } from "./pool.ts";

/** Asks on one connection. */
export type Ask = (text: string, values?: unknown[]) => Promise<readonly IndexRow[]>;

/** Runs work on a connection, within a deadline. */
export type Run = <Value>(
  signal: AbortSignal | undefined,
  work: (ask: Ask) => Promise<Value>,
) => Promise<Value>;

const AS_TEXT = { getTypeParser: () => (text: string) => text };

/**
 * Runs pieces of work on connections of a pool, each within so long (ms) altogether. The server ends a statement that takes longer; a
 * connection that gave no answer is closed, and never given back.
 */
export function runner(pool: IndexPool, timeoutMs: number): Run {
  hearConnections(pool);
  return async (signal, work) => {
    signal?.throwIfAborted();
    const end = performance.now() + timeoutMs;
    const left = (): number => Math.max(1, end - performance.now());
    const connecting = pool.connect();
    let connection: IndexConnection | undefined;
    try {
      connection = await within(connecting, left(), late, signal);
    } catch (error) {
      // It may come yet: nobody waits for it then, and it goes back.
      connecting.then((one) => one.release()).catch(() => {});
      throw translated(error, signal);
    }
    const held = connection;
    hearConnection(held);
    const ask: Ask = async (text, values = []) =>
      (await held.query({ text, types: AS_TEXT, ...(values.length > 0 ? { values } : {}) })).rows;
    try {
      const value = await within(work(ask), left(), late, signal);
      held.release();
      return value;
    } catch (error) {
      held.release(!isAnswer(error));
      throw translated(error, signal);
    }
  };
}

/** All of it, or nothing. */
export async function inTransaction<Value>(
  ask: Ask,
  settings: readonly string[],
  work: () => Promise<Value>,
): Promise<Value> {
  await ask(["BEGIN", ...settings.map((one) => `SET LOCAL ${one}`)].join("; "));
  try {
    const value = await work();
    await ask("COMMIT");
    return value;
  } catch (error) {
    if (isAnswer(error)) await ask("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Codes of PostgreSQL (SQLSTATE, Appendix A of its manual) that are no trouble that passes. */
const STAYS: { readonly [code: string]: readonly ["forbidden" | "invalid_input", string] } = {
  "28": ["forbidden", "it does not take this name and password"],
  "42501": ["forbidden", "the role may not do this: it needs a schema where it may make tables"],
  "22": ["invalid_input", "it does not take such a value"],
};

function translated(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (isMemoryError(error) || error instanceof TypeError || error instanceof RangeError) return error;
  const code = codeOf(error);
  const [known, what] = (code && (STAYS[code] ?? STAYS[code.slice(0, 2)])) || ["unavailable", ""];
  const said = what === "" ? `it cannot be asked now${code === "" ? "" : ` (${code})`}` : what;
  return new MemoryError(known as "unavailable", `The index in PostgreSQL: ${said}.`);
}

/** Whether the server answered with an error: its connection is good for more. */
function isAnswer(error: unknown): boolean {
  return isMemoryError(error) ? error.code !== "unavailable" : /^[0-9A-Z]{5}$/.test(codeOf(error));
}

/** The code that the server, or the system, gave. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function late(): MemoryError {
  return new MemoryError("unavailable", "The index in PostgreSQL gave no answer in time.");
}
