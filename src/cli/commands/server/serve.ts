import { setFlagsFromString } from "node:v8";
import { memoryRateLimits } from "../../../adapters/memory/rate-limits.ts";
import { otelTracer } from "../../../adapters/opentelemetry/index.ts";
import { type PrometheusMeter, prometheusMeter } from "../../../adapters/prometheus/index.ts";
import { getGarbageCollectorFlags } from "../../../adapters/shared/worker-channel.ts";
import { describeExtractor } from "../../../config/memory-from-settings.ts";
import { chooseYoungMegabytes } from "../../../config/node-tuning.ts";
import { listSettingsInForce } from "../../../config/setting-sources.ts";
import { SETTINGS, type Settings } from "../../../config/settings.ts";
import { recordJobMetrics } from "../../../engine/instrumentation.ts";
import { invalid } from "../../../errors.ts";
import {
  createPassingGrants,
  type GrantStore,
  type ServeOptions as HttpOptions,
  isLoopback,
  keysPathOf,
  type McpEndpoint,
  openGrantsFile,
  openSharedGrants,
  type ProxyOptions,
  type Served,
  serve,
  sharedKeys,
  sharedLimits,
  toGrantsPath,
} from "../../../http/index.ts";
import { VERSION } from "../../../http/version.ts";
import type { RateLimits } from "../../../ports/rate-limits.ts";
import type { Tracer } from "../../../ports/telemetry.ts";
import { EXIT, exitWithin, STOP_MS, toShownError, waitForStopSignal } from "../../exit.ts";
import { createServerLog, withSpanLog } from "../../log.ts";
import { dimText, formatCount } from "../../printer.ts";
import { describeBackends, openScheduledBackups, toWebhookOptions, watchStart } from "../../start-report.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../../with-memory.ts";

/** Requests per key and minute if other machines can reach the server. Generous for people, but it stops a flood. */
const RATE_LIMIT = 6000;
/** The same if only this machine can reach the server: a thousand a second, to stop a runaway loop. */
const RATE_LIMIT_HERE = 60_000;
/** Bytes of request bodies per key and minute: two imports of the maximum size. */
const RATE_LIMIT_BYTES = 536_870_912;

/** Why the server stops by itself: its writes may be lost, and only a new process can find out what is on disk. */
const DISK_FAILED = "The disk failed to make a change durable";

interface ServeCommandOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: number;
}

/** Runs the server until a stop signal, then finishes requests in progress. */
export async function runServe(options: ServeCommandOptions): Promise<void> {
  for (const word of [`--max-semi-space-size=${chooseYoungMegabytes()}`, ...getGarbageCollectorFlags()])
    setFlagsFromString(word);
  const meter = prometheusMeter();
  const spans = await otelTracer();
  const toTraces = (settings: Settings): { readonly tracer?: Tracer } => {
    const tracer = withSpanLog(spans, createServerLog(settings));
    return tracer ? { tracer } : {};
  };
  const failed = Promise.withResolvers<typeof DISK_FAILED>();
  const runServer = async (context: CommandContext): Promise<number> => {
    if (options.at !== undefined) throw invalid("serve does not accept --at: it uses the current time.");
    const { keepsake, settings, print, clock } = context;
    const host = options.host ?? settings.host;
    // Installed before the greeting: a program may stop the server as soon as it reads that.
    const stop = waitForStopSignal();
    const watch = watchStart(context, print.note);
    const served = await serve({
      keepsake,
      clock,
      host,
      port: options.port ?? settings.port,
      ...toAccessOptions(context, host),
      ...(await loadOAuthOptions(context)),
      ...toLimitOptions(context, host),
      ...toLogOptions(context),
      settings: listSettingsInForce(SETTINGS, {
        KEEPSAKE_DB: options.db,
        KEEPSAKE_HOST: options.host,
        KEEPSAKE_PORT: options.port?.toString(),
      }),
      notices: () => [...context.notices, ...watch.problems()],
      proxy: toProxyOptions(context),
      mcp: () => loadMcpEndpoint(context),
      ...toMetricsOptions(context, meter),
      ...toTraces(settings),
    });
    const { url, firstKey, signInUrl } = served;
    const first = firstKey === undefined ? {} : { key: firstKey, signInUrl };
    print.result({ url, ...first }, () => formatServerGreeting(context, served));
    await noteStart(context, host);
    const reason = await Promise.race([stop, failed.promise]);
    print.note(`${reason}: finishing work in progress.`);
    watch.stop();
    exitWithin((settings.drainMs ?? 0) + (settings.stopMs ?? STOP_MS), print);
    await served.close();
    return reason === DISK_FAILED ? EXIT.diskFailed : EXIT.done;
  };
  const onSyncFailure = () => failed.resolve(DISK_FAILED);
  await withMemory(options, "writes", runServer, async (settings) => ({
    ...(await openScheduledBackups(settings)),
    ...toWebhookOptions(settings),
    meter,
    ...toTraces(settings),
    inThreads: true,
    onSyncFailure,
  }));
}

