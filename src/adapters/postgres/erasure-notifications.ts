import type { Scope } from "../../domain/scope.ts";
import type { PostgresConnection, PostgresNotification, PostgresTransaction } from "./database/connection.ts";
import { acquireConnection, quoteIdentifier } from "./database/connection.ts";
import { type PostgresDatabase, withConnection } from "./database/database.ts";

/** Receives the user of an erasure; undefined if it may have been any user. */
type RemoteErasureListener = (scope?: Scope) => void;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** A silently cut connection is only noticed when something is sent over it. */
const KEEP_ALIVE_MS = 30_000;

const toChannelName = (schema: string): string => `keepsake_${schema}`;

/**
 * Notifies the other servers of an erasure when the transaction commits. The message contains only the user's number.
 * Other changes send nothing: NOTIFY serialises commits, and the revision already reveals new data.
 */
export function notifyErasure(
  { settings, instance }: PostgresDatabase,
  transaction: PostgresTransaction,
  person: number,
): void {
  transaction.queue("SELECT pg_notify($1, $2)", toChannelName(settings.schema), `${instance} ${person}`);
}

/**
 * Listens for erasures by other servers, over its own connection, until the returned function is called. If that connection
 * breaks, notifications may be lost, so the listener is called without a user. A pool of one connection cannot listen.
 */
export function listenForErasures(database: PostgresDatabase, listener: RemoteErasureListener): () => void {
  const { pool, settings } = database;
  if ((pool.options?.max ?? 2) < 2) return () => {};
  let isOver = false;
  const notifyListener: RemoteErasureListener = (scope) => {
    try {
      listener(scope);
    } catch {
      // An error of the listener has no recipient, and must end neither the listening nor the program.
    }
  };
  let stop = (): void => {};
  const onNotification = ({ payload = "" }: PostgresNotification): void => {
    const [from, person] = payload.split(" ");
    if (from === database.instance || isOver) return;
    const scope = database.scopesByNumber.get(Number(person));
    // Unknown users were never seen by this program, unless it evicted some.
    if (scope) notifyListener(scope);
    else if (database.scopesByNumber.isPartial) notifyListener();
  };
  const listen = async (connection: PostgresConnection): Promise<void> => {
    connection.on("notification", onNotification);
    try {
      await connection.query({ text: `LISTEN ${quoteIdentifier(toChannelName(settings.schema))}` });
      await waitUntilBroken(connection, (end) => {
        stop = end;
        if (isOver) end();
      });
      if (isOver) await connection.query({ text: "UNLISTEN *", query_timeout: 1000 });
    } finally {
      connection.removeListener("notification", onNotification);
    }
  };
  const keepListening = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !isOver; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      const begun = performance.now();
      try {
        const connection = await acquireConnection(pool, settings.connectMs);
        await withConnection(
          connection,
          () => {},
          () => listen(connection),
        );
      } catch {
        // Every call reports an unreachable server; this one retries.
      }
      if (isOver) return;
      notifyListener();
      if (performance.now() - begun > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await waitForPause(pauseMs, (end) => {
        stop = end;
      });
    }
  };
  void keepListening();
  return () => {
    isOver = true;
    stop();
  };
}

/** Resolves when it is stopped, and rejects when the connection breaks. */
function waitUntilBroken(
  connection: PostgresConnection,
  stoppable: (end: () => void) => void,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const keepAlive = setInterval(() => {
      connection.query({ text: "SELECT 1", query_timeout: 5000 }).catch(finish);
    }, KEEP_ALIVE_MS);
    keepAlive.unref();
    const finish = (error?: unknown): void => {
      clearInterval(keepAlive);
      connection.removeListener("error", finish);
      if (error === undefined) resolve();
      else reject(error);
    };
    connection.on("error", finish);
    stoppable(() => finish());
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
