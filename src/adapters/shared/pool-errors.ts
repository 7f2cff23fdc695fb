/** The part of a pool of the package `pg` that tells of new connections. */
interface ConnectionEmitter {
  on(event: "connect", listener: (connection: ErrorEmitter) => void): unknown;
}

interface ErrorEmitter {
  on(event: "error", listener: (error: Error) => void): unknown;
}

const handledPools = new WeakSet<ConnectionEmitter>();
const handledConnections = new WeakSet<ErrorEmitter>();

/**
 * Has somebody listen to each new connection of a pool for as long as it lives. One that is ended in the same piece of bytes
 * that says it is ready has been handed over, and whoever waits for it does not listen yet: what it tells would end the
 * program. They learn of it by their next query.
 */
export function handlePoolErrors(pool: ConnectionEmitter): void {
  if (handledPools.has(pool)) return;
  handledPools.add(pool);
  pool.on("connect", handleConnectionErrors);
}

/** The same for one connection, which may be older than that. */
export function handleConnectionErrors(connection: ErrorEmitter): void {
  if (handledConnections.has(connection)) return;
  handledConnections.add(connection);
  connection.on("error", () => {});
}
