import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { constants, setPriority } from "node:os";
import { otelTracer } from "../../adapters/opentelemetry/index.ts";
import { type PrometheusMeter, prometheusMeter } from "../../adapters/prometheus/index.ts";
import type { WorkSetAside } from "../../engine/api.ts";
import { recordJobMetrics } from "../../engine/instrumentation.ts";
import { invalid, MemoryError } from "../../errors.ts";
import { EXIT, exitWithin, STOP_MS, waitForStopSignal } from "../exit.ts";
import { dimText, formatCount, formatTable } from "../printer.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../with-memory.ts";

interface WorkerCommandOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: number;
  readonly setAside?: boolean;
  readonly again?: string;
}

/** So long a database is waited for before it is said to be gone. */
const DATABASE_TIMEOUT_MS = 2000;
/** Timers of jobs hold up no end of a program; this one keeps it. */
const KEEP_ALIVE_MS = 1_000_000_000;

/** Does the work of the background, until it is told to stop; or shows what failed too often, and lets it run again. */
export async function runWorker(options: WorkerCommandOptions): Promise<void> {
  if (options.again !== undefined) return retryFailedWork(options, options.again);
  if (options.setAside) return showFailedWork(options);
  lowerPriority();
  const meter = prometheusMeter();
  const tracer = await otelTracer();
  const working = async (at: CommandContext): Promise<number> => {
    if (options.at !== undefined) throw invalid("worker takes no --at: its time is the time it is.");
    if (at.path === ":memory:")
      throw invalid("a worker has nothing to do in :memory:. Name a database with --db.");
    const stop = waitForStopSignal();
    const awake = setInterval(() => {}, KEEP_ALIVE_MS);
    const told = options.port === undefined ? undefined : await startHealthServer(at, options, meter);
    try {
      const health = told && { health: `${told.url}/health` };
      at.print.result({ database: at.path, ...health }, () => formatWorkerGreeting(at, told?.url));
      const left = (await at.keepsake.setAside()).length;
      if (left > 0)
        at.print.note(`${formatCount(left, "piece")} of work set aside: keepsake worker --set-aside`);
      const signal = await stop;
      at.print.note(`${signal}: finishing what has begun.`);
      exitWithin(at.settings.stopMs ?? STOP_MS, at.print);
      return EXIT.done;
    } finally {
      clearInterval(awake);
      await told?.close();
    }
  };
  await withMemory(options, "writes", working, { meter, jobs: "here", ...(tracer ? { tracer } : {}) });
}

/** Nobody waits for a worker. A server on the same machine answers people, and goes first. */
function lowerPriority(): void {
  for (const thread of listThreads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // Where that is not allowed, they take turns; a thread may have ended meanwhile.
    }
  }
}

/** Linux has a priority for each thread: that of the process is the main one's alone, and those that collect garbage would go first. */
function listThreads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    // Another system, where 0 is this process with all that it has.
    return [0];
  }
}

function formatWorkerGreeting(
  { path, backends: { options } }: CommandContext,
  url: string | undefined,
): string[] {
  const queue = options.queue
    ? `Work comes by ${options.queue.name}, and is looked for in the database.`
    : "Work is looked for in the database, once a minute. KEEPSAKE_QUEUE=bullmq has it come at once.";
  return [
    `Keepsake works at the jobs of ${path}.`,
    queue,
    ...(url === undefined ? [] : [`Health:  ${url}/health`]),
    dimText("Ctrl-C stops it."),
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

async function respondsInTime(asked: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, DATABASE_TIMEOUT_MS, false);
  });
  const answered = asked.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

async function showFailedWork(options: WorkerCommandOptions): Promise<void> {
  const show = async ({ keepsake, print }: CommandContext): Promise<number> => {
    const items = await keepsake.setAside();
    print.result({ items }, () => {
      if (items.length === 0) return ["Nothing was set aside."];
      return [
        ...formatTable([
          ["id", "job", "project", "user", "failed", "times", "why"],
          ...items.map(formatFailedWork),
        ]),
        "",
        dimText("keepsake worker --again ID lets one run again."),
      ];
    });
    return EXIT.done;
  };
  await withMemory(options, "checks", show, { jobs: "elsewhere" });
}

function formatFailedWork({ id, job, project, user, at, attempts, problem }: WorkSetAside): string[] {
  const minute = at.slice(0, 16).replace("T", " ");
  return [id, job, project ?? "", user ?? "(the whole run)", minute, `${attempts}`, problem];
}

async function retryFailedWork(options: WorkerCommandOptions, id: string): Promise<void> {
  const letIn = async ({ keepsake, print }: CommandContext): Promise<number> => {
    const found = await keepsake.again(id);
    print.result({ id, again: found }, () => [
      found ? "It runs again." : "Nothing of this id was set aside.",
    ]);
    return found ? EXIT.done : EXIT.nothingFound;
  };
  await withMemory(options, "checks", letIn, { jobs: "elsewhere" });
}

/** How a worker is: whether its database answers, without which it can do nothing, and its queue, without which it goes on. */
export interface WorkerHealth {
  readonly record: "ok" | "unavailable";
  readonly queue?: "ok" | "unavailable";
}

interface HealthServerOptions {
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  readonly health: () => Promise<WorkerHealth>;
  /** Prometheus' text. */
  readonly metrics: () => Promise<string>;
}

const HEADERS_MS = 5000;

/**
 * Answers `GET /health` (200, or 503 where the database does not answer) and `GET /metrics`, with nothing about anybody. Gives where
 * it listens; `unavailable` where the port is taken.
 */
export async function createHealthServer({
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
  const found = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${found}`,
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
      const message = `it cannot listen on ${host}, port ${port}. Choose another with --port.`;
      reject(new MemoryError("unavailable", message, { cause }));
    });
    server.listen(port, host, resolve);
  });
}
