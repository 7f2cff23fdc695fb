import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { resolveWorkerScript, serveOverPort, type WorkerHandle } from "./thread-line.ts";

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
