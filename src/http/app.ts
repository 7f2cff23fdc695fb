import { Hono } from "hono";
import type { SettingInForce } from "../domain/operations/setting-in-force.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
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
import { createOAuth, type OAuthOptions } from "./oauth/oauth-options.ts";
import type { Operation } from "./operation.ts";
import { isOpenAiPath, isRefusal, PASS_THROUGH_HINT, toProblem, toProblemResponse } from "./problem.ts";
import { createProxy, type ProxyOptions } from "./proxy/proxy.ts";
import type { AppEnvironment, HonoApp } from "./request-context.ts";
import { associationOperations } from "./routes/associations.ts";
import { attachmentOperations } from "./routes/attachments.ts";
import { changeOperations } from "./routes/changes.ts";
import { conversationOperations, messageOperations, simpleOperations } from "./routes/conversation.ts";
import { erasureOperations } from "./routes/erasures.ts";
import { historyOperations, sessionOperations } from "./routes/history.ts";
import { moveOperations } from "./routes/import-export.ts";
import { createMcpOperations, type McpEndpointLoader } from "./routes/mcp.ts";
import { memoryOperations, searchOperations } from "./routes/memories.ts";
import { createOAuthOperations } from "./routes/oauth.ts";
import { conversationItemOperations } from "./routes/openai/conversations.ts";
import { anthropicOperations, createPassThroughFinder, openAiOperations } from "./routes/openai/openai.ts";
import { storedResponseOperations } from "./routes/openai/responses.ts";
import { overviewOperations } from "./routes/overview.ts";
import { promptOperations } from "./routes/prompts.ts";
import {
  jobOperations,
  settingOperations,
  statsOperations,
  userOperations,
  withOpenMetrics,
} from "./routes/server/administration.ts";
import { createDocumentOperations, createPageOperations } from "./routes/server/documentation.ts";
import { embedderOperations } from "./routes/server/embedders.ts";
import { healthOperations } from "./routes/server/health.ts";
import { keyOperations, signInOperations } from "./routes/server/keys.ts";
import { webhookOperations } from "./routes/server/webhooks.ts";
import { sharingOperations } from "./routes/sharing.ts";

/** An internal error, for the operator. It may name files, and is never sent to a client. */
export interface ServerFault {
  /** The request's id, as in the response's `x-request-id`. */
  readonly requestId: string;
  /** The HTTP method. */
  readonly method: string;
  /** What was thrown. */
  readonly error: unknown;
}

/** Options of `httpApp`. */
export interface AppOptions {
  /** The memory to serve. */
  readonly keepsake: Keepsake;
  /** The keys that are accepted. */
  readonly keys: ApiKeys;
  /** The address to listen on (127.0.0.1). On a loopback address, only loopback host names are accepted. */
  readonly host?: string;
  /** Further accepted host names, without ports. */
  readonly hosts?: readonly string[];
  /** Origins of other pages that may call the server, as a browser sends them: "https://app.example.com" (none). */
  readonly origins?: readonly string[];
  /** Called with each internal error. */
  readonly onFault?: (fault: ServerFault) => void;
  /** Called after each request. */
  readonly onAnswered?: (answered: Answered) => void;
  /** Counts requests in progress, for a graceful shutdown. Default: one of its own. */
  readonly lifecycle?: Lifecycle;
  /** Limits of requests per key. */
  readonly rateLimits?: RateLimits;
  /** Limits of request bytes per key. */
  readonly byteLimits?: RateLimits;
  /** Time limit of a request, in ms (60,000). */
  readonly requestMs?: number;
  /** Limits of bytes of request bodies held at once. */
  readonly bodies?: BodyBounds;
  /** Records a span for each request. */
  readonly tracer?: Tracer;
  /** Records metrics of requests and of the proxy. */
  readonly meter?: Meter;
  /** Gives all metrics as Prometheus text, to keys with the scope `admin`; with `isOpen`, to everyone. */
  readonly metrics?: { text(): Promise<string>; readonly isOpen?: boolean };
  /** Options of the proxy for clients of OpenAI and Anthropic. */
  readonly proxy?: ProxyOptions;
  /** Gives messages for the operator, for `GET /api/v1/ready`, in addition to those of the memory. */
  readonly notices?: () => readonly string[];
  /** The settings as they are in force, without secrets, for `GET /api/v1/settings` (none). */
  readonly settings?: readonly SettingInForce[];
  /** Whether `onAnswered` gets paths as requested, with the ids of users (false). */
  readonly showsPaths?: boolean;
  /** Loads the answers to MCP clients at `/mcp`. Without it, there is no such endpoint. */
  readonly mcp?: McpEndpointLoader;
  /** Accepts access tokens of OAuth at `/mcp`, beside keys. */
  readonly oauth?: OAuthOptions;
}

