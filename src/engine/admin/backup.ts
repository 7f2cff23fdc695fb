import type { BackupNote } from "../../domain/operations/backup.ts";
import { toIsoTime } from "../../domain/time.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Backup, BackupOptions } from "../api/keepsake.ts";
import type { Ports } from "../ports.ts";

/**
 * Copies the store into a file and notes the copy in the store, so that erasures know about it. The note is
 * written before the copy begins, because content erased meanwhile may be in the file.
 */
export async function backup(
  { store, clock }: Pick<Ports, "store" | "clock">,
  file: string,
  { until, ...options }: BackupOptions = {},
): Promise<Backup> {
  options.signal?.throwIfAborted();
  if (typeof file !== "string") throw invalid("backup: name the file to write.");
  if (!store.fileCopy) {
    throw new MemoryError(
      "unsupported",
      `a database in ${store.name} cannot be copied here: use its server's own backups, or move it into a file.`,
    );
  }
  const now = (): string => clock().toISOString();
  const keptUntil = until === undefined ? undefined : toIsoTime(until, "until");
  if (keptUntil !== undefined && keptUntil <= now()) throw invalid("backup: until must be in the future.");
  const name = file.split(/[\\/]/).at(-1) ?? file;
  const before = (await store.backups.list()).find((note) => note.name === name);
  const draft: BackupNote = { name, at: now(), bytes: 0, digest: "" };
  await store.backups.save(draft);
  try {
    const { counts, ...copied } = await store.fileCopy.copyTo(file, options);
    // The file may contain anything stored until now.
    const note = { ...copied, name, at: now(), ...(keptUntil === undefined ? {} : { until: keptUntil }) };
    await store.backups.save(note);
    return { ...note, counts };
  } catch (error) {
    await store.backups.save(before ?? { ...draft, until: draft.at });
    throw error;
  }
}
