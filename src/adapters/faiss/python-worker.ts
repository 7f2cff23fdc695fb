import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type ErrorCode, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import { createCircuitBreaker } from "../shared/circuit-breaker.ts";
import { withTimeout } from "../shared/remote-call.ts";

/** A worker that is started when it is needed, and again when it has ended. */
interface PythonWorker {
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

interface PythonWorkerOptions {
  /** The interpreter: a name, or a path. */
  readonly python: string;
  readonly folder: string;
  readonly memoryBytes: number;
  readonly gpu: boolean;
  /** A worker that answers nothing for so long is ended, in ms. */
  readonly stuckMs: number;
}

/** One process, from its start to its end. */
interface PythonProcess {
  /** Asks; answers come in the order of the calls. `unavailable` for all that is open when the process ends. */
  request(header: object, body?: Uint8Array): Promise<PythonFrame>;
  isOver(): boolean;
  /** Lets it finish what it was asked, for a while; then it is ended. */
  end(): Promise<void>;
  kill(): void;
}

const SCRIPT = fileURLToPath(new URL("./worker.py", import.meta.url));
/** Somebody who asks so much at once is told to wait. */
const MOST_OPEN = 256;
const LAST_WORDS_MS = 2000;
const CODES: readonly ErrorCode[] = ["invalid_input", "unsupported", "unavailable"];

interface PendingFrame {
  readonly resolve: (frame: PythonFrame) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the Python program beside this file. `onAnswer` is told of each answer, `onOver` of its end. */
function startPythonProcess(
  { python, folder, memoryBytes, gpu, stuckMs }: PythonWorkerOptions,
  { onAnswer, onOver }: { readonly onAnswer: () => void; readonly onOver: () => void },
): PythonProcess {
  const open = new Map<number, PendingFrame>();
  const over = Promise.withResolvers<void>();
  let isOver = false;
  let why = createEndedError();
  let last = 0;
  let watch: NodeJS.Timeout | undefined;

  // -B: nothing is written beside the script. -s: nothing of the user's own folder is loaded in place of a package.
  const argv = ["-B", "-s", SCRIPT, folder, String(memoryBytes), ...(gpu ? ["gpu"] : [])];
  const child = spawn(python, argv, { stdio: ["pipe", "pipe", "ignore"] });
  setKeepAlive(child, false);

  const finish = (error: MemoryError): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(watch);
    for (const { reject } of open.values()) reject(error);
    open.clear();
    over.resolve();
    onOver();
  };
  const giveUp = (error: MemoryError): void => {
    why = error;
    child.kill("SIGKILL");
    finish(error);
  };
  const watchOver = (): void => {
    clearTimeout(watch);
    watch = open.size === 0 ? undefined : setTimeout(() => giveUp(createStuckError(stuckMs)), stuckMs);
    setKeepAlive(child, open.size > 0);
  };
  const take = ({ header, body }: PythonFrame): void => {
    const id = Number(header.id);
    const waiting = open.get(id);
    // The first frame answers nobody: it says what is there.
    if (header.id === undefined) {
      if (header.ok !== true) giveUp(createMissingPackageError(header, python));
      return;
    }
    open.delete(id);
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
  // A pipe that broke is told of by the end of the process.
  child.stdin.on("error", () => {});
  child.on("error", () => finish(createMissingPythonError(python)));
  child.on("exit", () => finish(why));

  return {
    isOver: () => isOver,
    request(header, body) {
      if (isOver) return Promise.reject(why);
      if (open.size >= MOST_OPEN) {
        return Promise.reject(new MemoryError("unavailable", "FAISS is asked too much at once. Try again."));
      }
      last += 1;
      const { promise, resolve, reject } = Promise.withResolvers<PythonFrame>();
      const isFirst = open.size === 0;
      open.set(last, { resolve, reject });
      if (isFirst) watchOver();
      child.stdin.write(encodeFrame({ ...header, id: last }, body));
      return promise;
    },
    async end() {
      if (isOver) return;
      child.stdin.end();
      const timer = setTimeout(() => giveUp(createEndedError()), LAST_WORDS_MS);
      await over.promise;
      clearTimeout(timer);
    },
    kill: () => giveUp(createEndedError()),
  };
}

/** While nothing is asked of it, the worker does not keep the program from ending. */
function setKeepAlive(child: ChildProcessByStdio<Writable, Readable, null>, isHeld: boolean): void {
  const how = isHeld ? "ref" : "unref";
  child[how]();
  for (const pipe of [child.stdin, child.stdout]) {
    if (how in pipe) (pipe as unknown as { [name in typeof how]: () => void })[how]();
  }
}

function toRefusalError(header: PythonFrame["header"]): Error {
  const code = CODES.find((one) => one === header.code);
  const message = typeof header.message === "string" ? header.message : "FAISS refuses.";
  return Object.assign(new MemoryError(code ?? "unavailable", message), {
    wasEmptied: header.code === "emptied",
  });
}

function createMissingPackageError({ code, message }: PythonFrame["header"], python: string): MemoryError {
  if (code === "no_gpu") {
    return new MemoryError(
      "unavailable",
      "USE_GPU is on, and FAISS finds no GPU. Install faiss-gpu-cu12, or turn it off.",
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
    `There is no ${python} to run FAISS with. Install Python 3, or name another.`,
  );
}

function createStuckError(ms: number): MemoryError {
  return new MemoryError(
    "unavailable",
    `The worker of FAISS did nothing for ${ms} ms and was ended. Try again.`,
  );
}

function createEndedError(): MemoryError {
  return new MemoryError("unavailable", "The worker of FAISS ended. It is started again with the next call.");
}

/** What goes between the program and its worker: a header, and bytes that would be long as text. */
export interface PythonFrame {
  readonly header: { readonly [field: string]: unknown };
  readonly body: Buffer;
}

const LENGTHS_BYTES = 8;
/** A frame that says it is longer than this is none. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Two lengths (32 bits, little endian), the header as JSON, the body. */
export function encodeFrame(header: object, body: Uint8Array = new Uint8Array()): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(body.byteLength, 4);
  return Buffer.concat([lengths, text, body]);
}

/** Puts frames together from the pieces in which they come. Throws `unavailable` for what is no frame. */
export function createFrameReader(): (piece: Buffer) => PythonFrame[] {
  let pieces: Buffer[] = [];
  let length = 0;
  let wanted = LENGTHS_BYTES;
  return (piece) => {
    pieces.push(piece);
    length += piece.length;
    const frames: PythonFrame[] = [];
    while (length >= wanted) {
      const held = pieces.length === 1 ? (pieces[0] ?? piece) : Buffer.concat(pieces);
      const headerEnd = LENGTHS_BYTES + held.readUInt32LE(0);
      const end = headerEnd + held.readUInt32LE(4);
      if (end > MOST_BYTES) throw createFrameError();
      pieces = [held];
      wanted = end;
      if (length < end) break;
      frames.push({
        header: parseHeader(held.subarray(LENGTHS_BYTES, headerEnd)),
        body: held.subarray(headerEnd, end),
      });
      pieces = [held.subarray(end)];
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
    // What it was instead is not for a message.
  }
  throw createFrameError();
}

function createFrameError(): MemoryError {
  return new MemoryError("unavailable", "The worker of FAISS said something that is no answer.");
}
