import type { App, Exchange } from "./app-types.ts";
import { admitted, mayHaveKey } from "./authenticate.ts";
import { check, readBody, readOptionalBody } from "./body.ts";
import { untilBrokenOff } from "./break-off.ts";
import { inTime } from "./deadline.ts";
import { intakeOf } from "./intake.ts";
import { once } from "./once.ts";
import type { Asked, Operation, Services } from "./operation.ts";
import { refuse } from "./problem.ts";
import { isOpenAiPath, NOT_PASSED_ON } from "./proxy/errors.ts";
import { withinBytes, withinRate } from "./rate.ts";
import { reach } from "./reach.ts";
import { type Turns, turns } from "./turns.ts";

/**
 * Serves the operations of a table. Whatever is mounted goes through the same steps, in this order: key and scope, the
 * key's allowance, then, within the time there is, what was asked, checked, its turn, and the handler.
 */
export function mount(
  app: App,
  operations: readonly Operation[],
  services: Services,
  passThrough: (exchange: Exchange) => Operation | undefined = () => undefined,
): void {
  const turn = turns();
  app.use("/v1/*", (exchange, next) => {
    const operation = passThrough(exchange);
    return operation ? perform(operation, exchange, services, turn) : next();
  });
  const paths = Map.groupBy(inOrder(operations), ({ path }) => path);
  for (const [path, own] of paths) {
    for (const operation of own) {
      app.on(operation.method, routeOf(path), (exchange) => perform(operation, exchange, services, turn));
    }
    // Here, and not later: else "stats" would be the id of a memory where it is asked for by another method.
    app.all(routeOf(path), (exchange) => {
      throw wrongMethod(
        exchange,
        own.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])),
      );
    });
  }
}

/** The problem of a method that an address does not take. */
function wrongMethod({ req }: Exchange, methods: readonly string[]): Error {
  const allow = methods.join(", ");
  return refuse({
    status: 405,
    code: "unsupported",
    detail: `This address takes ${allow}.${isOpenAiPath(req.path) ? ` ${NOT_PASSED_ON}` : ""}`,
    headers: { allow },
  });
}

async function perform(
  operation: Operation,
  exchange: Exchange,
  services: Services,
  turn: Turns,
): Promise<Response> {
  exchange.set("operation", operation);
  if (mayHaveKey(operation, exchange)) await services.keys.refresh();
  const bearer = await admitted(operation, exchange, services);
  if (bearer) exchange.set("key", bearer.key);
  const { rates } = services;
  await withinRate(exchange, bearer, rates);
  const held = services.inFlight.hold(bearer?.key);
  const intake = intakeOf(held, (bytes) => withinBytes(exchange, bearer, { rates, bytes }));
  exchange.set("intake", intake);
  const work = (signal: AbortSignal): Promise<Response> =>
    services.lifecycle.during(async () => {
      const came = await read(operation, exchange);
      await turn();
      const asked = { ...came, ...reach(services, bearer), signal, bearer, services, exchange };
      return once(operation, asked, async () => operation.handle(asked));
    });
  try {
    return await untilBrokenOff(exchange, services.lifecycle, (signal) =>
      operation.isUnhurried ? work(signal) : inTime(services.requestMs, signal, work),
    );
  } finally {
    held.release();
  }
}

type Read = Pick<Asked, "path" | "query" | "body">;

async function read(operation: Operation, exchange: Exchange): Promise<Read> {
  const { parameters, query, body, isBodyOptional } = operation;
  return {
    path: parameters && check(parameters, exchange.req.param()),
    query: query && check(query, exchange.req.query()),
    body: body && (await (isBodyOptional ? readOptionalBody : readBody)(exchange, body)),
  };
}

/** "/api/v1/memories/{user_id}" as the router writes it. */
function routeOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** Fixed addresses before those with parameters: else "stats" would be the id of a memory. */
function inOrder(operations: readonly Operation[]): Operation[] {
  return operations.toSorted((one, other) => {
    const [a, b] = [one.path, other.path].map((path) => path.replace(/\{\w+\}/g, "\u{10ffff}")) as [
      string,
      string,
    ];
    return a < b ? -1 : a > b ? 1 : 0;
  });
}
