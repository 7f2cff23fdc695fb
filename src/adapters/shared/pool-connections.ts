/** The part of a `pg` pool that reports new connections. */
interface ConnectionEmitter {
  on(event: "connect", listener: (connection: ErrorEmitter) => void): unknown;
}

interface ErrorEmitter {
  on(event: "error", listener: (error: Error) => void): unknown;
}

const handledPools = new WeakSet<ConnectionEmitter>();
const handledConnections = new WeakSet<ErrorEmitter>();

/**
 * Adds an error listener to each new connection of a pool, for the lifetime of the connection. If a connection
 * ends in the same chunk that reports it ready, its owner does not listen yet. Its error would then end the
 * program. The owner sees the failure with its next query.
 */
export function handlePoolErrors(pool: ConnectionEmitter): void {
  if (handledPools.has(pool)) return;
  handledPools.add(pool);
  pool.on("connect", handleConnectionErrors);
}

/** Adds the error listener to one connection, which may be older than the pool's listener. */
export function handleConnectionErrors(connection: ErrorEmitter): void {
  if (handledConnections.has(connection)) return;
  handledConnections.add(connection);
  connection.on("error", () => {});
}

/**
 * Takes a connection from a pool. Throws `createError()` if none is free within `forMs`, whatever the pool's own settings; one that comes
 * later goes back to the pool.
 */
export function takeConnectionInTime<Connection extends { release(): void }>(
  take: () => Promise<Connection>,
  forMs: number,
  createError: () => Error,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(createError());
    }, forMs);
    take().then(
      (connection) => {
        clearTimeout(timer);
        if (isLate) connection.release();
        else resolve(connection);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
