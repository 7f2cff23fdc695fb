import { createBodyObserver } from "./body-quota.ts";
import { runUntilShutdown } from "./graceful-shutdown.ts";
import { runIdempotently } from "./idempotency.ts";
import { authenticate, createUserAccess, getAgent, mayCarryKey } from "./middleware/authentication.ts";
import { spendBytes, spendRequest } from "./middleware/rate-limits.ts";
import type { Operation, OperationRequest, ServerServices } from "./operation.ts";
import { isOpenAiPath, PASS_THROUGH_HINT, refuse } from "./problem.ts";
import { checkShape, readBody, readFileBody, readOptionalBody } from "./request-body.ts";
import type { HonoApp, RequestContext } from "./request-context.ts";

/**
 * Serves a table of operations. Each request takes the same steps: key and scope, rate limit, then, within the time limit,
 * validation, its turn in the queue, and the handler.
 */
export function mountOperations(
  app: HonoApp,
  operations: readonly Operation[],
  services: ServerServices,
  passThrough: (exchange: RequestContext) => Operation | undefined = () => undefined,
): void {
  const turn = createFairQueue();
  app.use("/v1/*", (exchange, next) => {
    const operation = passThrough(exchange);
    return operation ? runOperation(operation, exchange, services, turn) : next();
  });
  const paths = Map.groupBy(sortOperations(operations), ({ path }) => path);
  for (const [path, pathOperations] of paths) {
    for (const operation of pathOperations) {
      app.on(operation.method, toRoute(path), (exchange) =>
        runOperation(operation, exchange, services, turn),
      );
    }
    // Registered here and not later: otherwise, for another method, "stats" would match as the id of a memory.
    app.all(toRoute(path), (exchange) => {
      throw createWrongMethodError(
        exchange,
        pathOperations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])),
      );
    });
  }
}

/** Creates the 405 error for a method that an endpoint does not support. */
function createWrongMethodError({ req }: RequestContext, methods: readonly string[]): Error {
  const allow = methods.join(", ");
  return refuse({
    status: 405,
    code: "unsupported",
    detail: `This endpoint supports ${allow}.${isOpenAiPath(req.path) ? ` ${PASS_THROUGH_HINT}` : ""}`,
    headers: { allow },
  });
}

async function runOperation(
  operation: Operation,
  exchange: RequestContext,
  services: ServerServices,
  turn: FairQueue,
): Promise<Response> {
  exchange.set("operation", operation);
  if (mayCarryKey(operation, exchange)) await services.keys.refresh();
  const bearer = await authenticate(operation, exchange, services);
  if (bearer) exchange.set("key", bearer.key);
  const { rates } = services;
  await spendRequest(exchange, bearer, rates);
  const reservation = services.inFlight.reserve(bearer?.key);
  const intake = createBodyObserver(reservation, (bytes) => spendBytes(exchange, bearer, { rates, bytes }));
  exchange.set("intake", intake);
  const work = (signal: AbortSignal): Promise<Response> =>
    services.lifecycle.track(async () => {
      const input = await readInput(operation, exchange);
      await turn();
      // No client waits for the answer, and what the client sends next may contradict this.
      signal.throwIfAborted();
      const access = createUserAccess(services, bearer, bearer && getAgent(exchange));
      const call = { ...input, ...access, signal, bearer, services, exchange };
      return runIdempotently(operation, call, async () => operation.handle(call));
    });
  try {
    return await runUntilShutdown(exchange, services.lifecycle, (signal) =>
      operation.hasNoDeadline ? work(signal) : runWithDeadline(services.requestMs, signal, work),
    );
  } finally {
    reservation.release();
  }
}

type OperationInput = Pick<OperationRequest, "path" | "query" | "body">;

async function readInput(operation: Operation, exchange: RequestContext): Promise<OperationInput> {
  const { parameters, query, body, isBodyOptional, fileBytes, rawBody = {} } = operation;
  const file =
    fileBytes === undefined ? undefined : () => readFileBody(exchange, Object.keys(rawBody), fileBytes);
  return {
    path: parameters && checkShape(parameters, exchange.req.param()),
    query: query && checkShape(query, exchange.req.query()),
    body: file
      ? await file()
      : body && (await (isBodyOptional ? readOptionalBody : readBody)(exchange, body)),
  };
}

/** Turns "/api/v1/memories/{user_id}" into the router's form. */
function toRoute(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** Sorts fixed paths before paths with parameters: otherwise "stats" would match as the id of a memory. */
function sortOperations(operations: readonly Operation[]): Operation[] {
  return operations.toSorted((one, other) => {
    const [a, b] = [one.path, other.path].map((path) => path.replace(/\{\w+\}/g, "\u{10ffff}")) as [
      string,
      string,
    ];
    return a < b ? -1 : a > b ? 1 : 0;
  });
}

/** Waits until it is a request's turn. */
type FairQueue = () => Promise<void>;

/**
 * Creates a queue that starts requests in order of arrival, one per turn of the event loop. Without it, all new requests
 * would run before any work that waits for a thread, the disk or another server. A write waits three times, and each time
 * behind sixty searches.
 */
export function createFairQueue(): FairQueue {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  const pass = (): void => {
    const next = waiting.shift();
    isTaken = next !== undefined;
    if (!next) return;
    setImmediate(pass);
    next();
  };
  return () => {
    // A single request does not wait.
    if (!isTaken) {
      isTaken = true;
      setImmediate(pass);
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}

/** Default time limit of a request, in ms. */
export const DEFAULT_REQUEST_MS = 60_000;

/**
 * Runs work with a time limit. `signal` fires at the limit, or when the client disconnects. Throws 503 at the limit, even
 * if the work goes on.
 */
async function runWithDeadline<Result>(
  ms: number,
  client: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const onDisconnect = (): void => ending.abort(client.reason);
  if (client.aborted) onDisconnect();
  // Stays for the whole request: a stream continues after this function.
  client.addEventListener("abort", onDisconnect, { once: true });
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = createDeadlineError();
      ending.abort(error);
      reject(error);
    }, ms);
  });
  try {
    return await Promise.race([run(ending.signal), lateness]);
  } finally {
    clearTimeout(timer);
  }
}

function createDeadlineError(): Error {
  return refuse({
    status: 503,
    code: "unavailable",
    detail: "The request timed out. It may still be executed: send it again with the same Idempotency-Key.",
    headers: { "retry-after": "1" },
  });
}