/** Prints what the settings switched on, and what an operator should know. */
async function noteStart({ keepsake, settings, print }: CommandContext, host: string): Promise<void> {
  for (const line of [describeExtractor(settings.model), ...describeBackends(settings)]) print.note(line);
  if (!isLoopback(host)) {
    print.note(
      "Other machines can reach it, and connections are not encrypted: put a TLS proxy in front of it.",
    );
  }
  const { left, space } = await keepsake.embedding();
  if (left > 0) {
    print.note(`${formatCount(left, "text")} not embedded by ${space} yet; search works meanwhile.`);
  }
}

/** Gives the options for metrics. */
function toMetricsOptions(
  { keepsake, settings }: CommandContext,
  meter: PrometheusMeter,
): Pick<HttpOptions, "meter" | "metrics"> {
  if (settings.metrics === "off") return {};
  const text = async (): Promise<string> => {
    await recordJobMetrics(keepsake, meter);
    return meter.text();
  };
  return { meter, metrics: { text, ...(settings.metrics === "open" ? { isOpen: true } : {}) } };
}

/** Gives the options for keys, host names and origins. */
function toAccessOptions(
  { path, isFile, settings, backends: { documents } }: CommandContext,
  host: string,
): Partial<HttpOptions> {
  const { apiKey, origins } = settings;
  const hosts = listHosts(settings, host);
  return {
    ...(isFile ? { keysPath: keysPathOf(path) } : {}),
    ...(documents ? { keys: sharedKeys(documents) } : {}),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(origins === undefined ? {} : { origins }),
  };
}

/** Lists the accepted host names: behind a proxy, that of the public URL is one of them. */
function listHosts({ hosts, oauth }: Settings, host: string): readonly string[] | undefined {
  // A server on all addresses accepts every name unless some are listed.
  if (!oauth || (hosts === undefined && !isLoopback(host))) return hosts;
  return [...(hosts ?? []), new URL(oauth.publicUrl).hostname];
}

/** Loads what issues access tokens and checks them. Throws `unsupported` if the package is not installed. */
async function loadOAuthOptions(context: CommandContext): Promise<Pick<HttpOptions, "oauth">> {
  const { oauth } = context.settings;
  if (!oauth) return {};
  const { clock } = context;
  const { loadVendorPackage } = await import("../../../config/vendor-packages.ts");
  const jose = await loadVendorPackage("jose", "KEEPSAKE_OAUTH");
  const { createJwtVerifier } = await import("../../../adapters/jose/index.ts");
  const verifier = createJwtVerifier(jose, { clock });
  const { publicUrl, external, clientHosts } = oauth;
  if (external)
    return { oauth: { publicUrl, authority: { kind: "external", ...external, verifier, clock } } };
  const { createDocumentFetcher } = await import("../../../adapters/web-documents/index.ts");
  // A host of this machine is named on purpose, to try things out.
  const fetcher = createDocumentFetcher({ allowsLoopback: clientHosts?.some(isLoopback) ?? false });
  const grants = openGrants(context);
  return { oauth: { publicUrl, authority: { kind: "own", grants, fetcher, clientHosts, verifier, clock } } };
}

