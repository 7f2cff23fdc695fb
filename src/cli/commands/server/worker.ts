import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { constants, setPriority } from "node:os";
import { otelTracer } from "../../../adapters/opentelemetry/index.ts";
import { type PrometheusMeter, prometheusMeter } from "../../../adapters/prometheus/index.ts";
import type { WorkSetAside } from "../../../engine/api/maintenance-types.ts";
import { recordJobMetrics } from "../../../engine/instrumentation.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import { EXIT, exitWithin, STOP_MS, waitForStopSignal } from "../../exit.ts";
import { createServerLog, withSpanLog } from "../../log.ts";
import { dimText, formatCount, formatTable } from "../../printer.ts";
import { describeBackends, openScheduledBackups, toWebhookOptions, watchStart } from "../../start-report.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../../with-memory.ts";

interface WorkerCommandOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: number;
  readonly quarantined?: boolean;
  readonly again?: string;
}

/** How long to wait for the database before reporting it as unavailable. */
const DATABASE_TIMEOUT_MS = 2000;
/** The timers of jobs do not keep a process alive; this one does. */
const KEEP_ALIVE_MS = 1_000_000_000;

/** Runs background jobs until a stop signal; or lists jobs that failed too often, or retries one. */
export async function runWorker(options: WorkerCommandOptions): Promise<void> {
  if (options.again !== undefined) return retryFailedWork(options, options.again);
  if (options.quarantined) return showFailedWork(options);
  const meter = prometheusMeter();
  const spans = await otelTracer();
  const runJobs = async (context: CommandContext): Promise<number> => {
    if (options.at !== undefined) throw invalid("worker does not accept --at: it uses the current time.");
    if (context.path === ":memory:")
      throw invalid("a worker cannot use :memory:. Name a database with --db.");
    const stop = waitForStopSignal();
    const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
    const watch = watchStart(context, context.print.note);
    const healthServer =
      options.port === undefined ? undefined : await startHealthServer(context, options, meter);
    try {
      const health = healthServer && { health: `${healthServer.url}/health` };
      context.print.result({ database: context.path, ...health }, () =>
        formatWorkerGreeting(context, healthServer?.url),
      );
      // Only now: a start at low priority takes ten times as long on a busy machine.
      lowerPriority();
      for (const line of describeBackends(context.settings)) context.print.note(line);
      const left = (await context.keepsake.setAside()).length;
      if (left > 0)
        context.print.note(
          `${formatCount(left, "job")} failed too often: keepsake worker --quarantined lists them`,
        );
      const signal = await stop;
      context.print.note(`${signal}: finishing work in progress.`);
      exitWithin(context.settings.stopMs ?? STOP_MS, context.print);
      return EXIT.done;
    } finally {
      clearInterval(keepAlive);
      watch.stop();
      await healthServer?.close();
    }
  };
  await withMemory(options, "writes", runJobs, async (settings) => {
    const tracer = withSpanLog(spans, createServerLog(settings));
    return {
      ...(await openScheduledBackups(settings)),
      ...toWebhookOptions(settings),
      meter,
      jobs: "here",
      ...(tracer ? { tracer } : {}),
    };
  });
}

/** Lowers the priority of this process: a server on the same machine answers people, so it goes first. */
function lowerPriority(): void {
  for (const thread of listThreads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // Not allowed here, or the thread has ended: keep the normal priority.
    }
  }
}

/** Gives the ids of all threads. On Linux each thread has its own priority, so setting that of the process covers only the main thread. */
function listThreads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    // On other systems, 0 means the whole process.
    return [0];
  }
}

function formatWorkerGreeting(
  { path, backends: { options } }: CommandContext,
  url: string | undefined,
): string[] {
  const queue = options.queue
    ? `Jobs arrive by ${options.queue.name}; the database is checked too.`
    : "Checking the database for jobs once a minute. With KEEPSAKE_QUEUE=bullmq, jobs arrive at once.";
  return [
    `Keepsake runs the jobs of ${path}.`,
    queue,
    ...(url === undefined ? [] : [`Health:  ${url}/health`]),
    dimText("Press Ctrl-C to stop."),
  ];
}

