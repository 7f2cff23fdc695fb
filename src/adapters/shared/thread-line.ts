import { isMainThread, parentPort, type Worker } from "node:worker_threads";

/** The part of a thread of Node that is used here; `process-line.ts` makes a process look like one. */
export type WorkerHandle = Pick<Worker, "postMessage" | "on" | "ref" | "unref" | "terminate">;

/** What becomes of what a thread was asked: its answer; or the thread ended, before or after it was asked. */
export type WorkerOutcome<Told> =
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
export interface WorkerPort {
  onMessage(hear: (message: unknown) => void): void;
  send(message: unknown): void;
}

/** Answers what comes over a line from now on. */
export function serveOverPort<Asked, Told>(
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
