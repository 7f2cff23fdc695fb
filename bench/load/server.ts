import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
/** For this run alone; the server listens on this machine's own address. */
const KEY = "a-key-for-this-run-only-0123456789";

/** The built server, as a process of its own. */
export interface Running {
  readonly url: string;
  readonly key: string;
  readonly child: ChildProcess;
  /** Time of the processor since the start in seconds, and resident memory in MB, with the processes that it began. */
  used(): { readonly seconds: number; readonly megabytes: number };
  /** Sends a signal and waits for the end; gives its exit code, or the signal that ended it. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
}

/**
 * Starts `keepsake serve` on a database: with settings, with words for Node before the program, with a bound on the size of files
 * (bytes), and from another build's `dist/cli/main.js`, where they are given.
 */
export async function started(
  path: string,
  settings: { readonly [name: string]: string } = {},
  words: readonly string[] = [],
  fileLimit?: number,
  main: string = PROGRAM,
): Promise<Running> {
  const command = [process.execPath, ...words, main, "serve", "--db", path, "--port", "0", "--json"];
  // In blocks of 512 bytes, as POSIX has it.
  const limited = ["sh", "-c", `ulimit -f ${Math.floor((fileLimit ?? 0) / 512)}; exec "$0" "$@"`];
  const [program = "", ...given] = fileLimit === undefined ? command : [...limited, ...command];
  const child = spawn(program, given, {
    stdio: ["ignore", "pipe", "inherit"],
    // Nothing of this shell's settings: they would change what is measured.
    env: { KEEPSAKE_API_KEY: KEY, ...settings },
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? code ?? -1));
  });
  const url = await listeningUrl(child.stdout);
  return {
    url,
    key: KEY,
    child,
    used: () => usedBy(child.pid ?? 0),
    end(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

/** The URL in the first line that a server prints. */
export async function listeningUrl(output: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const part of output) {
    text += part.toString();
    if (!text.includes("\n")) continue;
    const said = JSON.parse(text) as { url?: string; error?: { message: string } };
    if (said.url === undefined) throw new Error(`The server did not start: ${said.error?.message}`);
    return said.url;
  }
  throw new Error("The server stopped before it listened. Is dist/ built?");
}

const TICKS_PER_SECOND = 100;

/** By a process and those that it has begun. */
function usedBy(pid: number): { seconds: number; megabytes: number } {
  try {
    const all = [pid, ...childrenOf(pid)].map(usedByOne);
    const sum = (of: (one: ReturnType<typeof usedByOne>) => number): number =>
      all.reduce((total, one) => total + of(one), 0);
    return {
      seconds: sum(({ seconds }) => seconds),
      megabytes: Math.round(sum(({ megabytes }) => megabytes)),
    };
  } catch {
    // Another system, or the process is gone.
    return { seconds: Number.NaN, megabytes: Number.NaN };
  }
}

/** The processes that one has begun. Linux alone tells. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

function usedByOne(pid: number): { seconds: number; megabytes: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { seconds: ticks / TICKS_PER_SECOND, megabytes: Number(resident) / 1024 };
}