function startHealthServer(
  { keepsake, memory, backends, settings }: CommandContext,
  options: WorkerCommandOptions,
  meter: PrometheusMeter,
) {
  const { queue } = backends.options;
  return createHealthServer({
    host: options.host ?? settings.host,
    port: options.port ?? 0,
    async health(): Promise<WorkerHealth> {
      const [record, isUp] = await Promise.all([
        respondsInTime(memory.history(undefined, { limit: 1 })),
        queue?.isUp(),
      ]);
      return {
        record: record ? "ok" : "unavailable",
        ...(isUp === undefined ? {} : { queue: isUp ? "ok" : "unavailable" }),
      };
    },
    async metrics() {
      await recordJobMetrics(keepsake, meter);
      return meter.text();
    },
  });
}

async function respondsInTime(request: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, DATABASE_TIMEOUT_MS, false);
  });
  const response = request.then(
    () => true,
    () => false,
  );
  return Promise.race([response, timeout]).finally(() => clearTimeout(timer));
}

async function showFailedWork(options: WorkerCommandOptions): Promise<void> {
  const show = async ({ keepsake, print }: CommandContext): Promise<number> => {
    const items = await keepsake.setAside();
    print.result({ items }, () => {
      if (items.length === 0) return ["No failed jobs."];
      return [
        ...formatTable([
          ["id", "job", "project", "user", "failed", "times", "reason"],
          ...items.map(formatFailedWork),
        ]),
        "",
        dimText("keepsake worker --again ID retries a job."),
      ];
    });
    return EXIT.done;
  };
  await withMemory(options, "checks", show, () => ({ jobs: "elsewhere" }));
}

function formatFailedWork({ id, job, project, user, at, attempts, problem }: WorkSetAside): string[] {
  const minute = at.slice(0, 16).replace("T", " ");
  return [id, job, project ?? "", user ?? "(the whole run)", minute, `${attempts}`, problem];
}

async function retryFailedWork(options: WorkerCommandOptions, id: string): Promise<void> {
  const retry = async ({ keepsake, print }: CommandContext): Promise<number> => {
    const isFound = await keepsake.again(id);
    print.result({ id, again: isFound }, () => [
      isFound ? "The job will run again." : "No failed job has this id.",
    ]);
    return isFound ? EXIT.done : EXIT.nothingFound;
  };
  await withMemory(options, "checks", retry, () => ({ jobs: "elsewhere" }));
}

/** The health of a worker. It cannot work without its database; without its queue it still can. */
interface WorkerHealth {
  readonly record: "ok" | "unavailable";
  readonly queue?: "ok" | "unavailable";
}

interface HealthServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly health: () => Promise<WorkerHealth>;
  /** Gives metrics in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
}

const HEADERS_MS = 5000;

/**
 * Starts a server for `GET /health` (200, or 503 if the database does not answer) and `GET /metrics`, without data about
 * users. Gives its URL. Throws `unavailable` if the port is taken.
 */
async function createHealthServer({
  host,
  port,
  health,
  metrics,
}: HealthServerOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  const answer = async (path: string): Promise<{ status: number; type: string; body: string }> => {
    if (path === "/metrics") {
      return { status: 200, type: "text/plain; version=0.0.4", body: await metrics() };
    }
    if (path !== "/health") return { status: 404, type: "application/json", body: '{"error":"not found"}\n' };
    const { record, ...rest } = await health();
    const status = record === "ok" ? 200 : 503;
    const body = { status: status === 200 ? "ok" : "unavailable", record, ...rest };
    return { status, type: "application/json", body: `${JSON.stringify(body)}\n` };
  };
  const server = createServer({ headersTimeout: HEADERS_MS }, (request, response) => {
    const path = request.method === "GET" ? (request.url ?? "").split("?")[0] : "";
    answer(path ?? "").then(
      ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await startListening(server, host, port);
  const address = server.address();
  const boundPort = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      const message = `cannot listen on ${host}, port ${port}. Choose another port with --port.`;
      reject(new MemoryError("unavailable", message, { cause }));
    });
    server.listen(port, host, resolve);
  });
}
