import type { Scope } from "../../domain/scope.ts";
import type { PostgresConnection, PostgresNotification, PostgresTransaction } from "./database/connection.ts";
import { acquireConnection, quoteIdentifier } from "./database/connection.ts";
import { type PostgresDatabase, withConnection } from "./database/database.ts";

/** Of whom something was erased; absent where it may have been anybody. */
export type RemoteErasureListener = (scope?: Scope) => void;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** A line that was cut without a word shows when something is sent over it. */
const KEEP_ALIVE_MS = 30_000;

const toChannelName = (schema: string): string => `keepsake_${schema}`;

/**
 * Tells the other servers that something of a user was erased, when the transaction is committed, by the user's number alone.
 * Only erasures: a NOTIFY makes commits wait for each other, and what is merely new is found by the revision.
 */
export function notifyErasure(
  { settings, instance }: PostgresDatabase,
  transaction: PostgresTransaction,
  person: number,
): void {
  transaction.queue("SELECT pg_notify($1, $2)", toChannelName(settings.schema), `${instance} ${person}`);
}

/**
 * Hears of erasures by other servers, over a connection of its own for as long as it is wanted. Where that connection broke,
 * anything may have been missed: then it may have been anybody. A pool of one connection has none to spare, and hears nothing.
 */
export function listenForErasures(database: PostgresDatabase, listener: RemoteErasureListener): () => void {
  const { pool, settings } = database;
  if ((pool.options?.max ?? 2) < 2) return () => {};
  let isOver = false;
  const erased: RemoteErasureListener = (scope) => {
    try {
      listener(scope);
    } catch {
      // Nobody waits for it who could be told; it must not end the listening, or the program.
    }
  };
  let stop = (): void => {};
  const heard = ({ payload = "" }: PostgresNotification): void => {
    const [from, person] = payload.split(" ");
    if (from === database.instance || isOver) return;
    const scope = database.scopesByNumber.get(Number(person));
    // Somebody whom this program never met, unless it forgot some.
    if (scope) erased(scope);
    else if (database.scopesByNumber.isPartial) erased();
  };
  const listening = async (connection: PostgresConnection): Promise<void> => {
    connection.on("notification", heard);
    try {
      await connection.query({ text: `LISTEN ${quoteIdentifier(toChannelName(settings.schema))}` });
      await waitUntilBroken(connection, (end) => {
        stop = end;
        if (isOver) end();
      });
      if (isOver) await connection.query({ text: "UNLISTEN *", query_timeout: 1000 });
    } finally {
      connection.removeListener("notification", heard);
    }
  };
  const watching = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !isOver; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      const begun = performance.now();
      try {
        const connection = await acquireConnection(pool, settings.connectMs);
        await withConnection(
          connection,
          () => {},
          () => listening(connection),
        );
      } catch {
        // A server that is gone is said by every call; here it is waited for.
      }
      if (isOver) return;
      erased();
      if (performance.now() - begun > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await waitForPause(pauseMs, (end) => {
        stop = end;
      });
    }
  };
  void watching();
  return () => {
    isOver = true;
    stop();
  };
}

/** Ends without an error when it is stopped, with one where the connection broke. */
function waitUntilBroken(
  connection: PostgresConnection,
  stoppable: (end: () => void) => void,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const asking = setInterval(() => {
      connection.query({ text: "SELECT 1", query_timeout: 5000 }).catch(over);
    }, KEEP_ALIVE_MS);
    asking.unref();
    const over = (error?: unknown): void => {
      clearInterval(asking);
      connection.removeListener("error", over);
      if (error === undefined) resolve();
      else reject(error);
    };
    connection.on("error", over);
    stoppable(() => over());
  });
}

function waitForPause(forMs: number, stoppable: (end: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, forMs);
    timer.unref();
    stoppable(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
