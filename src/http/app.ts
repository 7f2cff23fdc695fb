import { Hono } from "hono";
import type { Keepsake } from "../engine/api.ts";
import type { RateLimits } from "../ports/rate-limits.ts";
import type { Meter, Tracer } from "../ports/telemetry.ts";
import { readPageAssets } from "../ui/index.ts";
import { type BodyBounds, createBodyQuota } from "./body-quota.ts";
import { DEFAULT_REQUEST_MS, mountOperations } from "./dispatch.ts";
import { createLifecycle, type Lifecycle, rejectWhileClosing } from "./graceful-shutdown.ts";
import type { ApiKeys } from "./keys/api-keys.ts";
import {
  type Answered,
  createRequestCounter,
  observeRequests,
  traceRequests,
} from "./middleware/observability.ts";
import { createFailedKeyThrottle, withRateLimitHeaders } from "./middleware/rate-limits.ts";
import {
  checkHostAndOrigin,
  getAllowedHosts,
  rejectMalformedPath,
  withSecurityHeaders,
} from "./middleware/security.ts";
import type { Operation } from "./operation.ts";
import { isOpenAiPath, isRefusal, PASS_THROUGH_HINT, toProblem, toProblemResponse } from "./problem.ts";
import { createProxy, type ProxyOptions } from "./proxy/proxy.ts";
import type { AppEnvironment, HonoApp } from "./request-context.ts";
import { jobOperations, statsOperations, userOperations, withOpenMetrics } from "./routes/administration.ts";
import { conversationOperations, messageOperations, simpleOperations } from "./routes/conversation.ts";
import { createDocumentOperations, createPageOperations } from "./routes/documentation.ts";
import { erasureOperations } from "./routes/erasures.ts";
import { healthOperations } from "./routes/health.ts";
import { historyOperations, sessionOperations } from "./routes/history.ts";
import { moveOperations } from "./routes/import-export.ts";
import { keyOperations, signInOperations } from "./routes/keys.ts";
import { memoryOperations, searchOperations } from "./routes/memories.ts";
import { findPassThrough, openAiOperations } from "./routes/openai.ts";

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

/** Every call that the server takes. What is served, checked and documented is what stands here, and nothing else. */
export const API_OPERATIONS: readonly Operation[] = [
  ...healthOperations,
  ...conversationOperations,
  ...messageOperations,
  ...memoryOperations,
  ...statsOperations,
  ...searchOperations,
  ...historyOperations,
  ...sessionOperations,
  ...erasureOperations,
  ...moveOperations,
  ...userOperations,
  ...jobOperations,
  ...simpleOperations,
  ...keyOperations,
  ...signInOperations,
  ...openAiOperations,
  ...createDocumentOperations(() => API_OPERATIONS),
];
