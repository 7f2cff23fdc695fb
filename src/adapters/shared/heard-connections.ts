/** The part of a pool of the package `pg` that tells of new connections. */
interface Telling {
  on(event: "connect", listener: (connection: Connection) => void): unknown;
}

interface Connection {
  on(event: "error", listener: (error: Error) => void): unknown;
}

const pools = new WeakSet<Telling>();
const heard = new WeakSet<Connection>();

/**
 * Has somebody listen to each new connection of a pool for as long as it lives. One that is ended in the same piece of bytes
 * that says it is ready has been handed over, and whoever waits for it does not listen yet: what it tells would end the
 * program. They learn of it by their next query.
 */
export function hearConnections(pool: Telling): void {
  if (pools.has(pool)) return;
  pools.add(pool);
  pool.on("connect", hearConnection);
}

/** The same for one connection, which may be older than that. */
export function hearConnection(connection: Connection): void {
  if (heard.has(connection)) return;
  heard.add(connection);
  connection.on("error", () => {});
}
