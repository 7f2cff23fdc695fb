import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { backupArchiveConformance } from "../../testing/backup-archive-conformance.ts";
import { folderArchive } from "./folder-archive.ts";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-folder-"));
  made.push(folder);
  return folder;
}

backupArchiveConformance({ name: "in a folder", open: async () => folderArchive({ path: makeFolder() }) });

it("leaves other files of the folder alone, and removes what a killed process left", async () => {
  const path = makeFolder();
  for (const name of ["notes.txt", "memory.db", "keepsake-a-2026-03-01T10-00-00Z.db.part"])
    writeFileSync(join(path, name), "x");
  expect(await folderArchive({ path }).list()).toEqual([]);
  expect(readdirSync(path).sort()).toEqual(["memory.db", "notes.txt"]);
});

it("creates a missing folder for its owner alone, and says that a file is no folder", async () => {
  const path = join(makeFolder(), "a", "b");
  expect(await folderArchive({ path }).list()).toEqual([]);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const file = join(makeFolder(), "file");
  writeFileSync(file, "x");
  await expect(folderArchive({ path: file }).list()).rejects.toMatchObject({ code: "unavailable" });
});
