import type { MiddlewareHandler } from "hono";
import type { Tracer } from "../ports/tracer.ts";
import type { AppEnvironment } from "./app-types.ts";

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
