import { setFlagsFromString } from "node:v8";
import { memoryRateLimits } from "../../adapters/memory/rate-limits.ts";
import { otelTracer } from "../../adapters/opentelemetry/index.ts";
import { type PrometheusMeter, prometheusMeter } from "../../adapters/prometheus/index.ts";
import { getGarbageCollectorFlags } from "../../adapters/shared/worker-channel.ts";
import { describeExtractor } from "../../config/memory-from-settings.ts";
import { chooseYoungMegabytes } from "../../config/node-tuning.ts";
import { recordJobMetrics } from "../../engine/instrumentation.ts";
import { invalid } from "../../errors.ts";
import {
  type ServeOptions as HttpOptions,
  isLoopback,
  keysPathOf,
  type ProxyOptions,
  type Served,
  serve,
  sharedKeys,
  sharedLimits,
} from "../../http/index.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import { EXIT, exitWithin, STOP_MS, toShownError, waitForStopSignal } from "../exit.ts";
import { dimText, formatCount } from "../printer.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../with-memory.ts";

/** Requests of one key in a minute where others can reach the server: far more than a person makes, and no flood. */
const RATE_LIMIT = 6000;
/** The same where only this machine's programs get in: a thousand a second, so that a loop gone wild is stopped. */
const RATE_LIMIT_HERE = 60_000;
/** Bytes of one key's bodies in a minute: two of the longest imports. */
const RATE_LIMIT_BYTES = 536_870_912;

/** Why the server ends by itself: what it wrote may be lost, and only a new process knows what is there. */
const DISK_FAILED = "The disk failed to make a change durable";

interface ServeCommandOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: number;
}

/** The server, until it is told to stop; what it has begun then is finished. */
export async function runServe(options: ServeCommandOptions): Promise<void> {
  for (const word of [`--max-semi-space-size=${chooseYoungMegabytes()}`, ...getGarbageCollectorFlags()])
    setFlagsFromString(word);
  const meter = prometheusMeter();
  const tracer = await otelTracer();
  const traces = tracer ? { tracer } : {};
  const failed = Promise.withResolvers<typeof DISK_FAILED>();
  const serving = async (working: CommandContext): Promise<number> => {
    if (options.at !== undefined) throw invalid("serve takes no --at: its time is the time it is.");
    const { keepsake, settings, print, clock } = working;
    const host = options.host ?? settings.host;
    // Before anything is said: whoever reads that it listens may stop it at once.
    const stop = waitForStopSignal();
    const served = await serve({
      keepsake,
      clock,
      host,
      port: options.port ?? settings.port,
      ...toAccessOptions(working),
      ...toLimitOptions(working, host),
      ...toLogOptions(working),
      proxy: toProxyOptions(working),
      ...toMetricsOptions(working, meter),
      ...traces,
    });
    const { url, firstKey, signInUrl } = served;
    const first = firstKey === undefined ? {} : { key: firstKey, signInUrl };
    print.result({ url, ...first }, () => formatServerGreeting(working, served));
    print.note(describeExtractor(settings.model));
    if (!isLoopback(host)) {
      print.note(
        "Others can reach it, and nothing is encrypted on the way: put a server with TLS before it.",
      );
    }
    const { left, space } = await keepsake.embedding();
    if (left > 0) {
      print.note(`${formatCount(left, "text")} to be embedded by ${space}; searches go on meanwhile.`);
    }
    const reason = await Promise.race([stop, failed.promise]);
    print.note(`${reason}: finishing what has begun.`);
    exitWithin((settings.drainMs ?? 0) + (settings.stopMs ?? STOP_MS), print);
    await served.close();
    return reason === DISK_FAILED ? EXIT.diskFailed : EXIT.done;
  };
  const onSyncFailure = () => failed.resolve(DISK_FAILED);
  await withMemory(options, "writes", serving, { meter, ...traces, inThreads: true, onSyncFailure });
}

/** What is counted, and who may read it. */
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

/** By which keys, and under which names. */
function toAccessOptions({
  path,
  isFile,
  settings,
  backends: { documents },
}: CommandContext): Partial<HttpOptions> {
  const { apiKey, hosts, origins } = settings;
  return {
    ...(isFile ? { keysPath: keysPathOf(path) } : {}),
    ...(documents ? { keys: sharedKeys(documents) } : {}),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(origins === undefined ? {} : { origins }),
  };
}

/** How often each key may ask, and how long a request may take. */
function toLimitOptions({ settings, clock, backends }: CommandContext, host: string): Partial<HttpOptions> {
  const { requestMs, drainMs, stopMs = STOP_MS } = settings;
  const limits = (perMinute: number): RateLimits | undefined => {
    if (perMinute === 0) return undefined;
    const own = memoryRateLimits({ perMinute, clock });
    const shared = backends.rateLimits?.(perMinute);
    return shared ? sharedLimits(shared, own) : own;
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

/** Where conversations in OpenAI's protocol go. */
function toProxyOptions({ settings, clock }: CommandContext): ProxyOptions {
  const { proxy, maxContextTokens: maxTokens } = settings;
  return {
    clock,
    ...proxy,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    onTrouble: (step, error) => {
      process.stderr.write(`memory failed a chat (${step}): ${toShownError(error).message}\n`);
    },
  };
}

/** What goes to stderr: faults, and where it is asked for every request, as lines of JSON. */
function toLogOptions({ settings, clock }: CommandContext): Pick<HttpOptions, "onFault" | "onAnswered"> {
  const line = (fields: object): void => {
    process.stderr.write(`${JSON.stringify({ at: clock().toISOString(), ...fields })}\n`);
  };
  if (settings.log !== "json") {
    return {
      onFault: ({ requestId, error }) => {
        process.stderr.write(`fault in request ${requestId}: ${toShownError(error).message}\n`);
      },
    };
  }
  return {
    onFault: ({ requestId, method, error }) =>
      line({ event: "fault", request_id: requestId, method, message: toShownError(error).message }),
    onAnswered: ({ requestId, ...answered }) =>
      line({ event: "request", request_id: requestId, ...answered }),
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
      ? [dimText("Lost the key? `keepsake keys create` makes another, beside this.")]
      : []),
    dimText("Ctrl-C stops it."),
  ];
}
