import type { MiddlewareHandler } from "hono";
import type { Meter, Tracer } from "../../ports/telemetry.ts";
import { type AppEnvironment, getNodeBindings, type RequestContext } from "../request-context.ts";

/** A finished request, for logs and metrics. It contains no values of paths (but see `path`), queries or bodies. */
export interface Answered {
  /** The request's id, as in the response's `x-request-id`. */
  readonly requestId: string;
  /** The HTTP method. */
  readonly method: string;
  /** The documented path, such as "/api/v1/memories/{user_id}"; undefined for an unknown path. */
  readonly route?: string;
  /** The path as requested, with the ids of users, if the options say so. */
  readonly path?: string;
  /** The HTTP status. */
  readonly status: number;
  /** Time from the first byte of the request to the last byte of the response, or to the disconnect, in ms. */
  readonly ms: number;
  /** The public part of the key. */
  readonly key?: string;
  /** True if the response was cut off. */
  readonly cut?: true;
}

/** Reports each finished request; a streamed response at its end. */
export function observeRequests(
  tell: (answered: Answered) => void,
  showsPaths = false,
): MiddlewareHandler<AppEnvironment> {
  return async (exchange, next) => {
    const from = performance.now();
    await next();
    const { status } = exchange.res;
    const facts = {
      ...toRequestFacts(exchange),
      ...(showsPaths ? { path: exchange.req.path } : {}),
    };
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

/** The label of unknown paths, whose text must not be shown. */
const UNKNOWN_ROUTE = "none";

/** Records metrics of finished requests. */
export function createRequestCounter(meter: Meter): (answered: Answered) => void {
  return ({ method, route, status, ms }) => {
    const endpoint = route ?? UNKNOWN_ROUTE;
    meter.count("memory_api_requests_total", { method, endpoint, status: `${status}` });
    meter.observe("memory_api_request_duration_seconds", ms / 1000, { method, endpoint });
  };
}

/**
 * Records a span for each request, by the semantic conventions for HTTP servers, in the trace of its `traceparent`. It
 * contains only the route, because paths contain user data.
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
