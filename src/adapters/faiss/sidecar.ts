import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import { circuit } from "../shared/circuit.ts";
import { within } from "../shared/within.ts";
import type { Frame } from "./frames.ts";
import { startWorker, type Worker, type WorkerOptions } from "./worker.ts";

/** A worker that is started when it is needed, and again when it has ended. */
export interface Sidecar {
  /** `unavailable` where no answer comes within the deadline; what was asked may be done all the same. */
  call(header: object, body: Uint8Array | undefined, options: CallOptions): Promise<Frame>;
  close(): Promise<void>;
}

/** One that ends again and again is started less and less often, at most a minute apart. */
const RESTARTS = { place: "The worker of FAISS", failures: 3, openMs: 1000, longestMs: 60_000 };

export function sidecar(options: WorkerOptions & { readonly timeoutMs: number }): Sidecar {
  const { timeoutMs } = options;
  const starts = circuit(RESTARTS);
  let worker: Worker | undefined;
  let isClosed = false;

  const running = (): Worker => {
    if (worker && !worker.isOver()) return worker;
    starts.enter();
    worker = startWorker(options, {
      onAnswer: () => starts.left("well"),
      onOver: () => starts.left(isClosed ? "unknown" : "badly"),
    });
    return worker;
  };

  return {
    async call(header, body, { signal }) {
      signal?.throwIfAborted();
      if (isClosed) throw new MemoryError("unavailable", "The index of FAISS is closed. Open another.");
      return within(running().ask(header, body), timeoutMs, () => tooLate(timeoutMs), signal);
    },
    async close() {
      isClosed = true;
      await worker?.end();
      worker = undefined;
    },
  };
}

function tooLate(ms: number): MemoryError {
  return new MemoryError("unavailable", `FAISS did not answer within ${ms} ms.`);
}
