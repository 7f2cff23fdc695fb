import { closeSync, linkSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "../node-sqlite.ts";
import { draftPathOf, removeDatabaseDraft, syncParentFolder } from "./drafts.ts";

/** How often a file is created again because another process removed its draft. */
const MAX_CREATIONS = 3;
/** What link(2) gives on a file system without links, such as exFAT. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Creates a database file (mode 0600) with what `fill` writes, completely or not at all. After a power failure during the
 * first page, SQLite could not open the file again. If another process creates it first, its file stays. On a file system
 * without links, the file is created empty. Throws the error of the system.
 */
export function createDatabaseFile(path: string, fill: (handle: DatabaseSync) => void): void {
  for (let attempt = 1; attempt <= MAX_CREATIONS; attempt += 1) {
    const draft = draftPathOf(path);
    try {
      createEmptyFile(draft);
      fillDraft(draft, fill);
      linkSync(draft, path);
      syncParentFolder(path);
      return;
    } catch (error) {
      if (!mayContinue(error, attempt)) throw error;
      if (NO_LINKS.has(codeOf(error))) createEmptyFile(path);
    } finally {
      removeDatabaseDraft(draft);
    }
    if (statSync(path, { throwIfNoEntry: false })) return;
  }
}

/** Whether the file is there after all, can be created otherwise, or can be tried again. */
function mayContinue(error: unknown, attempt: number): boolean {
  const code = codeOf(error);
  return code === "EEXIST" || NO_LINKS.has(code) || (code === "ENOENT" && attempt < MAX_CREATIONS);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

function fillDraft(draft: string, fill: (handle: DatabaseSync) => void): void {
  const handle = new DatabaseSync(draft);
  try {
    fill(handle);
  } finally {
    // Copies the log into the file, syncs it, and removes the log.
    handle.close();
  }
  if ((statSync(`${draft}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new Error("SQLite could not empty the log of a new file.");
}

function createEmptyFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    // Another process created it at this moment.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
