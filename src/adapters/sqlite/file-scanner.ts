import { MemoryError } from "../../errors.ts";
import { processBeside } from "../shared/process-line.ts";
import { type Line, lineTo } from "../shared/thread-line.ts";
import type { ScanRequest, ScanResponse } from "./file-scan.ts";

/** How long the process waits for another scan, in ms: erasures come in groups, and a start takes 50 ms. */
const IDLE_MS = 5000;
/** A process that was killed is begun again once. */
const TRIES = 2;

type ScanLine = Line<ScanRequest, ScanResponse>;

let current: ScanLine | undefined;
let running = 0;
let idle: NodeJS.Timeout | undefined;

/**
 * Scans files in a process of its own: this one may have the database open, and would lose its locks on it (see `runScan`).
 * The event loop is free meanwhile. `unavailable` where no such process can run or the files cannot be read.
 */
export async function scanFiles(request: ScanRequest): Promise<readonly number[]> {
  clearTimeout(idle);
  running += 1;
  try {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      const { told } = await currentLine().ask(request);
      if (!told) continue;
      if ("found" in told) return told.found;
      throw new MemoryError("unavailable", `the files could not be scanned: ${told.failure}`);
    }
    throw new MemoryError(
      "unavailable",
      "the process that scans the files ended. Check that this program may start processes; the erasure is verified later.",
    );
  } finally {
    running -= 1;
    if (running === 0) endWhenIdle();
  }
}

function currentLine(): ScanLine {
  if (current) return current;
  const line: ScanLine = lineTo(
    () => processBeside(import.meta.url, "./file-scan-child", null),
    () => {
      if (current === line) current = undefined;
    },
  );
  current = line;
  return line;
}

function endWhenIdle(): void {
  const line = current;
  idle = setTimeout(() => {
    if (current === line) current = undefined;
    void line?.end();
  }, IDLE_MS);
  idle.unref();
}