/** Opens what clients were allowed, where the keys are. */
function openGrants({ path, isFile, backends: { documents } }: CommandContext): GrantStore {
  if (documents) return openSharedGrants(documents);
  return isFile ? openGrantsFile(toGrantsPath(path)) : createPassingGrants();
}

/** Gives the options for rate limits and time limits. */
function toLimitOptions({ settings, clock, backends }: CommandContext, host: string): Partial<HttpOptions> {
  const { requestMs, drainMs, stopMs = STOP_MS } = settings;
  const limits = (perMinute: number): RateLimits | undefined => {
    if (perMinute === 0) return undefined;
    const local = memoryRateLimits({ perMinute, clock });
    const shared = backends.rateLimits?.(perMinute);
    return shared ? sharedLimits(shared, local) : local;
  };
  const rateLimits = limits(settings.rateLimit ?? (isLoopback(host) ? RATE_LIMIT_HERE : RATE_LIMIT));
  const byteLimits = limits(settings.rateLimitBytes ?? RATE_LIMIT_BYTES);
  return {
    ...(rateLimits ? { rateLimits } : {}),
    ...(byteLimits ? { byteLimits } : {}),
    ...(requestMs === undefined ? {} : { requestMs }),
    ...(drainMs === undefined ? {} : { drainMs }),
    stopMs,
  };
}

/** Gives the options of the proxy for clients of OpenAI and Anthropic. */
function toProxyOptions({ settings, clock }: CommandContext): ProxyOptions {
  const { proxy, maxContextTokens: maxTokens } = settings;
  return {
    clock,
    ...proxy,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    onTrouble: (step, error) => {
      process.stderr.write(`memory failed in a chat (${step}): ${toShownError(error).message}\n`);
    },
  };
}

/** Loads the answers to MCP clients. Throws `unsupported` if the package is not installed. */
async function loadMcpEndpoint({ keepsake, clock }: CommandContext): Promise<McpEndpoint> {
  const { loadVendorPackage } = await import("../../../config/vendor-packages.ts");
  const sdk = await loadVendorPackage("@modelcontextprotocol/server", "The endpoint /mcp");
  const { createMcpHttpHandler } = await import("../../../mcp/http-handler.ts");
  const onFault = (error: unknown): void => {
    process.stderr.write(`fault in an MCP request: ${toShownError(error).message}\n`);
  };
  const { handle } = createMcpHttpHandler({ sdk, version: VERSION, clock, onFault });
  return { handle: (request, access) => handle(request, { ...access, promptGuard: keepsake.promptGuard }) };
}

/** Gives the options of the log on stderr: faults, and from the level `info` on every request. */
function toLogOptions({
  settings,
}: CommandContext): Pick<HttpOptions, "onFault" | "onAnswered" | "showsPaths"> {
  const log = createServerLog(settings);
  return {
    onFault: ({ requestId, method, error }) => {
      const { message } = toShownError(error);
      if (settings.log?.form === "json")
        log.write("error", "fault", { request_id: requestId, method, message });
      else process.stderr.write(`fault in request ${requestId}: ${message}\n`);
    },
    ...(log.isOn("info")
      ? {
          onAnswered: ({ requestId, ...answered }) =>
            log.write("info", "request", { request_id: requestId, ...answered }),
        }
      : {}),
    ...(settings.log?.showsPaths ? { showsPaths: true } : {}),
  };
}

function formatServerGreeting(
  { path, settings }: CommandContext,
  { url, firstKey, signInUrl }: Served,
): string[] {
  const page = firstKey === undefined ? `The page:  ${url}/` : `The page, signed in:  ${signInUrl}`;
  return [
    `Keepsake listens on ${url}, with ${path}.`,
    ...(firstKey === undefined ? [] : ["", `Your key, shown this once:  ${firstKey}`]),
    page,
    ...(firstKey === undefined && settings.apiKey === undefined
      ? [dimText("Lost the key? `keepsake keys create` makes another.")]
      : []),
    dimText("Press Ctrl-C to stop."),
  ];
}
