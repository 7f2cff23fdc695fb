import { MemoryError } from "../../errors.ts";
import { forkWorkerProcess } from "../shared/process-line.ts";
import { openWorkerChannel, type WorkerChannel } from "../shared/thread-line.ts";
import type { ScanRequest, ScanResponse } from "./file-scan.ts";

/** How long the process waits for another scan, in ms: erasures come in groups, and a start takes 50 ms. */
const IDLE_MS = 5000;
/** A process that was killed is begun again once. */
const MAX_SCAN_ATTEMPTS = 2;

type ScanChannel = WorkerChannel<ScanRequest, ScanResponse>;

let activeChannel: ScanChannel | undefined;
let isScanning = false;
let idleTimer: NodeJS.Timeout | undefined;

interface WaitingScan {
  readonly request: ScanRequest;
  readonly answer: PromiseWithResolvers<readonly number[]>;
}

/** Texts of one scan; one request alone may have more. */
const MAX_TEXTS_PER_SCAN = 2000;

let waitingScans: WaitingScan[] = [];

/**
 * Scans files in a process of its own: this one may have the database open, and would lose its locks on it (see `runScan`).
 * The event loop is free meanwhile. What waits while another scan runs is looked for in one scan, so that many erasures at once do not
 * queue up. Gives a number for each text. `unavailable` where no such process can run or the files cannot be read.
 */
export function scanFiles(request: ScanRequest): Promise<readonly number[]> {
  const answer = Promise.withResolvers<readonly number[]>();
  waitingScans.push({ request, answer });
  if (!isScanning) void scanWaiting();
  return answer.promise;
}

async function scanWaiting(): Promise<void> {
  clearTimeout(idleTimer);
  isScanning = true;
  for (let batch = takeNextBatch(); batch.length > 0; batch = takeNextBatch()) {
    const [first] = batch;
    const texts = batch.flatMap(({ request }) => request.texts);
    try {
      const found = first ? await scanOnce({ ...first.request, texts }) : [];
      let from = 0;
      for (const { request, answer } of batch) {
        answer.resolve(found.slice(from, from + request.texts.length));
        from += request.texts.length;
      }
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
    }
  }
  isScanning = false;
  endWhenIdle();
}

/** Takes the first that waits, and others that look into the same files in the same way. */
function takeNextBatch(): WaitingScan[] {
  const [first] = waitingScans;
  if (!first) return [];
  const batch: WaitingScan[] = [];
  const rest: WaitingScan[] = [];
  const key = toFilesKey(first.request);
  let texts = 0;
  for (const one of waitingScans) {
    texts += one.request.texts.length;
    const isTaken = one === first || (texts <= MAX_TEXTS_PER_SCAN && toFilesKey(one.request) === key);
    (isTaken ? batch : rest).push(one);
  }
  waitingScans = rest;
  return batch;
}

function toFilesKey({ texts: _texts, ...where }: ScanRequest): string {
  return JSON.stringify(where);
}

async function scanOnce(request: ScanRequest): Promise<readonly number[]> {
  for (let attempt = 1; attempt <= MAX_SCAN_ATTEMPTS; attempt += 1) {
    const { told } = await getChannel().request(request);
    if (!told) continue;
    if ("found" in told) return told.found;
    throw new MemoryError("unavailable", `the files could not be scanned: ${told.failure}`);
  }
  throw new MemoryError(
    "unavailable",
    "the process that scans the files ended. Check that this program may start processes; the erasure is verified later.",
  );
}

function getChannel(): ScanChannel {
  if (activeChannel) return activeChannel;
  const line: ScanChannel = openWorkerChannel(
    () => forkWorkerProcess(import.meta.url, "./file-scan-child", null),
    () => {
      if (activeChannel === line) activeChannel = undefined;
    },
  );
  activeChannel = line;
  return line;
}

function endWhenIdle(): void {
  const line = activeChannel;
  idleTimer = setTimeout(() => {
    if (activeChannel === line) activeChannel = undefined;
    void line?.close();
  }, IDLE_MS);
  idleTimer.unref();
}
