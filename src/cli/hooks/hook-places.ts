import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Where the hooks of one database keep their files. */
export interface HookPlaces {
  readonly folder: string;
  /** The socket of the process that has the memory open. */
  readonly socket: string;
  /** Events that wait for such a process. */
  readonly spool: string;
  readonly log: string;
}

/** The longest path of a socket that every system takes. */
const MAX_SOCKET_PATH = 100;

/** Gives the places for a database. Makes the folder, which only this person can read. */
export function openHookPlaces(db: string): HookPlaces {
  const name = createHash("sha256").update(db).digest("hex").slice(0, 16);
  const folder = join(homedir(), ".keepsake", "hooks", name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const socket = process.platform === "win32" ? `\\\\.\\pipe\\keepsake-${name}` : join(folder, "socket");
  const isLong = process.platform !== "win32" && socket.length > MAX_SOCKET_PATH;
  return {
    folder,
    socket: isLong ? join(tmpdir(), `keepsake-${process.getuid?.() ?? 0}-${name}`) : socket,
    spool: join(folder, "waiting.jsonl"),
    log: join(folder, "hooks.log"),
  };
}

/** Bytes of the log, before it is renamed and another is begun. */
const MAX_LOG_BYTES = 1_000_000;

/** Adds a line to the log: what happened, and how long it took. Never what anybody said. Never throws. */
export function logHook({ log }: Pick<HookPlaces, "log">, fields: object): void {
  try {
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(log, `${log}.1`);
    appendFileSync(log, `${JSON.stringify({ at: new Date().toISOString(), ...fields })}\n`, { mode: 0o600 });
  } catch {
    // A hook must not fail because its log does.
  }
}
