import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, type Worker } from "node:worker_threads";

/** The part of a thread of Node that is used here; `forkWorkerProcess` makes a process look like one. */
export type WorkerHandle = Pick<Worker, "postMessage" | "on" | "ref" | "unref" | "terminate">;

/** What becomes of what a thread was asked: its answer; or the thread ended, before or after it was asked. */
type WorkerOutcome<Told> =
  | { readonly told: Told }
  | { readonly told?: undefined; readonly ended: "before" | "after" };

/** A thread that is asked, several things at once, and answers each. */
export interface WorkerChannel<Asked, Told> {
  request(asked: Asked): Promise<WorkerOutcome<Told>>;
  /** Ends the thread. */
  close(): Promise<void>;
}

interface WorkerRequest<Asked> {
  readonly number: number;
  readonly payload: Asked;
}

/** "ready" comes first, of itself. */
type WorkerReply<Told> = "ready" | { readonly number: number; readonly told: Told };

/** Begins a thread whose program calls `answering`. It holds up no end of the program but while somebody waits for it. */
export function openWorkerChannel<Asked, Told>(
  begin: () => WorkerHandle,
  onEnd: () => void = () => {},
): WorkerChannel<Asked, Told> {
  const waiting = new Map<number, (outcome: WorkerOutcome<Told>) => void>();
  const ready = Promise.withResolvers<void>();
  let number = 0;
  let isOver = false;
  let inNeed = 0;
  const thread = begin();
  const need = (more: 1 | -1): void => {
    inNeed += more;
    if (inNeed === 0) thread.unref();
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
  // After these: to listen makes it count again.
  thread.unref();
  return {
    async request(asked) {
      need(1);
      try {
        await ready.promise;
        if (isOver) return { ended: "before" };
        number += 1;
        const own = number;
        const outcome = new Promise<WorkerOutcome<Told>>((resolve) => waiting.set(own, resolve));
        thread.postMessage({ number: own, payload: asked } satisfies WorkerRequest<Asked>);
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

/** In a thread: answers what it is asked from now on. */
export function serveInThread<Asked, Told>(answer: (asked: Asked) => Promise<Told>): void {
  if (isMainThread || !parentPort) return;
  const port = parentPort;
  serveOverPort(
    { onMessage: (hear) => void port.on("message", hear), send: (message) => port.postMessage(message) },
    answer,
  );
}

/** The end of a line where the answers are given. */
interface WorkerPort {
  onMessage(hear: (message: unknown) => void): void;
  send(message: unknown): void;
}

/** Answers what comes over a line from now on. */
function serveOverPort<Asked, Told>(
  { onMessage: hear, send: tell }: WorkerPort,
  answer: (asked: Asked) => Promise<Told>,
): void {
  hear(async (message) => {
    const { number, payload: asked } = message as WorkerRequest<Asked>;
    tell({ number, told: await answer(asked) } satisfies WorkerReply<Told>);
  });
  tell("ready" satisfies WorkerReply<Told>);
}

/** The program of a thread beside a module: as it is compiled, or as it stands in the source. */
export function resolveWorkerScript(module: string, name: string): URL {
  return new URL(`${name}${module.endsWith(".ts") ? ".ts" : ".js"}`, module);
}

/** How long a process that was told to end may take, in ms. */
const END_MS = 2000;

/**
 * Begins a process with the program of a name beside a module, and `words` for Node before it, and has it look like a thread.
 * It shares no memory with this one, and where it ends, whatever the reason, this one goes on. It ends with this one.
 */
export function forkWorkerProcess(
  module: string,
  program: string,
  data: unknown,
  words: readonly string[] = [],
): WorkerHandle {
  // Loaded with the first process: a program that only imports the library starts none.
  const { fork } = process.getBuiltinModule("node:child_process");
  const child = fork(resolveWorkerScript(module, program), [JSON.stringify(data)], {
    // Typed arrays go over as they are.
    serialization: "advanced",
    // None of this one's own: a profile, a port of a debugger.
    execArgv: [...words],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return {
    postMessage(message: object) {
      // That it is gone, "exit" says.
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

/** Lets go of the line, at which the process ends by itself, and sees to it that it does. */
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

/** In a process: what it was begun with. */
export function readProcessInput(): unknown {
  return JSON.parse(process.argv[2] ?? "null");
}

/** In a process: answers what it is asked from now on, until the one that began it lets go, or is gone. */
export function serveInProcess<Asked, Told>(answer: (asked: Asked) => Promise<Told>): void {
  // Who stops a server from a terminal tells all of its processes; when this one ends is for that one to say.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  serveOverPort(
    {
      onMessage: (hear) => void process.on("message", hear),
      send: (message) => void process.send?.(message, undefined, undefined, () => {}),
    },
    answer,
  );
}

/**
 * How many processes can be at work beside this one and its threads: two less than there are processors, and at most so many. On
 * two processors one, for the threads leave most of the second to it.
 */
export function countSpareProcesses(most: number): number {
  const processors = availableParallelism();
  return processors < 2 ? 0 : Math.min(most, Math.max(1, processors - 2));
}

/**
 * Words for V8 that a process with many arrays beside its heap (vectors, search columns) is to run with. By itself V8 13.6, that of
 * Node 24, begins to collect everything whenever such memory has grown by 64 MB, and then has each new array mark a little, up
 * to 15 ms at a time. This has it weighed with the rest of the heap. Later versions may not know the word, and would say so.
 */
export function getGarbageCollectorFlags(): readonly string[] {
  return /^13\.6\./.test(process.versions.v8) ? ["--external-memory-accounted-in-global-limit"] : [];
}
