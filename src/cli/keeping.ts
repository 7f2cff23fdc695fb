import type { Command } from "commander";
import { addCommand, createCountParser, formatExamples } from "./command.ts";

/** The commands that look after the database: copies of it, and whether it is well. */
export function addMaintenanceCommands(root: Command): void {
  addCommand(
    root,
    "backup <FILE>",
    "copy the whole database into one file, while it is in use",
    async ([file = ""], options) => (await import("./commands/backup.ts")).runBackup(file, options),
  )
    .option("--keep-until <TIME>", "when you will delete it; until then receipts of erasures name it")
    .option("--yes", "replace a file that is there")
    .addHelpText(
      "after",
      `
Everybody's memories, of all projects. The copy is read back before it is put in place, and is its owner's alone (mode 0600).
The secret is not in it: keep the file that ends in .secret too, in another place.
${formatExamples("backup monday.db", "backup monday.db --keep-until 2027-01-31")}`,
    );
  addCommand(root, "restore <FILE>", "make a backup the database again", async ([file = ""], options) =>
    (await import("./commands/backup.ts")).runRestore(file, options),
  )
    .option("--yes", "put the database that is there aside, under another name")
    .option("--without-ledger", "go on where the ledger of erasures is lost")
    .addHelpText(
      "after",
      `
What was erased after the backup was made is erased from it again before anybody can read it: the ledger of erasures,
the file beside the database that ends in .erasures, says what. Stop the server first.
${formatExamples("restore monday.db --yes")}`,
    );
  addDoctorCommand(root);
  addCommand(
    root,
    "audit",
    "check the receipts of erasures: their chain, their signatures, and that none is missing",
    async (_none, options) => (await import("./commands/audit.ts")).runAudit(options),
  )
    .option("--head <HASH>", "what an earlier audit printed: nothing that it saw may be missing")
    .addHelpText(
      "after",
      `
Shows the public key that each receipt can be checked with, by anybody and without this program. Status 1 where something
is wrong.
${formatExamples("audit", "audit --json")}`,
    );
  addCommand(
    root,
    "optimize",
    "look after the memories: merge what says the same, archive what is old and unused",
    async (_none, options) => (await import("./commands/optimize.ts")).runOptimize(options),
  )
    .option("--dry-run", "show what would be done, change nothing")
    .option(
      "--current-turn <N>",
      "leave alone what was said in the hundred turns before this one",
      createCountParser(0, 999_999_999),
    )
    .addHelpText(
      "after",
      `
Takes what has expired out of the search, merges memories that say the same, tells what has faded, and archives what is
old, unimportant, said once and never recalled. Nothing is erased: \`undo\` takes it back.
${formatExamples("optimize --dry-run", "optimize")}`,
    );
  addCommand(
    root,
    "jobs",
    "what runs in the background of a server, and how it went",
    async (_none, options) => (await import("./commands/optimize.ts")).runJobs(options),
  );
  addReindexCommand(root);
}

function addDoctorCommand(root: Command): void {
  addCommand(root, "doctor", "check the database for damage", async (_none, options) =>
    (await import("./commands/doctor.ts")).runDoctor(options),
  )
    .option("--fix", "put right what is proved: rows from backups, and search units made anew")
    .option(
      "--backup <FILE>",
      "a backup to take rows from; may be repeated",
      (file: string, files: string[] = []) => [...files, file],
    )
    .addHelpText(
      "after",
      `
Holds every row against a digest under the secret, which is not in the database, and says what can be restored from where. --fix
takes a row from a backup only where digests prove that it is the row that was written: nothing that was erased comes back.
Backups that the database knows are found beside it. Status 1 where something is wrong. With --json: { healthy, faults: [{ place,
problem, count, rows? }], integrity: { secret, without_digest, damage_seen }, remedies: [{ from, what, count, file? }], repaired }.
${formatExamples("doctor", "doctor --fix --backup monday.db")}`,
    );
}

function addReindexCommand(root: Command): void {
  addCommand(root, "reindex", "embed what waits for the embedder, to the end", async (_none, options) =>
    (await import("./commands/reindex.ts")).runReindex(options),
  )
    .option("--follower <NAME>", "clear this vector index instead, and fill it anew from the database")
    .addHelpText(
      "after",
      `
After a change of the embedder (KEEPSAKE_EMBEDDER, EMBEDDING_MODEL), and where it is a remote one. A server does the same
in the background. Safe to break off: the next run goes on. An index (KEEPSAKE_FOLLOWER) follows by itself; fill it anew where it is
to be another one, or took in another database before. Recalls go on from the database meanwhile.
${formatExamples("reindex", "reindex --follower chroma")}`,
    );
}
