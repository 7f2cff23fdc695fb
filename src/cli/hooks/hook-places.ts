import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Where the hooks of one database keep their files. */
export interface HookPlaces {
  /** The socket of the process that has the memory open. */
  readonly socket: string;
  /** The file that this process keeps locked, so that there is only one. */
  readonly claim: string;
  /** The folder of events that are not stored yet, a file each. */
  readonly waiting: string;
  readonly log: string;
}

/** The longest path of a socket that every system takes. */
const MAX_SOCKET_PATH = 100;

/** Gives the places for a database. Makes the folders, which only this person can read. */
export function openHookPlaces(db: string): HookPlaces {
  const name = createHash("sha256").update(db).digest("hex").slice(0, 16);
  const folder = join(homedir(), ".keepsake", "hooks", name);
  const waiting = join(folder, "waiting");
  mkdirSync(waiting, { recursive: true, mode: 0o700 });
  const socket = process.platform === "win32" ? `\\\\.\\pipe\\keepsake-${name}` : join(folder, "socket");
  const isLong = process.platform !== "win32" && socket.length > MAX_SOCKET_PATH;
  return {
    socket: isLong ? join(tmpdir(), `keepsake-${process.getuid?.() ?? 0}-${name}`) : socket,
    claim: join(folder, "claim.db"),
    waiting,
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

/** Gives the code of an error, or its name, for the log. Never its message: that may quote what was said. */
export function nameProblem(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === "string" ? code : String(name ?? "Error");
}
