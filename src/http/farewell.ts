import type { Server } from "node:http";
import { Server as Listener } from "node:net";
import type { Lifecycle } from "./lifecycle.ts";

/** So long is listened for what was on its way when it was told to stop. */
const ON_ITS_WAY_MS = 200;
/** A loop takes in one waiting connection a turn: so many turns without one, and no more than so long. */
const QUIET_TURNS = 4;
const LONGEST_WAIT_MS = 2000;
/** From then on, what comes over a connection that is still open is answered with 503. */
const LATE_MS = 500;
const LONGEST_MS = 10_000;
const SWEEP_MS = 25;

/**
 * Ends a server so that no request that was sent before is cut off. It goes on serving for a moment, for what lies in the
 * sockets has not been read yet, and each answer ends its connection; then it listens no more; connections end when they are
 * answered, and all of them after ten seconds. Node's own `close` ends connections whose request it has not read.
 */
export async function farewell(server: Server, life: Lifecycle, drainMs: number): Promise<void> {
  life.enter("leaving");
  await rest(Math.max(ON_ITS_WAY_MS, drainMs));
  await takenIn(server);
  const closed = new Promise<void>((resolve) => {
    Listener.prototype.close.call(server, () => resolve());
  });
  const late = setTimeout(() => life.enter("closing"), LATE_MS);
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const limit = setTimeout(() => server.closeAllConnections(), LONGEST_MS);
  await closed;
  clearTimeout(late);
  clearInterval(sweep);
  clearTimeout(limit);
  life.enter("closing");
  await life.idle(LONGEST_MS);
}

/**
 * Resolves when every connection that waits has been taken in and read. A loop that was held up has done neither, however
 * long that took.
 */
async function takenIn(server: Server): Promise<void> {
  let quiet = 0;
  const come = (): void => {
    quiet = 0;
  };
  server.on("connection", come);
  const begun = performance.now();
  for (; quiet < QUIET_TURNS && performance.now() - begun < LONGEST_WAIT_MS; quiet += 1) await rest(1);
  server.off("connection", come);
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
