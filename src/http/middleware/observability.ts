import type { MiddlewareHandler } from "hono";
import type { Meter, Tracer } from "../../ports/telemetry.ts";
import { type AppEnvironment, getNodeBindings, type RequestContext } from "../request-context.ts";

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

/** What stands for an address that is none of ours: what somebody wrote there is nobody's to see. */
const UNKNOWN_ROUTE = "none";

/** Counts the requests that were answered. */
export function createRequestCounter(meter: Meter): (answered: Answered) => void {
  return ({ method, route, status, ms }) => {
    const endpoint = route ?? UNKNOWN_ROUTE;
    meter.count("memory_api_requests_total", { method, endpoint, status: `${status}` });
    meter.observe("memory_api_request_duration_seconds", ms / 1000, { method, endpoint });
  };
}

/**
 * A span for each request, by the semantic conventions for HTTP servers, within the trace that its `traceparent` names. Of the
 * address it has the route alone: what stands in the path is a user's.
 */
export function traceRequests(tracer: Tracer): MiddlewareHandler<AppEnvironment> {
  return (exchange, next) => {
    const { method } = exchange.req;
    const start = {
      name: method,
      kind: "server",
      attributes: { "http.request.method": method },
      headers: (name: string) => exchange.req.header(name),
    } as const;
    return tracer.within(start, async (span) => {
      await next();
      const { status } = exchange.res;
      const route = exchange.get("operation")?.path;
      if (route !== undefined) span.rename(`${method} ${route}`);
      span.set({
        "http.response.status_code": status,
        ...(route === undefined ? {} : { "http.route": route }),
      });
      if (status >= 500) span.failed(`${status}`);
    });
  };
}
