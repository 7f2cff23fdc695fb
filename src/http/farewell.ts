import type { Server } from "node:http";
import { Server as Listener } from "node:net";
import type { BreakableWork, Lifecycle } from "./lifecycle.ts";
import { createShutdownError } from "./open.ts";

/** So long is listened for what was on its way when it was told to stop. */
const GRACE_MS = 200;
/** A loop takes in one waiting connection a turn: so many turns without one, and no more than so long. */
const QUIET_EVENT_LOOP_TURNS = 4;
const LONGEST_WAIT_MS = 300;
const SWEEP_MS = 25;

/** Of the time that there is: when what is still at work is broken off, when connections are cut, when the rest is left. */
const END_STREAMS = 0.4;
const END_REQUESTS = 0.65;
const CUT_CONNECTIONS = 0.7;
const LEAVE_REST = 0.8;

/**
 * Ends a server so that no request that was sent before is cut off. It goes on serving for a moment, for what lies in the
 * sockets has not been read yet, and each answer ends its connection; then it takes nothing new. What is at work is
 * answered; what is not done in time is told so, streams with an error in their own form. Node's own `close` ends
 * connections whose request it has not read. `withinMs` counts from the end of `drainMs`; a part of it is left to the caller.
 */
export async function gracefulShutdown(
  server: Server,
  life: Lifecycle,
  { drainMs, withinMs }: { readonly drainMs: number; readonly withinMs: number },
): Promise<void> {
  life.enterPhase("leaving");
  const begun = performance.now() + drainMs;
  await sleep(Math.max(Math.min(GRACE_MS, withinMs / 10), drainMs));
  await drainConnections(server);
  const closed = new Promise<void>((resolve) => {
    Listener.prototype.close.call(server, () => resolve());
  });
  life.enterPhase("closing");
  const left = (share: number): number => Math.max(0, begun + withinMs * share - performance.now());
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const end = (kind: BreakableWork): void => life.breakOff(kind, createShutdownError());
  const timers = [
    setTimeout(end, left(END_STREAMS), "streams"),
    setTimeout(end, left(END_REQUESTS), "requests"),
  ];
  const cutting = setTimeout(() => server.closeAllConnections(), left(CUT_CONNECTIONS));
  await closed;
  clearInterval(sweep);
  clearTimeout(cutting);
  await life.waitUntilIdle(left(LEAVE_REST));
  for (const timer of timers) clearTimeout(timer);
  end("streams");
  end("requests");
}

/**
 * Resolves when every connection that waits has been taken in and read. A loop that was held up has done neither, however
 * long that took.
 */
async function drainConnections(server: Server): Promise<void> {
  let quiet = 0;
  const come = (): void => {
    quiet = 0;
  };
  server.on("connection", come);
  const begun = performance.now();
  for (; quiet < QUIET_EVENT_LOOP_TURNS && performance.now() - begun < LONGEST_WAIT_MS; quiet += 1)
    await sleep(1);
  server.off("connection", come);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
