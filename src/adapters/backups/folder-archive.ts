import { constants, type Stats } from "node:fs";
import { chmod, copyFile, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { invalid, MemoryError } from "../../errors.ts";
import type { ArchivedBackup, BackupArchive } from "../../ports/backup-archive.ts";

/** The names of backups. Other files in the place are left alone. */
export const BACKUP_NAME_PATTERN: RegExp = /^keepsake-[A-Za-z0-9]{1,40}-[0-9TZ-]{10,40}\.db$/;
/** The end of the name of a backup that is being written. */
const DRAFT_END = ".part";

/** Throws `invalid_input` for a name that is none of a backup. */
export function checkBackupName(name: string): string {
  if (BACKUP_NAME_PATTERN.test(name)) return name;
  throw invalid("backups: this is not the name of a backup. `keepsake backups` lists them.");
}

/**
 * Keeps backups as files of mode 0600 in a folder, which is created if it is missing. A file gets its name when it is whole
 * and on disk. Throws `unavailable` if the folder cannot be used.
 */
export function folderArchive({ path }: { readonly path: string }): BackupArchive {
  if (path.trim() === "" || path.includes("\0")) throw invalid("path: name the folder for backups.");
  const folder = resolve(path);
  const at = (name: string): string => join(folder, checkBackupName(name));
  return {
    name: "folder",

    list: () =>
      tryFolder(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const names = (await readdir(folder)).filter((one) => BACKUP_NAME_PATTERN.test(one)).sort();
        const found: ArchivedBackup[] = [];
        for (const name of names) {
          const file = await findFile(join(folder, name));
          if (file) found.push({ name, bytes: file.size });
        }
        return found;
      }),

    put: (name, file, _digest, { signal } = {}) =>
      tryFolder(async () => {
        const draft = `${at(name)}${DRAFT_END}`;
        await mkdir(folder, { recursive: true, mode: 0o700 });
        signal?.throwIfAborted();
        try {
          await copyFile(file, draft, constants.COPYFILE_FICLONE);
          await chmod(draft, 0o600);
          await syncFile(draft);
          await rename(draft, at(name));
          await syncFile(folder);
        } finally {
          await rm(draft, { force: true });
        }
      }),

    fetch: (name, file) =>
      tryFolder(async () => {
        await copyFile(at(name), file, constants.COPYFILE_EXCL);
        // A copy has the mode of its source, which may be read-only.
        await chmod(file, 0o600);
        await syncFile(file);
      }, name),

    remove: (name) =>
      tryFolder(async () => {
        // A process that was killed while it wrote the backup left a draft.
        for (const end of [DRAFT_END, ""]) await rm(`${at(name)}${end}`, { force: true });
        await syncFile(folder);
      }),
  };
}

/** The state of a file; undefined if it was removed meanwhile. */
async function findFile(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Syncs a file or a folder. */
async function syncFile(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory();
  // Windows cannot open folders.
  if (isFolder && process.platform === "win32") return;
  const handle = await open(path, isFolder ? "r" : "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function tryFolder<Result>(work: () => Promise<Result>, name?: string): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof MemoryError) throw error;
    if (code === "ENOENT" && name !== undefined)
      throw new MemoryError("not_found", `there is no backup ${name}. \`keepsake backups\` lists them.`);
    throw new MemoryError(
      "unavailable",
      `the folder of backups cannot be used (${code}). Check its path, its permissions and the space on its disk.`,
      { cause: error },
    );
  }
}
