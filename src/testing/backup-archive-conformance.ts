import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BackupArchive } from "../ports/backup-archive.ts";

/** An archive to test: `open` gives an empty one each time. */
export interface BackupArchiveSubject {
  readonly name: string;
  readonly open: () => Promise<BackupArchive>;
  readonly timeoutMs?: number;
}

const FIRST = "keepsake-018f0a-2026-03-01T10-00-00Z.db";
const SECOND = "keepsake-018f0a-2026-03-02T10-00-00Z.db";

/** What a case is given: an empty archive, and an empty folder for files. */
export interface BackupArchiveCase {
  readonly archive: BackupArchive;
  readonly folder: string;
}

const toPut =
  ({ archive, folder }: BackupArchiveCase) =>
  async (backup: string, content: string | Buffer): Promise<void> => {
    const file = join(folder, "source");
    writeFileSync(file, content);
    await archive.put(backup, file, createHash("sha256").update(content).digest("hex"));
  };

const toFetch =
  ({ archive, folder }: BackupArchiveCase) =>
  async (backup: string): Promise<Buffer> => {
    const file = join(folder, "fetched");
    rmSync(file, { force: true });
    await archive.fetch(backup, file);
    return readFileSync(file);
  };

/** The behaviour of every archive of backups, one rule per case. */
export const BACKUP_ARCHIVE_CASES: {
  readonly [title: string]: (subject: BackupArchiveCase) => Promise<void>;
} = {
  "gives back what it was given, byte for byte, for its owner alone": async (subject) => {
    const { archive, folder } = subject;
    const put = toPut(subject);
    const fetch = toFetch(subject);
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31) % 256));
    await put(FIRST, content);
    expect(await fetch(FIRST)).toEqual(content);
    expect(statSync(join(folder, "fetched")).mode & 0o077).toBe(0);
    expect(await archive.list()).toEqual([{ name: FIRST, bytes: content.length }]);
  },

  "lists by name, replaces a backup of the same name, and removes one": async (subject) => {
    const { archive } = subject;
    const put = toPut(subject);
    const fetch = toFetch(subject);
    expect(await archive.list()).toEqual([]);
    await put(SECOND, "second");
    await put(FIRST, "first");
    await put(FIRST, "first again");
    expect((await archive.list()).map((one) => one.name)).toEqual([FIRST, SECOND]);
    expect(String(await fetch(FIRST))).toBe("first again");
    await archive.remove(FIRST);
    await archive.remove(FIRST);
    expect((await archive.list()).map((one) => one.name)).toEqual([SECOND]);
  },

  "throws not_found for a backup that is not there, and refuses other names": async (subject) => {
    const { archive } = subject;
    const put = toPut(subject);
    const fetch = toFetch(subject);
    await expect(fetch(FIRST)).rejects.toMatchObject({ code: "not_found" });
    for (const other of ["memory.db", "../keepsake-a-2026-03-01T10-00-00Z.db", ""]) {
      await expect(archive.remove(other)).rejects.toMatchObject({ code: "invalid_input" });
      await expect(put(other, "x")).rejects.toMatchObject({ code: "invalid_input" });
    }
  },

  "does not start a transfer that is aborted": async (subject) => {
    const { archive, folder } = subject;
    const signal = AbortSignal.abort(new Error("enough"));
    const file = join(folder, "source");
    writeFileSync(file, "x");
    await expect(archive.put(FIRST, file, "0".repeat(64), { signal })).rejects.toThrow("enough");
    expect(await archive.list()).toEqual([]);
  },
};

/** The cases that every archive of backups passes. */
export function backupArchiveConformance({ name, open, timeoutMs = 30_000 }: BackupArchiveSubject): void {
  describe(`the archive of backups ${name}`, { timeout: timeoutMs }, () => {
    let folder: string;
    let archive: BackupArchive;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "keepsake-archive-"));
      archive = await open();
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    for (const [title, run] of Object.entries(BACKUP_ARCHIVE_CASES))
      it(title, () => run({ archive, folder }));
  });
}
