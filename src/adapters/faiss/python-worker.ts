import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type ErrorCode, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import { createCircuitBreaker } from "../shared/model-calls/circuit-breaker.ts";
import { withTimeout } from "../shared/model-calls/remote-call.ts";

/** A worker that is started on demand, and restarted after it ended. */
interface PythonWorker {
  /** Throws `unavailable` without an answer before the deadline; the work may still be done. */
  call(header: object, body: Uint8Array | undefined, options: CallOptions): Promise<PythonFrame>;
  close(): Promise<void>;
}

/** Restarts of a failing worker get rarer, at most a minute apart. */
const RESTART_BREAKER = { place: "The FAISS worker", failures: 3, openMs: 1000, longestMs: 60_000 };

export function createPythonWorker(
  options: PythonWorkerOptions & { readonly timeoutMs: number },
): PythonWorker {
  const { timeoutMs } = options;
  const starts = createCircuitBreaker(RESTART_BREAKER);
  let worker: PythonProcess | undefined;
  let isClosed = false;

  const getWorker = (): PythonProcess => {
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
      if (isClosed) throw new MemoryError("unavailable", "The index of FAISS is closed. Open it again.");
      return withTimeout(
        getWorker().request(header, body),
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

interface PythonWorkerOptions {
  /** The interpreter: a name or a path. */
  readonly python: string;
  readonly folder: string;
  readonly memoryBytes: number;
  readonly gpu: boolean;
  /** A worker without an answer for this long is killed, in ms. */
  readonly stuckMs: number;
}

/** One process, from its start to its end. */
interface PythonProcess {
  /** Sends a request; answers come in the order of the calls. Throws `unavailable` for all open requests when the process ends. */
  request(header: object, body?: Uint8Array): Promise<PythonFrame>;
  isOver(): boolean;
  /** Lets it finish pending requests for a while, then kills it. */
  end(): Promise<void>;
  kill(): void;
}

const SCRIPT = fileURLToPath(new URL("./worker.py", import.meta.url));
/** The limit of open requests; further ones are rejected. */
const MOST_OPEN = 256;
const LAST_WORDS_MS = 2000;
const CODES: readonly ErrorCode[] = ["invalid_input", "unsupported", "unavailable"];

interface PendingFrame {
  readonly resolve: (frame: PythonFrame) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the Python program next to this file. `onAnswer` is called for each answer, `onOver` at its end. */
function startPythonProcess(
  { python, folder, memoryBytes, gpu, stuckMs }: PythonWorkerOptions,
  { onAnswer, onOver }: { readonly onAnswer: () => void; readonly onOver: () => void },
): PythonProcess {
  const pending = new Map<number, PendingFrame>();
  const ended = Promise.withResolvers<void>();
  let isOver = false;
  let endError = createEndedError();
  let last = 0;
  let watch: NodeJS.Timeout | undefined;

  // -B: no files are written next to the script. -s: no package is loaded from the user's own folder.
  const argv = ["-B", "-s", SCRIPT, folder, String(memoryBytes), ...(gpu ? ["gpu"] : [])];
  const child = spawn(python, argv, { stdio: ["pipe", "pipe", "ignore"] });
  setKeepAlive(child, false);

  const finish = (error: MemoryError): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(watch);
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    ended.resolve();
    onOver();
  };
  const giveUp = (error: MemoryError): void => {
    endError = error;
    child.kill("SIGKILL");
    finish(error);
  };
  const watchOver = (): void => {
    clearTimeout(watch);
    watch = pending.size === 0 ? undefined : setTimeout(() => giveUp(createStuckError(stuckMs)), stuckMs);
    setKeepAlive(child, pending.size > 0);
  };
  const take = ({ header, body }: PythonFrame): void => {
    const id = Number(header.id);
    const waiting = pending.get(id);
    // The first frame belongs to no request: it reports the installed packages.
    if (header.id === undefined) {
      if (header.ok !== true) giveUp(createMissingPackageError(header, python));
      return;
    }
    pending.delete(id);
    watchOver();
    onAnswer();
    if (header.ok === true) waiting?.resolve({ header, body });
    else waiting?.reject(toRefusalError(header));
  };

  const read = createFrameReader();
  child.stdout.on("data", (piece: Buffer) => {
    try {
      for (const frame of read(piece)) take(frame);
    } catch {
      giveUp(createEndedError());
    }
  });
  // A broken pipe is reported by the end of the process.
  child.stdin.on("error", () => {});
  child.on("error", () => finish(createMissingPythonError(python)));
  child.on("exit", () => finish(endError));

  return {
    isOver: () => isOver,
    request(header, body) {
      if (isOver) return Promise.reject(endError);
      if (pending.size >= MOST_OPEN) {
        return Promise.reject(new MemoryError("unavailable", "FAISS has too many open requests. Try again."));
      }
      last += 1;
      const { promise, resolve, reject } = Promise.withResolvers<PythonFrame>();
      const isFirst = pending.size === 0;
      pending.set(last, { resolve, reject });
      if (isFirst) watchOver();
      child.stdin.write(encodeFrame({ ...header, id: last }, body));
      return promise;
    },
    async end() {
      if (isOver) return;
      child.stdin.end();
      const timer = setTimeout(() => giveUp(createEndedError()), LAST_WORDS_MS);
      await ended.promise;
      clearTimeout(timer);
    },
    kill: () => giveUp(createEndedError()),
  };
}

/** The worker keeps the program running only while requests are pending. */
function setKeepAlive(child: ChildProcessByStdio<Writable, Readable, null>, isHeld: boolean): void {
  const how = isHeld ? "ref" : "unref";
  child[how]();
  for (const pipe of [child.stdin, child.stdout]) {
    if (how in pipe) (pipe as unknown as { [name in typeof how]: () => void })[how]();
  }
}

function toRefusalError(header: PythonFrame["header"]): Error {
  const code = CODES.find((one) => one === header.code);
  const message = typeof header.message === "string" ? header.message : "FAISS rejects the request.";
  return Object.assign(new MemoryError(code ?? "unavailable", message), {
    wasEmptied: header.code === "emptied",
  });
}

function createMissingPackageError({ code, message }: PythonFrame["header"], python: string): MemoryError {
  if (code === "no_gpu") {
    return new MemoryError(
      "unavailable",
      "USE_GPU is on, but FAISS finds no GPU. Install faiss-gpu-cu12, or turn USE_GPU off.",
    );
  }
  const what = typeof message === "string" ? ` (no module "${message}")` : "";
  return new MemoryError(
    "unavailable",
    `FAISS is not installed for ${python}${what}. Install it: ${python} -m pip install faiss-cpu`,
  );
}

function createMissingPythonError(python: string): MemoryError {
  return new MemoryError(
    "unavailable",
    `${python} was not found; FAISS needs it. Install Python 3, or set another interpreter.`,
  );
}

function createStuckError(ms: number): MemoryError {
  return new MemoryError(
    "unavailable",
    `The FAISS worker did not respond for ${ms} ms and was stopped. Try again.`,
  );
}

function createEndedError(): MemoryError {
  return new MemoryError("unavailable", "The FAISS worker ended. It restarts with the next call.");
}

/** A message between the program and its worker: a header, and binary data. */
export interface PythonFrame {
  readonly header: { readonly [field: string]: unknown };
  readonly body: Buffer;
}

const LENGTHS_BYTES = 8;
/** The largest accepted frame. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Two lengths (32 bits, little endian), the header as JSON, the body. */
export function encodeFrame(header: object, body: Uint8Array = new Uint8Array()): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(body.byteLength, 4);
  return Buffer.concat([lengths, text, body]);
}

/** Assembles frames from pieces. Throws `unavailable` for an invalid frame. */
export function createFrameReader(): (piece: Buffer) => PythonFrame[] {
  let pieces: Buffer[] = [];
  let length = 0;
  let wanted = LENGTHS_BYTES;
  return (piece) => {
    pieces.push(piece);
    length += piece.length;
    const frames: PythonFrame[] = [];
    while (length >= wanted) {
      const joined = pieces.length === 1 ? (pieces[0] ?? piece) : Buffer.concat(pieces);
      const headerEnd = LENGTHS_BYTES + joined.readUInt32LE(0);
      const end = headerEnd + joined.readUInt32LE(4);
      if (end > MOST_BYTES) throw createFrameError();
      pieces = [joined];
      wanted = end;
      if (length < end) break;
      frames.push({
        header: parseHeader(joined.subarray(LENGTHS_BYTES, headerEnd)),
        body: joined.subarray(headerEnd, end),
      });
      pieces = [joined.subarray(end)];
      length -= end;
      wanted = LENGTHS_BYTES;
    }
    return frames;
  };
}

function parseHeader(bytes: Buffer): PythonFrame["header"] {
  try {
    const header: unknown = JSON.parse(bytes.toString());
    if (typeof header === "object" && header !== null) return { ...header };
  } catch {
    // The content may be private, so no message quotes it.
  }
  throw createFrameError();
}

function createFrameError(): MemoryError {
  return new MemoryError("unavailable", "The FAISS worker gave an invalid answer. Try again.");
}
