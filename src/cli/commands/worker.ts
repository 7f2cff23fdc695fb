import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { otelTracer } from "../../adapters/opentelemetry/index.ts";
import { type PrometheusMeter, prometheusMeter } from "../../adapters/prometheus/index.ts";
import { gauge } from "../../engine/gauges.ts";
import type { WorkSetAside } from "../../engine/surface.ts";
import { invalid } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { type Health, healthServer } from "../health.ts";
import { dim, several, table } from "../print.ts";
import { type CommonOptions, type Working, withMemory } from "../run.ts";
import { endWithin, STOP_MS, stopped } from "../stopped.ts";

interface WorkerOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: number;
  readonly setAside?: boolean;
  readonly again?: string;
}

/** So long a database is waited for before it is said to be gone. */
const ASK_MS = 2000;
/** Timers of jobs hold up no end of a program; this one keeps it. */
const AWAKE_MS = 1_000_000_000;

/** Does the work of the background, until it is told to stop; or shows what failed too often, and lets it run again. */
export async function worker(options: WorkerOptions): Promise<void> {
  if (options.again !== undefined) return again(options, options.again);
  if (options.setAside) return showSetAside(options);
  giveWay();
  const meter = prometheusMeter();
  const tracer = await otelTracer();
  const working = async (at: Working): Promise<number> => {
    if (options.at !== undefined) throw invalid("worker takes no --at: its time is the time it is.");
    if (at.path === ":memory:")
      throw invalid("a worker has nothing to do in :memory:. Name a database with --db.");
    const stop = stopped();
    const awake = setInterval(() => {}, AWAKE_MS);
    const told = options.port === undefined ? undefined : await healthOf(at, options, meter);
    try {
      const health = told && { health: `${told.url}/health` };
      at.print.result({ database: at.path, ...health }, () => greeting(at, told?.url));
      const left = (await at.keepsake.setAside()).length;
      if (left > 0) at.print.note(`${several(left, "piece")} of work set aside: keepsake worker --set-aside`);
      const signal = await stop;
      at.print.note(`${signal}: finishing what has begun.`);
      endWithin(at.settings.stopMs ?? STOP_MS, at.print);
      return EXIT.done;
    } finally {
      clearInterval(awake);
      await told?.close();
    }
  };
  await withMemory(options, "writes", working, { meter, jobs: "here", ...(tracer ? { tracer } : {}) });
}

/** Nobody waits for a worker. A server on the same machine answers people, and goes first. */
function giveWay(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // Where that is not allowed, they take turns; a thread may have ended meanwhile.
    }
  }
}

/** Linux has a priority for each thread: that of the process is the main one's alone, and those that collect garbage would go first. */
function threads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    // Another system, where 0 is this process with all that it has.
    return [0];
  }
}

function greeting({ path, backends: { options } }: Working, url: string | undefined): string[] {
  const queue = options.queue
    ? `Work comes by ${options.queue.name}, and is looked for in the database.`
    : "Work is looked for in the database, once a minute. KEEPSAKE_QUEUE=bullmq has it come at once.";
  return [
    `Keepsake works at the jobs of ${path}.`,
    queue,
    ...(url === undefined ? [] : [`Health:  ${url}/health`]),
    dim("Ctrl-C stops it."),
  ];
}

function healthOf(
  { keepsake, memory, backends, settings }: Working,
  options: WorkerOptions,
  meter: PrometheusMeter,
) {
  const { queue } = backends.options;
  return healthServer({
    host: options.host ?? settings.host,
    port: options.port ?? 0,
    async health(): Promise<Health> {
      const [record, isUp] = await Promise.all([
        answers(memory.history(undefined, { limit: 1 })),
        queue?.isUp(),
      ]);
      return {
        record: record ? "ok" : "unavailable",
        ...(isUp === undefined ? {} : { queue: isUp ? "ok" : "unavailable" }),
      };
    },
    async metrics() {
      await gauge(keepsake, meter);
      return meter.text();
    },
  });
}

async function answers(asked: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ASK_MS, false);
  });
  const answered = asked.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

async function showSetAside(options: WorkerOptions): Promise<void> {
  const show = async ({ keepsake, print }: Working): Promise<number> => {
    const items = await keepsake.setAside();
    print.result({ items }, () => {
      if (items.length === 0) return ["Nothing was set aside."];
      return [
        ...table([["id", "job", "project", "user", "failed", "times", "why"], ...items.map(row)]),
        "",
        dim("keepsake worker --again ID lets one run again."),
      ];
    });
    return EXIT.done;
  };
  await withMemory(options, "checks", show, { jobs: "elsewhere" });
}

function row({ id, job, project, user, at, attempts, problem }: WorkSetAside): string[] {
  const minute = at.slice(0, 16).replace("T", " ");
  return [id, job, project ?? "", user ?? "(the whole run)", minute, `${attempts}`, problem];
}

async function again(options: WorkerOptions, id: string): Promise<void> {
  const letIn = async ({ keepsake, print }: Working): Promise<number> => {
    const found = await keepsake.again(id);
    print.result({ id, again: found }, () => [
      found ? "It runs again." : "Nothing of this id was set aside.",
    ]);
    return found ? EXIT.done : EXIT.nothingFound;
  };
  await withMemory(options, "checks", letIn, { jobs: "elsewhere" });
}
