import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

/** A call that fails, and how. */
export interface CallFault {
  readonly call: string;
  readonly error: string;
  /** The n-th of these calls that touches the database's files. */
  readonly at: number;
  /** Whether all after it fail, too. */
  readonly isForever: boolean;
}

/** The calls that are made to fail, and the errors that a disk, a full one, a full table of files and a read-only file give. */
export const CALL_ERRORS: readonly (readonly [call: string, ...errors: string[]])[] = [
  ["pwrite64", "EIO", "ENOSPC"],
  ["write", "EIO", "ENOSPC"],
  ["fsync", "EIO"],
  ["fdatasync", "EIO"],
  ["openat", "EMFILE", "EACCES", "EROFS"],
  ["pread64", "EIO"],
  ["read", "EIO"],
  ["ftruncate", "EIO", "ENOSPC"],
  ["fallocate", "ENOSPC"],
  ["unlink", "EIO"],
  ["rename", "EIO"],
  ["link", "EIO"],
];
const CALLS = CALL_ERRORS.map(([call]) => call);

/** A program that ended, or that was ended because it did not. */
export interface Ended {
  readonly status: number | null;
  readonly hasHung: boolean;
  readonly output: string;
  readonly errors: string;
}

const FIXED_NAMES = join(import.meta.dirname, "fixed-names.mjs");
/** Far longer than any operation takes on a machine that others use. */
const PATIENCE_MS = 60_000;
/** The ends of the names of the files that SQLite keeps for a database. */
const SQLITE_ENDS = ["", "-wal", "-shm", "-journal"];
/** By these, an operation says where it begins and ends. */
const MARKS = ["mark-begin", "mark-end"];

/** The folder itself, and what an operation touches in it: strace knows no patterns. */
function pathsOf(folder: string, names: readonly string[]): string[] {
  return [folder, ...[...MARKS, ...names].map((name) => join(folder, name))];
}

/**
 * The names of the files that an operation opens, renames, links or removes in its folder, by a run without a fault. Under
 * `fixed-names.mjs` a draft has the same name in each run. Includes the files that SQLite may add to a database.
 */
export async function filesOf(words: readonly string[], folder: string): Promise<readonly string[]> {
  const trace = `${folder}.files`;
  const calls = "trace=open,openat,rename,renameat,renameat2,link,linkat,unlink,unlinkat";
  await runTraced(words, folder, ["-o", trace, "-e", calls]);
  const names = new Set<string>();
  for (const [, path = ""] of readFileSync(trace, "utf8").matchAll(/"([^"]+)"/g)) {
    const name = relative(folder, path);
    if (name === "" || name.startsWith("..") || MARKS.includes(name)) continue;
    const database = name.replace(/-(?:wal|shm|journal)$/, "");
    for (const end of SQLITE_ENDS) names.add(`${database}${end}`);
  }
  rmSync(trace);
  return [...names].sort();
}

/** Runs a program of Node with one call on the named files failing, or with a trace of all of them. */
export function runFaulty(
  words: readonly string[],
  folder: string,
  names: readonly string[],
  fault: CallFault | { readonly trace: string },
): Promise<Ended> {
  const paths = pathsOf(folder, names).flatMap((path) => ["-P", path]);
  const asked =
    "trace" in fault
      ? ["-o", fault.trace, "-e", `trace=${CALLS.join(",")},access,faccessat,faccessat2,stat,statx`]
      : [
          "-o",
          "/dev/null",
          "-e",
          `trace=${fault.call}`,
          "-e",
          `inject=${fault.call}:error=${fault.error}:when=${fault.at}${fault.isForever ? "+" : ""}`,
        ];
  return runTraced(words, folder, [...paths, ...asked]);
}

function runTraced(words: readonly string[], folder: string, asked: readonly string[]): Promise<Ended> {
  const program = [process.execPath, "--import", FIXED_NAMES, ...words];
  const child = spawn("strace", ["-f", "-qq", "--seccomp-bpf", "-e", "signal=none", ...asked, ...program], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    // One thread for files, so that the n-th call is the same each time.
    env: {
      PATH: process.env.PATH,
      UV_THREADPOOL_SIZE: "1",
      NODE_DISABLE_COMPILE_CACHE: "1",
      TMPDIR: folder,
    },
  });
  const parts = { output: "", errors: "" };
  child.stdout.on("data", (part: Buffer) => {
    parts.output += part.toString();
  });
  child.stderr.on("data", (part: Buffer) => {
    parts.errors += part.toString();
  });
  return new Promise((resolve) => {
    let hasHung = false;
    const timer = setTimeout(() => {
      hasHung = true;
      // The group: strace and what it traces.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, PATIENCE_MS);
    child.once("close", (status) => {
      clearTimeout(timer);
      resolve({ status, hasHung, ...parts });
    });
  });
}

/** Which calls of an operation touch its files, by a run without a fault: strace counts each thread's by themselves. */
export async function pointsOf(
  words: readonly string[],
  folder: string,
  names: readonly string[],
  isWhole: boolean,
): Promise<CallFault[]> {
  const trace = `${folder}.trace`;
  await runFaulty(words, folder, names, { trace });
  const counts = new Map<string, number>();
  const points = new Map<string, Set<number>>();
  let isInside = isWhole;
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    if (line.includes("mark-begin")) isInside = true;
    if (line.includes("mark-end")) isInside = isWhole;
    const [, thread = "", call = ""] = /^(\d+)\s+([a-z0-9_]+)\(/.exec(line) ?? [];
    if (!CALLS.includes(call)) continue;
    const count = (counts.get(`${thread} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${call}`, count);
    if (isInside) points.set(call, (points.get(call) ?? new Set()).add(count));
  }
  return CALL_ERRORS.flatMap(([call, ...errors]) =>
    errors.flatMap((error) =>
      [...(points.get(call) ?? [])].flatMap((at) => [
        { call, error, at, isForever: false },
        { call, error, at, isForever: true },
      ]),
    ),
  );
}
