import type { Server } from "node:http";
import { Server as Listener } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { HTTPException } from "hono/http-exception";
import { refuse } from "./problem.ts";
import { type AppEnvironment, getNodeBindings, type RequestContext } from "./request-context.ts";

/** How long the server still accepts requests after a stop signal, in ms: some are on their way. */
const GRACE_MS = 200;
/** The event loop accepts one connection per turn. Draining ends after this many turns without one. */
const QUIET_EVENT_LOOP_TURNS = 4;
const LONGEST_WAIT_MS = 300;
const SWEEP_MS = 25;

/** Shares of the time limit after which streams and requests are ended, connections are cut, and the rest is abandoned. */
const END_STREAMS = 0.4;
const END_REQUESTS = 0.65;
const CUT_CONNECTIONS = 0.7;
const LEAVE_REST = 0.8;

/**
 * Stops a server without cutting off requests that were already sent. It serves a little longer, to read requests that
 * wait in the sockets, and closes each connection after its response; then it accepts nothing new. Requests in progress are
 * answered. Those that take too long get an error, streams in their own form. Node's own `close` would cut connections with
 * unread requests. `withinMs` counts from the end of `drainMs`; a part of it is left to the caller.
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
 * Resolves when all waiting connections have been accepted and read. It counts turns of the event loop, not time, because a
 * blocked loop does neither.
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

/** The phases of a server. */
type ServerPhase = "serving" | "leaving" | "closing";

/** Work that can be ended early: streamed responses, and requests without a response yet. */
type BreakableWork = "streams" | "requests";

/**
 * Tracks the work of a server. `leaving`: it still serves, but reports that it is not ready, so that clients stop sending.
 * `closing`: work in progress finishes, and new requests are refused.
 */
export interface Lifecycle {
  /** Whether the last write failed. If so, the server is not ready until a write succeeds. */
  isRefusingWrites: boolean;
  phase(): ServerPhase;
  enterPhase(phase: ServerPhase): void;
  /** Ends all work of this kind. Each listener gets the reason, once. */
  breakOff(kind: BreakableWork, reason: Error): void;
  /** Registers a listener for the end of this kind of work; calls it at once if it has ended. Gives a function to unregister it. */
  onBreakOff(kind: BreakableWork, tell: (reason: Error) => void): () => void;
  /** Tracks work until it ends, and gives its result. */
  track<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Tracks work that continues after the response. The caller must have handled its errors. */
  trackAfterAnswer(work: Promise<unknown>): void;
  /** Waits until all work has ended, or for `withinMs` milliseconds. Gives false if some has not ended. */
  waitUntilIdle(withinMs: number): Promise<boolean>;
}

export function createLifecycle(): Lifecycle {
  let phase: ServerPhase = "serving";
  const broken: { [kind in BreakableWork]?: Error } = {};
  const listeners = {
    streams: new Set<(reason: Error) => void>(),
    requests: new Set<(reason: Error) => void>(),
  };
  const atWork = new Set<Promise<unknown>>();
  const watch = (work: Promise<unknown>): void => {
    const ended: Promise<void> = work
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        atWork.delete(ended);
      });
    atWork.add(ended);
  };
  return {
    isRefusingWrites: false,
    phase: () => phase,
    enterPhase(next) {
      phase = next;
    },
    breakOff(kind, reason) {
      if (broken[kind]) return;
      broken[kind] = reason;
      for (const tell of listeners[kind]) tell(reason);
      listeners[kind].clear();
    },
    onBreakOff(kind, tell) {
      const reason = broken[kind];
      if (reason) tell(reason);
      else listeners[kind].add(tell);
      return () => void listeners[kind].delete(tell);
    },
    track(run) {
      const work = run();
      watch(work);
      return work;
    },
    trackAfterAnswer: watch,
    async waitUntilIdle(withinMs) {
      let isLate = false;
      let timer: NodeJS.Timeout | undefined;
      // This timer also keeps the process alive: a thread that the work waits for does not.
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          isLate = true;
          resolve();
        }, withinMs);
      });
      // Work that ends may have started further work.
      while (atWork.size > 0 && !isLate) await Promise.race([Promise.all(atWork), late]);
      clearTimeout(timer);
      return atWork.size === 0;
    },
  };
}

/** Refuses requests while the server closes. Before that, closes each connection after its response. */
export function rejectWhileClosing(life: Lifecycle): MiddlewareHandler<AppEnvironment> {
  return async (exchange, next) => {
    if (life.phase() === "closing") throw createClosingError();
    await next();
    if (life.phase() !== "serving") exchange.header("connection", "close");
  };
}

export function createClosingError(): HTTPException {
  return refuse({
    status: 503,
    code: "unavailable",
    detail: "This server is shutting down. Try again in a moment.",
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** Creates the error of requests that were not finished at the shutdown. */
function createShutdownError(): HTTPException {
  return refuse({
    status: 503,
    code: "unavailable",
    detail: `${SHUTDOWN_MESSAGE} The request may still be executed: send it again with the same Idempotency-Key.`,
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** The same in short, for streams. */
export const SHUTDOWN_MESSAGE = "The server is shutting down before this response is complete.";

/**
 * Runs the work of a request until the server must stop. The signal fires then, or when the client disconnects, until the
 * response has been sent. Rejects with the reason if there is no response by then.
 */
export async function runUntilShutdown<Result>(
  exchange: RequestContext,
  life: Lifecycle,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const client = exchange.req.raw.signal;
  const { outgoing } = getNodeBindings(exchange);
  const ending = new AbortController();
  const onGone = (): void => ending.abort(client.reason);
  if (client.aborted) onGone();
  client.addEventListener("abort", onGone, { once: true });
  const broken = Promise.withResolvers<never>();
  const forget = life.onBreakOff("requests", (reason) => {
    ending.abort(reason);
    broken.reject(reason);
  });
  try {
    const result = await Promise.race([run(ending.signal), broken.promise]);
    // A stream continues after this. Without a connection, its end is unknown.
    if (outgoing && !outgoing.destroyed)
      outgoing.once(
        "close",
        life.onBreakOff("streams", (reason) => ending.abort(reason)),
      );
    return result;
  } finally {
    forget();
  }
}
