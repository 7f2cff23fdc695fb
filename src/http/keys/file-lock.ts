import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { MemoryError } from "../../errors.ts";

/** Who holds a lock. */
interface LockHolder {
  /** Unique for each time that a lock is taken. */
  readonly mark: string;
  readonly pid: number;
  readonly host: string;
}

const PATIENCE_MS = 2_000;
const PAUSE_MS = 3;
/** Work under a lock takes milliseconds. What is older than this, and cannot be asked, has gone. */
const MAX_LOCK_AGE_MS = 30_000;
/** The same, where the process of that number is this one: in a container each start has the number of the last. */
const MAX_OWN_LOCK_AGE_MS = 2_000;

/**
 * Does a short piece of work while nobody else, in this process or another, does any under the same lock file. Waits
 * for it up to `patienceMs`, then throws `unavailable`. The lock of a process that was killed is taken away.
 *
 * The file is put in place by `link`, which succeeds for one alone and shows it whole. It is taken away only by who
 * could link a second name that stands for this one lock, and then saw it still in place: so that of two that find it
 * abandoned, the slower one cannot take away what the quicker one has put there since.
 *
 * `isHeld`, asked before the work's last step, is false for who was stopped for so long that others went on.
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
    // Anew each time: its age on the disk is the age of the lock that it becomes.
    writeFileSync(draft, mine, { mode: 0o600 });
    if (tryLink(draft, path)) return;
    const holder = readHolder(path);
    if (holder && isAbandoned(path, holder, draft)) removeLock(path, holder, draft);
    else if (performance.now() > end) throw createBusyError(path);
    else pauseThread(PAUSE_MS);
  }
}

/** Takes the lock away that this holder has, and no other. */
function removeLock(path: string, holder: LockHolder, draft: string): void {
  const right = `${path}.${holder.mark}.end`;
  if (!tryLink(draft, right)) return;
  try {
    if (readHolder(path)?.mark === holder.mark) unlinkSync(path);
  } finally {
    rmSync(right, { force: true });
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

/** A power cut may have left it empty: then its age alone counts. */
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

/** How much older it is than our own file, by the clock of the disk. */
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
    `keys: another program holds ${path}. Try again; where nothing else runs, take that file away.`,
  );
}
