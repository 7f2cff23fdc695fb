import { randomUUID } from "node:crypto";
import { linkSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { MemoryError } from "../../../errors.ts";

/** The holder of a lock. */
interface LockHolder {
  /** Unique for each acquisition. */
  readonly mark: string;
  readonly pid: number;
  readonly host: string;
}

/** The end of an additional name of a lock. */
const LOCK_NAME = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(?:new|end)$/;
const PATIENCE_MS = 2_000;
const PAUSE_MS = 3;
/** Work under a lock takes milliseconds. An older lock whose process cannot be checked is abandoned. */
const MAX_LOCK_AGE_MS = 30_000;
/** The same if the holder's process id is this one: in a container, each start has the same id. */
const MAX_OWN_LOCK_AGE_MS = 2_000;

/**
 * Runs a short piece of work under a lock file, exclusive across processes. Waits up to `patienceMs` for the lock, then
 * throws `unavailable`. Removes the lock of a killed process.
 *
 * `link` creates the file: it succeeds for only one process, and the file is complete. A process may remove an abandoned
 * lock only after it has linked a second name, unique to that lock, and the lock is still in place. So of two processes
 * that find it abandoned, the slower one cannot remove the lock that the faster one has created since.
 *
 * `isHeld` must be checked before the last step of the work. It is false if the process was suspended and lost the lock.
 */
export function withLock<Result>(
  path: string,
  work: (isHeld: () => boolean) => Result,
  patienceMs: number = PATIENCE_MS,
): Result {
  const mine: LockHolder = { mark: randomUUID(), pid: process.pid, host: hostname() };
  const draft = `${path}.${mine.mark}.new`;
  try {
    acquireLock(path, draft, JSON.stringify(mine), patienceMs);
    try {
      removeOldNames(path, draft);
      return work(() => readHolder(path)?.mark === mine.mark);
    } finally {
      removeLock(path, mine, draft);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

function acquireLock(path: string, draft: string, mine: string, patienceMs: number): void {
  const end = performance.now() + patienceMs;
  for (;;) {
    // Written again each time: the age of this file is the age of the lock.
    writeFileSync(draft, mine, { mode: 0o600 });
    if (tryLink(draft, path)) return;
    const holder = readHolder(path);
    if (holder && isAbandoned(path, holder, draft)) removeLock(path, holder, draft);
    else if (performance.now() > end) throw createBusyError(path);
    else pauseThread(PAUSE_MS);
  }
}

/** Removes the lock only if this holder has it. */
function removeLock(path: string, holder: LockHolder, draft: string): void {
  const right = `${path}.${holder.mark}.end`;
  if (!tryLink(draft, right)) return;
  try {
    if (readHolder(path)?.mark === holder.mark) unlinkSync(path);
  } finally {
    rmSync(right, { force: true });
  }
}

/** Removes the names of earlier locks that could not be removed, or whose process was killed. */
function removeOldNames(path: string, draft: string): void {
  const folder = dirname(path);
  try {
    for (const name of readdirSync(folder)) {
      const isName = name.startsWith(`${basename(path)}.`) && LOCK_NAME.test(name);
      const old = join(folder, name);
      if (isName && getLockAge(old, draft) > MAX_LOCK_AGE_MS) unlinkSync(old);
    }
  } catch {
    // They go another time.
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function readHolder(path: string): LockHolder | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const { mark = "nobody", pid = 0, host = "" } = parseHolder(text);
  return { mark, pid, host };
}

/** Parses a holder. After a power cut the file may be empty: then only its age matters. */
function parseHolder(text: string): Partial<LockHolder> {
  try {
    return JSON.parse(text) as Partial<LockHolder>;
  } catch {
    return {};
  }
}

function isAbandoned(path: string, holder: LockHolder, draft: string): boolean {
  if (holder.host === hostname() && holder.pid !== process.pid && !isRunning(holder.pid)) return true;
  const age = getLockAge(path, draft);
  return age > MAX_LOCK_AGE_MS || (holder.pid === process.pid && age > MAX_OWN_LOCK_AGE_MS);
}

/** Gives the age of the lock compared with our draft file, by the disk's clock, in ms. */
function getLockAge(path: string, draft: string): number {
  const held = statSync(path, { throwIfNoEntry: false });
  const ours = statSync(draft, { throwIfNoEntry: false });
  return held && ours ? ours.mtimeMs - held.mtimeMs : 0;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function pauseThread(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function createBusyError(path: string): MemoryError {
  return new MemoryError(
    "unavailable",
    `another program holds ${path}. Try again; if no other program is running, delete that file.`,
  );
}
