import { createBodyObserver } from "./body-quota.ts";
import { runUntilShutdown } from "./graceful-shutdown.ts";
import { runIdempotently } from "./idempotency.ts";
import { authenticate, createUserAccess, mayCarryKey } from "./middleware/authentication.ts";
import { spendBytes, spendRequest } from "./middleware/rate-limits.ts";
import type { Operation, OperationRequest, ServerServices } from "./operation.ts";
import { isOpenAiPath, PASS_THROUGH_HINT, refuse } from "./problem.ts";
import { checkShape, readBody, readOptionalBody } from "./request-body.ts";
import type { HonoApp, RequestContext } from "./request-context.ts";

/**
 * Serves the operations of a table. Whatever is mounted goes through the same steps, in this order: key and scope, the
 * key's allowance, then, within the time there is, what was asked, checked, its turn, and the handler.
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
  for (const [path, own] of paths) {
    for (const operation of own) {
      app.on(operation.method, toRoute(path), (exchange) =>
        runOperation(operation, exchange, services, turn),
      );
    }
    // Here, and not later: else "stats" would be the id of a memory where it is asked for by another method.
    app.all(toRoute(path), (exchange) => {
      throw createWrongMethodError(
        exchange,
        own.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])),
      );
    });
  }
}

/** The problem of a method that an address does not take. */
function createWrongMethodError({ req }: RequestContext, methods: readonly string[]): Error {
  const allow = methods.join(", ");
  return refuse({
    status: 405,
    code: "unsupported",
    detail: `This address takes ${allow}.${isOpenAiPath(req.path) ? ` ${PASS_THROUGH_HINT}` : ""}`,
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
  const held = services.inFlight.reserve(bearer?.key);
  const intake = createBodyObserver(held, (bytes) => spendBytes(exchange, bearer, { rates, bytes }));
  exchange.set("intake", intake);
  const work = (signal: AbortSignal): Promise<Response> =>
    services.lifecycle.track(async () => {
      const came = await readInput(operation, exchange);
      await turn();
      const asked = { ...came, ...createUserAccess(services, bearer), signal, bearer, services, exchange };
      return runIdempotently(operation, asked, async () => operation.handle(asked));
    });
  try {
    return await runUntilShutdown(exchange, services.lifecycle, (signal) =>
      operation.hasNoDeadline ? work(signal) : runWithDeadline(services.requestMs, signal, work),
    );
  } finally {
    held.release();
  }
}

type OperationInput = Pick<OperationRequest, "path" | "query" | "body">;

async function readInput(operation: Operation, exchange: RequestContext): Promise<OperationInput> {
  const { parameters, query, body, isBodyOptional } = operation;
  return {
    path: parameters && checkShape(parameters, exchange.req.param()),
    query: query && checkShape(query, exchange.req.query()),
    body: body && (await (isBodyOptional ? readOptionalBody : readBody)(exchange, body)),
  };
}

/** "/api/v1/memories/{user_id}" as the router writes it. */
function toRoute(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** Fixed addresses before those with parameters: else "stats" would be the id of a memory. */
function sortOperations(operations: readonly Operation[]): Operation[] {
  return operations.toSorted((one, other) => {
    const [a, b] = [one.path, other.path].map((path) => path.replace(/\{\w+\}/g, "\u{10ffff}")) as [
      string,
      string,
    ];
    return a < b ? -1 : a > b ? 1 : 0;
  });
}

/** Waits until it is a request's turn to begin. */
type FairQueue = () => Promise<void>;

/**
 * Requests begin in the order in which they came, one in each turn of the event loop. Else all that came at once would be carried out
 * before anything goes on that waits for a thread, the disk or another server: a write waits three times, and behind sixty searches each time.
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
    // One that comes alone waits for nothing.
    if (!isTaken) {
      isTaken = true;
      setImmediate(pass);
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}

/** Requests end after this time where nothing else is set, in ms. */
export const DEFAULT_REQUEST_MS = 60_000;

/**
 * Runs until a deadline. `signal` fires then, or when the client goes; what listens to it may stop. Gives 503 in the
 * end, whether it does or not.
 */
async function runWithDeadline<Result>(
  ms: number,
  client: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const gone = (): void => ending.abort(client.reason);
  if (client.aborted) gone();
  // For as long as the request is there: what streams goes on after this.
  client.addEventListener("abort", gone, { once: true });
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
    detail:
      "It took too long. What was to be written may be written yet: send the same again under the same Idempotency-Key.",
    headers: { "retry-after": "1" },
  });
}
