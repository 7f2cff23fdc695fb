import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import { createCircuitBreaker } from "../shared/circuit.ts";
import { withTimeout } from "../shared/within.ts";
import type { PythonFrame } from "./frames.ts";
import { type PythonProcess, type PythonWorkerOptions, startPythonProcess } from "./worker.ts";

/** A worker that is started when it is needed, and again when it has ended. */
export interface PythonWorker {
  /** `unavailable` where no answer comes within the deadline; what was asked may be done all the same. */
  call(header: object, body: Uint8Array | undefined, options: CallOptions): Promise<PythonFrame>;
  close(): Promise<void>;
}

/** One that ends again and again is started less and less often, at most a minute apart. */
const RESTART_BREAKER = { place: "The worker of FAISS", failures: 3, openMs: 1000, longestMs: 60_000 };

export function createPythonWorker(
  options: PythonWorkerOptions & { readonly timeoutMs: number },
): PythonWorker {
  const { timeoutMs } = options;
  const starts = createCircuitBreaker(RESTART_BREAKER);
  let worker: PythonProcess | undefined;
  let isClosed = false;

  const running = (): PythonProcess => {
    if (worker && !worker.isOver()) return worker;
    starts.enter();
    worker = startPythonProcess(options, {
      onAnswer: () => starts.recordOutcome("well"),
      onOver: () => starts.recordOutcome(isClosed ? "unknown" : "badly"),
    });
    return worker;
  };

  return {
    async call(header, body, { signal }) {
      signal?.throwIfAborted();
      if (isClosed) throw new MemoryError("unavailable", "The index of FAISS is closed. Open another.");
      return withTimeout(
        running().request(header, body),
        timeoutMs,
        () => createTimeoutError(timeoutMs),
        signal,
      );
    },
    async close() {
      isClosed = true;
      await worker?.end();
      worker = undefined;
    },
  };
}

function createTimeoutError(ms: number): MemoryError {
  return new MemoryError("unavailable", `FAISS did not answer within ${ms} ms.`);
}