/** Creates the server as one function from request to response. */
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
  if (onAnswered) app.use(observeRequests(onAnswered, options.showsPaths));
  if (meter) app.use(observeRequests(createRequestCounter(meter)));
  if (options.tracer) app.use(traceRequests(options.tracer));
  app.use(rejectWhileClosing(life));
  app.use(
    checkHostAndOrigin(getAllowedHosts(options.host ?? "127.0.0.1", options.hosts), new Set(options.origins)),
  );
  app.use(rejectMalformedPath());

  const table = metrics?.isOpen ? withOpenMetrics(API_OPERATIONS) : API_OPERATIONS;
  const openAi = createProxy(keepsake, {
    onCall: keepsake.onCall,
    ...(meter ? { meter } : {}),
    ...options.proxy,
  });
  keepsake.watchErased(openAi.forget);
  const oauth = options.oauth && createOAuth(options.oauth, keys);
  const services = {
    keepsake,
    keys,
    failedKeys: createFailedKeyThrottle(),
    lifecycle: life,
    requestMs,
    inFlight: createBodyQuota(options.bodies),
    proxy: openAi,
    notices: options.notices ?? (() => []),
    settings: options.settings ?? [],
    ...(metrics ? { metrics: () => metrics.text() } : {}),
    rates: { requests: rateLimits, bytes: options.byteLimits },
    oauth: oauth?.resource,
  };
  const mcp = options.mcp ? createMcpOperations(options.mcp) : [];
  const pages = createPageOperations(readPageAssets());
  const others = [...pages, ...mcp, ...(oauth ? createOAuthOperations(oauth) : [])];
  const passThrough = createPassThroughFinder(table, openAi.providers.openai);
  mountOperations(app, [...table, ...others], services, passThrough);

  app.notFound((context) =>
    toProblemResponse(context, {
      status: 404,
      code: "not_found",
      detail: isOpenAiPath(context.req.path) ? PASS_THROUGH_HINT : "No such endpoint.",
    }),
  );
  app.onError((error, context) => {
    const problem = toProblem(error);
    // An abort after the client has gone is not an error.
    const isMoot = context.req.raw.signal.aborted && error.name === "AbortError";
    if (problem.status >= 500 && !isMoot && !isRefusal(error)) {
      // The readiness check does not write, so it must know of a failed write.
      if (context.req.method !== "GET" && problem.code === "unavailable") life.isRefusingWrites = true;
      onFault?.({ requestId: context.get("requestId"), method: context.req.method, error });
    }
    return toProblemResponse(context, problem);
  });
  return app;
}

/** All operations of the API. The server serves, checks and documents exactly these. */
export const API_OPERATIONS: readonly Operation[] = [
  ...healthOperations,
  ...conversationOperations,
  ...messageOperations,
  ...associationOperations,
  ...overviewOperations,
  ...sharingOperations,
  ...memoryOperations,
  ...statsOperations,
  ...searchOperations,
  ...promptOperations,
  ...attachmentOperations,
  ...historyOperations,
  ...changeOperations,
  ...sessionOperations,
  ...erasureOperations,
  ...moveOperations,
  ...userOperations,
  ...jobOperations,
  ...settingOperations,
  ...simpleOperations,
  ...keyOperations,
  ...embedderOperations,
  ...webhookOperations,
  ...signInOperations,
  ...openAiOperations,
  ...conversationItemOperations,
  ...storedResponseOperations,
  ...anthropicOperations,
  ...createDocumentOperations(() => API_OPERATIONS),
];
