import type { MiddlewareHandler } from "hono";
import { type AppEnvironment, getNodeBindings, type RequestContext } from "./app-types.ts";

/** A request that was answered, for logs and metrics. Nothing in it is a value of a path, a query or a body. */
export interface Answered {
  readonly requestId: string;
  readonly method: string;
  /** As the document writes it: "/api/v1/memories/{user_id}"; undefined where the address is none of ours. */
  readonly route?: string;
  readonly status: number;
  /** From the first byte of the request's head to the last of the answer, or to where the client went away. */
  readonly ms: number;
  /** The public half of the key. */
  readonly key?: string;
  /** True where the answer did not reach its end. */
  readonly cut?: true;
}

/** Tells of each request when it is over: a streamed answer at its end. */
export function observeRequests(tell: (answered: Answered) => void): MiddlewareHandler<AppEnvironment> {
  return async (exchange, next) => {
    const from = performance.now();
    await next();
    const { status } = exchange.res;
    const facts = toRequestFacts(exchange);
    const done = (cut: boolean): void => {
      tell({
        ...facts,
        status,
        ms: Math.round((performance.now() - from) * 10) / 10,
        ...(cut ? { cut } : {}),
      });
    };
    const { outgoing } = getNodeBindings(exchange);
    if (!outgoing) done(false);
    else outgoing.once("close", () => done(!outgoing.writableFinished));
  };
}

function toRequestFacts(exchange: RequestContext): Pick<Answered, "requestId" | "method" | "route" | "key"> {
  const route = exchange.get("operation")?.path;
  const key = exchange.get("key");
  return {
    requestId: exchange.get("requestId"),
    method: exchange.req.method,
    ...(route === undefined ? {} : { route }),
    ...(key === undefined ? {} : { key }),
  };
}
