import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AddressOf, addressOf } from "./address.ts";

const WATCH = join(import.meta.dirname, "watch-loop.mjs");
const KEY = "a-key-for-this-run-only-0123456789";

/** The built server of a checkout, as a process of its own whose event loop is watched. */
export interface WatchedServer extends AddressOf {
  readonly key: string;
  isAlive(): boolean;
  /** Starts to measure how late the event loop is, and the peak of resident memory. */
  begin(): void;
  /** The worst delay of the event loop since `begin` in ms; `undefined` where the server does not answer in time. */
  worstDelay(withinMs: number): Promise<number | undefined>;
  /** The most resident memory since `begin`, in MB. Linux alone tells; elsewhere `undefined`. */
  peakMegabytes(): number | undefined;
  stop(): Promise<void>;
}

export interface WatchedServerOptions {
  /** A checkout with `dist/`. */
  readonly checkout: string;
  readonly database: string;
  readonly upstream: string;
  /** Words for Node before the program, such as `--max-old-space-size=640`. */
  readonly words?: readonly string[];
}

const STOP_MS = 3000;

/** Starts `keepsake serve` on a database, with a stub as the model's server. */
export async function watchedServer(options: WatchedServerOptions): Promise<WatchedServer> {
  const { checkout, database, upstream, words = [] } = options;
  const program = join(checkout, "dist/cli/main.js");
  const command = ["--import", WATCH, ...words, program, "serve", "--db", database, "--port", "0", "--json"];
  const child = spawn(process.execPath, command, {
    stdio: ["ignore", "pipe", "ignore", "ipc"],
    // Nothing of this shell's settings: they would change what is measured.
    env: {
      KEEPSAKE_API_KEY: KEY,
      KEEPSAKE_EXTRACTOR: "rules",
      OPENAI_BASE_URL: upstream,
      OPENAI_API_KEY: "sk-none",
    },
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  // A server that was ended for a lack of memory takes no more messages.
  child.on("error", () => undefined);
  const { url } = await addressOf(child.stdout as NonNullable<typeof child.stdout>);
  return {
    url,
    key: KEY,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    begin() {
      resetPeak(child.pid);
      tell(child, "begin");
    },
    worstDelay: (withinMs) => delayOf(child, withinMs),
    peakMegabytes: () => peakOf(child.pid),
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

function tell(child: ChildProcess, word: string): void {
  if (child.connected) child.send(word, () => undefined);
}

function delayOf(child: ChildProcess, withinMs: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const done = (delay: number | undefined): void => {
      clearTimeout(late);
      child.off("message", heard);
      resolve(delay);
    };
    const heard = (told: unknown): void => done((told as { worstMs: number }).worstMs);
    const late = setTimeout(() => done(undefined), withinMs);
    child.on("message", heard);
    tell(child, "end");
  });
}

function resetPeak(pid: number | undefined): void {
  try {
    // 5 sets the peak of resident memory back to what it is now.
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Another system: then the peak is that of the process's whole life, or is not known.
  }
}

function peakOf(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
  } catch {
    return undefined;
  }
}
