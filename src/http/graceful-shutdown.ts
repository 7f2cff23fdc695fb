import type { Server } from "node:http";
import { Server as Listener } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { HTTPException } from "hono/http-exception";
import { refuse } from "./problem.ts";
import { type AppEnvironment, getNodeBindings, type RequestContext } from "./request-context.ts";

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

/** Where the server stands between its start and its end. */
type ServerPhase = "serving" | "leaving" | "closing";

/** What can be broken off: answers that are sent in parts, and requests whose answer has not begun. */
type BreakableWork = "streams" | "requests";

/**
 * What is at work in the server. `leaving`: it still serves, and says that it is not ready, so that whoever sends it
 * requests stops. `closing`: what is at work finishes, and nothing new is taken.
 */
export interface Lifecycle {
  /** Whether the newest write could not be stored. Then nobody should send requests here until one can be. */
  isRefusingWrites: boolean;
  phase(): ServerPhase;
  enterPhase(phase: ServerPhase): void;
  /** Ends what is still at work of this kind: each is told the reason, once. */
  breakOff(kind: BreakableWork, reason: Error): void;
  /** Calls back when work of this kind has to end; at once, where it has to by now. What it gives takes that back. */
  onBreakOff(kind: BreakableWork, tell: (reason: Error) => void): () => void;
  /** Counts work until it ends, and gives what it gives. */
  track<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Work that goes on after its answer: the end waits for it. Its errors are the caller's to handle before. */
  trackAfterAnswer(work: Promise<unknown>): void;
  /** Resolves when nothing is at work any more, or after so many ms. False where something still was. */
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
      // It holds up the end of the process, too: what is at work may wait for a thread, which does not.
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          isLate = true;
          resolve();
        }, withinMs);
      });
      // What ends may have begun something that goes on after it.
      while (atWork.size > 0 && !isLate) await Promise.race([Promise.all(atWork), late]);
      clearTimeout(timer);
      return atWork.size === 0;
    },
  };
}

/** Refuses what comes while the server closes, and lets no connection stay open once it is about to. */
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
    detail: "This server is about to stop. Ask again in a moment.",
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** What requests are told that were not finished when the server had to end. */
function createShutdownError(): HTTPException {
  return refuse({
    status: 503,
    code: "unavailable",
    detail: `${SHUTDOWN_MESSAGE} What was to be written may be written yet: send the same again under the same Idempotency-Key.`,
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** The first words of it, for streams. */
export const SHUTDOWN_MESSAGE = "The server stops before this answer is whole.";

/**
 * Runs the work of a request until the server has to end. Its signal fires then, or when the client goes, and for as long as
 * the answer is on its way. Rejects with the reason where the work had no answer by then.
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
    // What is sent in parts goes on after this. Without a connection nothing tells when it has gone out.
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
