import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

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
const UUIDS = Array.from(
  { length: 4 },
  (_, i) => `00000000-0000-4000-8000-${String(i + 1).padStart(12, "0")}`,
);

/** The end of a draft's name under `fixed-names.mjs`. */
const DRAFT_END = "4242.00000000.new";

/** What an operation may open, by name: strace knows no patterns. */
function pathsOf(folder: string): string[] {
  const names = [
    "memory.db",
    "memory.db.restoring",
    "backup.copy",
    `backup.copy.${DRAFT_END}`,
    "target.db",
    "memory.db.before-v1",
    "memory.db.before-v1.part",
  ].flatMap((name) => ["", "-wal", "-shm", "-journal"].map((end) => `${name}${end}`));
  const keys = UUIDS.flatMap((id) => [`.keys.json.${id}.new`, `.keys.json.lock.${id}.new`]);
  const beside = [".secret", `.secret.${DRAFT_END}`, ".erasures", ".keys.json", ".keys.json.lock", ...keys];
  const own = [...beside.map((end) => `memory.db${end}`), ...beside.map((end) => `target.db${end}`)];
  const others = ["export.jsonl", "export.jsonl.4242.new", "mark-begin", "mark-end"];
  return ["", ...names, ...own, ...others].map((name) => (name === "" ? folder : join(folder, name)));
}

/** Runs a program of Node with one call failing, or with a trace of all of them. */
export function runFaulty(
  words: readonly string[],
  folder: string,
  fault: CallFault | { readonly trace: string },
): Promise<Ended> {
  const paths = pathsOf(folder).flatMap((path) => ["-P", path]);
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
  const program = [process.execPath, "--import", FIXED_NAMES, ...words];
  const child = spawn(
    "strace",
    ["-f", "-qq", "--seccomp-bpf", "-e", "signal=none", ...paths, ...asked, ...program],
    {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      // One thread for files, so that the n-th call is the same each time.
      env: {
        PATH: process.env.PATH,
        UV_THREADPOOL_SIZE: "1",
        NODE_DISABLE_COMPILE_CACHE: "1",
        TMPDIR: folder,
      },
    },
  );
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
  isWhole: boolean,
): Promise<CallFault[]> {
  const trace = `${folder}.trace`;
  await runFaulty(words, folder, { trace });
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
