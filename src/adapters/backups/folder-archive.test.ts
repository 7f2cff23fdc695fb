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

it("lists without deleting anything, and removes the draft of a killed process with its backup alone", async () => {
  const path = makeFolder();
  const own = "keepsake-a-2026-03-01T10-00-00Z.db";
  const others = "keepsake-b-2026-03-01T10-00-00Z.db.part";
  const names = ["notes.txt", "memory.db", `${own}.part`, others];
  for (const name of names) writeFileSync(join(path, name), "x");
  const archive = folderArchive({ path });
  expect(await archive.list()).toEqual([]);
  expect(readdirSync(path).sort()).toEqual(names.sort());
  await archive.remove(own);
  expect(readdirSync(path).sort()).toEqual([others, "memory.db", "notes.txt"].sort());
});

it("keeps a backup that is written while others list the folder", async () => {
  const path = makeFolder();
  const file = join(makeFolder(), "source");
  writeFileSync(file, Buffer.alloc(32_000_000, 7));
  const name = "keepsake-a-2026-03-01T10-00-00Z.db";
  const writing = folderArchive({ path }).put(name, file, "");
  let isWritten = false;
  const ended = writing.finally(() => {
    isWritten = true;
  });
  while (!isWritten) await folderArchive({ path }).list();
  await ended;
  expect(await folderArchive({ path }).list()).toEqual([{ name, bytes: 32_000_000 }]);
});

it("fetches a backup whose file is read-only into a file that its owner can write", async () => {
  const path = makeFolder();
  const name = "keepsake-a-2026-03-01T10-00-00Z.db";
  writeFileSync(join(path, name), "x", { mode: 0o444 });
  const fetched = join(makeFolder(), "fetched");
  await folderArchive({ path }).fetch(name, fetched);
  expect(statSync(fetched).mode & 0o777).toBe(0o600);
});

it("creates a missing folder for its owner alone, and says that a file is no folder", async () => {
  const path = join(makeFolder(), "a", "b");
  expect(await folderArchive({ path }).list()).toEqual([]);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const file = join(makeFolder(), "file");
  writeFileSync(file, "x");
  await expect(folderArchive({ path: file }).list()).rejects.toMatchObject({ code: "unavailable" });
});
