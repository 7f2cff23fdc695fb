import { Hono } from "hono";
import type { Keepsake } from "../engine/surface.ts";
import type { Meter } from "../ports/meter.ts";
import type { RateLimits } from "../ports/rate-limits.ts";
import type { Tracer } from "../ports/tracer.ts";
import { readPageAssets } from "../ui/index.ts";
import type { AppEnvironment, HonoApp } from "./app-types.ts";
import { DEFAULT_REQUEST_MS } from "./deadline.ts";
import { createFailedKeyThrottle } from "./failed-keys.ts";
import { checkHostAndOrigin, getAllowedHosts, rejectMalformedPath, withSecurityHeaders } from "./guard.ts";
import { type BodyBounds, createBodyQuota } from "./in-flight.ts";
import type { ApiKeys } from "./keys.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { createRequestCounter } from "./metered.ts";
import { mountOperations } from "./mount.ts";
import { type Answered, observeRequests } from "./observe.ts";
import { rejectWhileClosing } from "./open.ts";
import { API_OPERATIONS } from "./operations.ts";
import { isRefusal, toProblem, toProblemResponse } from "./problem.ts";
import { isOpenAiPath, PASS_THROUGH_HINT } from "./proxy/errors.ts";
import { createProxy, type ProxyOptions } from "./proxy/proxy.ts";
import { withRateLimitHeaders } from "./rate.ts";
import { createPageOperations } from "./routes/page.ts";
import { findPassThrough } from "./routes/pass-through.ts";
import { withOpenMetrics } from "./routes/stats.ts";
import { traceRequests } from "./traced.ts";

/** A fault on our side, for whoever runs the server. It may name files; it is never sent to a client. */
export interface ServerFault {
  readonly requestId: string;
  readonly method: string;
  readonly error: unknown;
}

export interface AppOptions {
  readonly keepsake: Keepsake;
  readonly keys: ApiKeys;
  /** The address it listens on (127.0.0.1): on this machine's own, it answers to no other names. */
  readonly host?: string;
  /** More names it answers to, without ports. */
  readonly hosts?: readonly string[];
  /** Origins of pages that may call it beside its own, each as a browser sends it: "https://app.example.com". None. */
  readonly origins?: readonly string[];
  readonly onFault?: (fault: ServerFault) => void;
  /** Is told of every request when it is over. */
  readonly onAnswered?: (answered: Answered) => void;
  readonly lifecycle?: Lifecycle;
  /** How often each key may ask. */
  readonly rateLimits?: RateLimits;
  /** How many bytes of bodies each key may send. */
  readonly byteLimits?: RateLimits;
  /** How long a request may take, in ms (60,000). */
  readonly requestMs?: number;
  /** How many bytes of bodies it holds at once. */
  readonly bodies?: BodyBounds;
  /** Each request is a span. */
  readonly tracer?: Tracer;
  /** Counts requests, and what the proxy does. */
  readonly meter?: Meter;
  /** Gives all metrics as Prometheus's text, to keys with the scope `admin`; with `isOpen`, to whoever reaches the server. */
  readonly metrics?: { text(): Promise<string>; readonly isOpen?: boolean };
  /** Of OpenAI's protocol: where conversations are passed on to. */
  readonly proxy?: ProxyOptions;
}

/** The whole server as one function from request to response. */
export function httpApp(options: AppOptions): HonoApp {
  const {
    keepsake,
    keys,
    onFault,
    onAnswered,
    rateLimits,
    requestMs = DEFAULT_REQUEST_MS,
    meter,
    metrics,
  } = options;
  const life = options.lifecycle ?? createLifecycle();
  const app = new Hono<AppEnvironment>();
  app.use(withSecurityHeaders());
  app.use(withRateLimitHeaders());
  if (onAnswered) app.use(observeRequests(onAnswered));
  if (meter) app.use(observeRequests(createRequestCounter(meter)));
  if (options.tracer) app.use(traceRequests(options.tracer));
  app.use(rejectWhileClosing(life));
  app.use(
    checkHostAndOrigin(getAllowedHosts(options.host ?? "127.0.0.1", options.hosts), new Set(options.origins)),
  );
  app.use(rejectMalformedPath());

  const table = metrics?.isOpen ? withOpenMetrics(API_OPERATIONS) : API_OPERATIONS;
  const openAi = createProxy({ onCall: keepsake.onCall, ...(meter ? { meter } : {}), ...options.proxy });
  keepsake.watchErased(openAi.forget);
  const services = {
    keepsake,
    keys,
    failedKeys: createFailedKeyThrottle(),
    lifecycle: life,
    requestMs,
    inFlight: createBodyQuota(options.bodies),
    proxy: openAi,
    ...(metrics ? { metrics: () => metrics.text() } : {}),
    rates: { requests: rateLimits, bytes: options.byteLimits },
  };
  mountOperations(app, [...table, ...createPageOperations(readPageAssets())], services, findPassThrough);

  app.notFound((context) =>
    toProblemResponse(context, {
      status: 404,
      code: "not_found",
      detail: isOpenAiPath(context.req.path) ? PASS_THROUGH_HINT : "There is nothing at this address.",
    }),
  );
  app.onError((error, context) => {
    const problem = toProblem(error);
    // Work that stopped because nobody waits for it any more is no fault.
    const isMoot = context.req.raw.signal.aborted && error.name === "AbortError";
    if (problem.status >= 500 && !isMoot && !isRefusal(error)) {
      // Readiness is asked for without a write: it has to be told that one failed.
      if (context.req.method !== "GET" && problem.code === "unavailable") life.isRefusingWrites = true;
      onFault?.({ requestId: context.get("requestId"), method: context.req.method, error });
    }
    return toProblemResponse(context, problem);
  });
  return app;
}
