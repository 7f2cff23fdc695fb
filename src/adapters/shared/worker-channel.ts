import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, type Worker } from "node:worker_threads";

/** The part of a Node worker thread that is used here; `forkWorkerProcess` gives a process the same interface. */
export type WorkerHandle = Pick<Worker, "postMessage" | "on" | "ref" | "unref" | "terminate">;

/** The outcome of a request: its answer, or that the thread ended before or after it received the request. */
type WorkerOutcome<Told> =
  | { readonly told: Told }
  | { readonly told?: undefined; readonly ended: "before" | "after" };

/** A channel to a thread that answers several requests at once. */
export interface WorkerChannel<Asked, Told> {
  request(asked: Asked): Promise<WorkerOutcome<Told>>;
  /** Terminates the thread. */
  close(): Promise<void>;
}

interface WorkerRequest<Asked> {
  readonly number: number;
  readonly payload: Asked;
}

/** The thread sends "ready" first, unasked. */
type WorkerReply<Told> = "ready" | { readonly number: number; readonly told: Told };

/** Starts a thread whose program calls `serveInThread`. It keeps the program alive only while a request is pending. */
export function openWorkerChannel<Asked, Told>(
  begin: () => WorkerHandle,
  onEnd: () => void = () => {},
): WorkerChannel<Asked, Told> {
  const waiting = new Map<number, (outcome: WorkerOutcome<Told>) => void>();
  const ready = Promise.withResolvers<void>();
  let number = 0;
  let isOver = false;
  let pendingRequests = 0;
  const thread = begin();
  const need = (more: 1 | -1): void => {
    pendingRequests += more;
    if (pendingRequests === 0) thread.unref();
    else thread.ref();
  };
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    ready.resolve();
    for (const answer of waiting.values()) answer({ ended: "after" });
    waiting.clear();
    onEnd();
  };
  thread.on("message", (answer: WorkerReply<Told>) => {
    if (answer === "ready") return ready.resolve();
    waiting.get(answer.number)?.({ told: answer.told });
    waiting.delete(answer.number);
  });
  thread.on("error", over);
  thread.on("exit", over);
  // After the listeners, because adding one refs the thread again.
  thread.unref();
  return {
    async request(asked) {
      need(1);
      try {
        await ready.promise;
        if (isOver) return { ended: "before" };
        number += 1;
        const id = number;
        const outcome = new Promise<WorkerOutcome<Told>>((resolve) => waiting.set(id, resolve));
        thread.postMessage({ number: id, payload: asked } satisfies WorkerRequest<Asked>);
        return await outcome;
      } finally {
        need(-1);
      }
    },
    async close() {
      await thread.terminate();
      over();
    },
  };
}

/** In a thread: answers all requests from now on. */
export function serveInThread<Asked, Told>(answer: (asked: Asked) => Promise<Told>): void {
  if (isMainThread || !parentPort) return;
  const port = parentPort;
  serveOverPort(
    {
      onMessage: (listener) => void port.on("message", listener),
      send: (message) => port.postMessage(message),
    },
    answer,
  );
}

/** The answering end of a channel. */
interface WorkerPort {
  onMessage(listener: (message: unknown) => void): void;
  send(message: unknown): void;
}

/** Answers all requests that arrive over a port from now on. */
function serveOverPort<Asked, Told>(
  { onMessage, send }: WorkerPort,
  answer: (asked: Asked) => Promise<Told>,
): void {
  onMessage(async (message) => {
    const { number, payload } = message as WorkerRequest<Asked>;
    send({ number, told: await answer(payload) } satisfies WorkerReply<Told>);
  });
  send("ready" satisfies WorkerReply<Told>);
}

/** The program of a worker next to a module: compiled, or as source. */
export function resolveWorkerScript(module: string, name: string): URL {
  return new URL(`${name}${module.endsWith(".ts") ? ".ts" : ".js"}`, module);
}

/** How long a process may take to end after it was asked to, in ms. */
const END_MS = 2000;

/**
 * Starts a process with the named program next to a module, with `words` as options for Node, and gives it the interface of
 * a thread. It shares no memory with this process. If it ends for any reason, this process continues. It ends with this one.
 */
export function forkWorkerProcess(
  module: string,
  program: string,
  data: unknown,
  words: readonly string[] = [],
): WorkerHandle {
  // Loaded with the first process, so that importing the library costs nothing.
  const { fork } = process.getBuiltinModule("node:child_process");
  const child = fork(resolveWorkerScript(module, program), [JSON.stringify(data)], {
    // Sends typed arrays without converting them.
    serialization: "advanced",
    // Inherit no options of this process, such as a profiler or a debugger port.
    execArgv: [...words],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return {
    postMessage(message: object) {
      // Ignore errors: the "exit" event reports that the process is gone.
      child.send(message, () => {});
    },
    on: child.on.bind(child) as unknown as WorkerHandle["on"],
    ref() {
      child.ref();
      child.channel?.ref();
    },
    unref() {
      child.unref();
      child.channel?.unref();
    },
    terminate: () => terminateProcess(child),
  };
}

/** Disconnects the process, which makes it exit, and kills it if it does not. */
async function terminateProcess(child: ChildProcess): Promise<number> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? 0;
  child.ref();
  const gone = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 0)));
  const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
  if (child.connected) child.disconnect();
  const code = await gone;
  clearTimeout(late);
  return code;
}

/** In a process: the data it was started with. */
export function readProcessInput(): unknown {
  return JSON.parse(process.argv[2] ?? "null");
}

/** In a process: answers all requests from now on, until the parent disconnects or is gone. */
export function serveInProcess<Asked, Told>(answer: (asked: Asked) => Promise<Told>): void {
  // A signal from a terminal reaches all processes of a server. The parent decides when this one ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  serveOverPort(
    {
      onMessage: (listener) => void process.on("message", listener),
      send: (message) => void process.send?.(message, undefined, undefined, () => {}),
    },
    answer,
  );
}

/**
 * How many extra processes can run beside this one and its threads: two fewer than there are processors, and at most `most`.
 * On two processors it is one, because the threads leave most of the second processor free.
 */
export function countSpareProcesses(most: number): number {
  const processors = availableParallelism();
  return processors < 2 ? 0 : Math.min(most, Math.max(1, processors - 2));
}

/**
 * V8 options for a process with many arrays outside its heap (vectors, search columns). By default, V8 13.6 (Node 24) starts a
 * full collection whenever such memory grew by 64 MB. Each new array then adds marking work, up to 15 ms at a time.
 * The option counts this memory with the rest of the heap. Later versions may not know the option and would print a warning.
 */
export function getGarbageCollectorFlags(): readonly string[] {
  return /^13\.6\./.test(process.versions.v8) ? ["--external-memory-accounted-in-global-limit"] : [];
}
