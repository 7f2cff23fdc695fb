// Loaded with --import before a program: appends what its process holds to a file, once an interval and at each SIGUSR2.
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createHistogram, monitorEventLoopDelay, type RecordableHistogram } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

/** What a process held at a moment. Memory in bytes, delays of the event loop in milliseconds. */
export interface ProcessSample {
  readonly role: "server" | "idle";
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly isMark: boolean;
  readonly heapUsed: number;
  readonly rss: number;
  /** Of the resident memory, what is no page of a file: pages of a file are given back whenever another program needs the room. */
  readonly anonymous: number;
  readonly external: number;
  /** Open descriptors that are no sockets, and those that are. */
  readonly files: number;
  readonly sockets: number;
  /** How many descriptors are open of each kind or file, sockets aside. */
  readonly opened: { readonly [target: string]: number };
  /** Since the last sample. */
  readonly loop: LoopDelay;
  /** Since the last mark. */
  readonly loopSinceMark: LoopDelay;
  /**
   * Time of the processor that the main thread used between two looks 10 ms apart, since the last mark: how long the program held
   * the loop itself. On a machine that others use, the delay counts the others, too.
   */
  readonly heldSinceMark: LoopDelay;
}

export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const { SOAK_ROLE, SOAK_SAMPLES, SOAK_INTERVAL_MS, SOAK_MUTANT } = process.env;
/** The processes and threads that the server starts inherit what is loaded before it. */
const isSampled = isMainThread && (SOAK_ROLE === "idle" || process.argv.includes("serve"));

if (isSampled && SOAK_SAMPLES !== undefined) watchProcess(SOAK_SAMPLES, Number(SOAK_INTERVAL_MS));
if (isSampled && SOAK_MUTANT === "leak") leakByRequest();

function watchProcess(file: string, intervalMs: number): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const interval = monitorEventLoopDelay({ resolution: 10 });
  const sinceMark = monitorEventLoopDelay({ resolution: 10 });
  const held = createHistogram();
  let used = mainThreadMicroseconds();
  setInterval(() => {
    const now = mainThreadMicroseconds();
    held.record(Math.max(1, Math.round((now - used) * 1000)));
    used = now;
  }, 10).unref();
  const sample = (isMark: boolean): void => {
    interval.disable();
    sinceMark.disable();
    const loop = delaysOf(interval);
    const loopSinceMark = delaysOf(sinceMark);
    const heldSinceMark = delaysOf(held);
    // This collection is the monitor's doing: its pause does not count.
    collect();
    const { heapUsed, rss, external } = process.memoryUsage();
    const role = SOAK_ROLE === "idle" ? "idle" : "server";
    const memory = { heapUsed, rss, anonymous: anonymousBytes(), external };
    const taken = { role, at: Date.now(), isMark, ...memory, ...descriptors() } as const;
    const line: ProcessSample = { ...taken, loop, loopSinceMark, heldSinceMark };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    interval.reset();
    if (isMark) {
      sinceMark.reset();
      held.reset();
    }
    used = mainThreadMicroseconds();
    interval.enable();
    sinceMark.enable();
  };
  interval.enable();
  sinceMark.enable();
  setInterval(() => sample(false), intervalMs).unref();
  process.on("SIGUSR2", () => sample(true));
}

function mainThreadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function delaysOf(histogram: Pick<RecordableHistogram, "percentile" | "max">): LoopDelay {
  const milliseconds = (nanoseconds: number): number => Math.round(nanoseconds / 1e4) / 100;
  return {
    p50: milliseconds(histogram.percentile(50)),
    p99: milliseconds(histogram.percentile(99)),
    max: milliseconds(histogram.max),
  };
}

function anonymousBytes(): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

function descriptors(): Pick<ProcessSample, "files" | "sockets" | "opened"> {
  let files = 0;
  let sockets = 0;
  const opened: { [target: string]: number } = {};
  for (const descriptor of readdirSync("/proc/self/fd")) {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`).replace(/:?\[\d+\]$/, "");
      if (target === "socket") {
        sockets += 1;
        continue;
      }
      files += 1;
      opened[target] = (opened[target] ?? 0) + 1;
    } catch {
      // The descriptor by which the folder itself was read is closed again.
    }
  }
  return { files, sockets, opened };
}

/** The planted fault: a map that is never cleared. */
function leakByRequest(): void {
  const seen = new Map<number, string>();
  subscribe("http.server.request.start", () => {
    const key = seen.size;
    seen.set(key, String.fromCharCode(97 + (key % 26)).repeat(2000) + key.toString());
  });
}
