import { folderArchive } from "../../src/adapters/backups/index.ts";
import { createBackupWorkshop } from "../../src/adapters/sqlite/backup-workshop.ts";
import { digestKeyOf, fileSecret, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createBackupJob } from "../../src/engine/jobs/backup-job.ts";
import type { BackupArchive } from "../../src/ports/backup-archive.ts";

/**
 * The one that is killed while it makes a backup: `backup-child.ts PATH FOLDER TIME` runs the job once, at a time (ISO 8601), and
 * says how far it is, a word a line. A line is written before what follows it begins.
 */
const [path = "", kept = "", time = ""] = process.argv.slice(2);
const clock = () => new Date(time);
const digestKey = digestKeyOf(fileSecret(`${path}.secret`).secret);
const store = await openSqliteStore({ path, digestKey });
const archive = folderArchive({ path: kept });
const telling: BackupArchive = {
  ...archive,
  async put(name, file, digest, options) {
    console.log("copied");
    await archive.put(name, file, digest, options);
    console.log("stored");
  },
  async fetch(name, to, options) {
    await archive.fetch(name, to, options);
    console.log("fetched");
  },
};
const DAY_MS = 86_400_000;
const plan = {
  archive: telling,
  workshop: createBackupWorkshop({ path, digestKey, clock }),
  everyMs: DAY_MS,
  keptMs: 30 * DAY_MS,
};
console.log("begun");
for await (const _step of createBackupJob({ store, clock }, plan).run(new AbortController().signal));
console.log("done");
await store.close();
