import { Command, CommanderError, Option } from "commander";
import { LIST_ORDERS } from "../domain/memories/memory-order.ts";
import { KIND_NAMES, MEMORY_KINDS } from "../domain/memory.ts";
import { USAGE_BY } from "../domain/model-usage.ts";
import { IMPORT_FORMATS } from "../domain/operations/import-format.ts";
import {
  addAdministrationCommands,
  addReplayCommands,
  addUpkeepCommands,
} from "./administration-commands.ts";
import { addCompletionCommand, addHookCommands, addMcpCommands } from "./client-commands.ts";
import {
  addCommand,
  addFormerCommand,
  addFormerOption,
  type CommandAction,
  createCountParser,
  createWhereTextOption,
  formatExamples,
  parseShareOption,
  parseTimeOption,
} from "./command.ts";
import { EXIT } from "./exit.ts";
import { addRelationCommands } from "./memory-commands.ts";
import { addSearchCommands } from "./search-commands.ts";
import type { CommonOptions } from "./with-memory.ts";

const PROGRAM_HELP = `
Examples:
  $ keepsake remember "I use Shram and Magnet as productivity tools."
  $ keepsake answer "What productivity tools do I use?"
  $ keepsake forget "Magnet"
  $ keepsake chat
  $ keepsake serve

The database is the first of --db, KEEPSAKE_DB, MEMORY_DB_URL (sqlite:///FILE) and keepsake.db in this folder.
An ID may be cut to its beginning or its end, 6 characters or more, as lists show it on a terminal.
Colours: on a terminal, unless NO_COLOR is set; FORCE_COLOR=1 elsewhere too.
Exit status: 0 success; 1 failure; 2 usage error; 3 nothing found; 70 disk failure; 130 interrupted.`;

/** Builds the command line. The code of a command is loaded when the command runs. */
export function createProgram(version: string): Command {
  const root: Command = new Command("keepsake")
    .description("Long-term memory for programs that talk to language models, in one SQLite file.")
    .usage("COMMAND [options]")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [COMMAND]", "print the help of a command")
    .option("--db <FILE>", "the database file")
    .option("--user <ID>", "the user whose memory to use", "me")
    .option("--project <ID>", "the user's project", "default")
    .option("--agent <ID>", "the user's agent: labels what is stored, and reads only what has its label")
    .option("--at <TIME>", "message time, ISO 8601 (default: now)")
    .option("--json", "print one JSON document on stdout and nothing else")
    .addHelpText("after", PROGRAM_HELP)
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => (title === "Global Options:" ? "Global options:" : title),
      visibleGlobalOptions: (command) =>
        (command.parent?.options ?? []).filter(({ long }) => long !== "--version"),
    })
    // `runProgram` prints every error.
    .configureOutput({ outputError: () => {} });
  addConversationCommands(root);
  addSearchCommands(root);
  addForgetCommands(root);
  addMemoryCommands(root);
  addRelationCommands(root);
  addStatsCommand(root);
  addImportExportCommands(root);
  addMaintenanceCommands(root);
  addServerCommands(root);
  addMcpCommands(root);
  addHookCommands(root);
  addAdministrationCommands(root);
  addCompletionCommand(root);
  return root;
}

function addConversationCommands(root: Command): void {
  addCommand(root, "remember [TEXT]", "store a message; - reads it from stdin", async ([text], options) =>
    (await import("./commands/memories/remember.ts")).runRemember(text, options),
  )
    .option("--session <ID>", "the conversation that the message belongs to")
    .addOption(
      new Option("--role <ROLE>", "the speaker's role")
        .choices(["user", "assistant", "system", "tool"])
        .default("user"),
    )
    .option("--id <ID>", "the message's id; a repeated id is stored once")
    .option("--name <NAME>", "the speaker's name, in a conversation between people")
    .option("--attach <FILE>", "an image or a recording to keep with the message; then TEXT may be left out")
    .option("--description <TEXT>", "what the attached file shows or says; it is remembered like the message")
    .addHelpText(
      "after",
      formatExamples(
        'remember "I live in Porto now."',
        'remember "I moved to Ghent." --at 2024-03-01T09:00:00Z',
        "remember - < note.txt",
        'remember --attach cat.png --description "My cat is called Quixote."',
      ),
    );
  addCommand(root, "chat", "chat in the terminal, and show what is learnt", async (_operands, options) =>
    (await import("./commands/memories/chat.ts")).runChat(options),
  ).addHelpText(
    "after",
    `\nIf stdin is not a terminal, each of its lines is one turn.\n${formatExamples("chat", "chat < lines.txt")}`,
  );
}

function addForgetCommands(root: Command): void {
  addCommand(
    root,
    "forget [WHAT]",
    "erase matching memories from every store, with a receipt",
    async ([what], options) => (await import("./commands/memories/forget.ts")).runForget(what, options),
  )
    .option("--id <ID>", "a memory or message, by id; may be repeated", (id, ids: string[] = []) => [
      ...ids,
      id,
    ])
    .option(
      "--attachment <ID>",
      "an image or a recording, by id; may be repeated",
      (id, ids: string[] = []) => [...ids, id],
    )
    .option("--session <ID>", "everything from one conversation")
    .option("--from <TIME>", "everything said at or after this time")
    .option("--to <TIME>", "everything said before this time")
    .option("--topic <NAME>", "everything about a topic (health, money, work …) or with a relation")
    .option("--where <JSON>", "everything with this metadata")
    .addOption(createWhereTextOption("every memory and passage whose text matches"))
    .option("--everything", "everything about the user")
    .option("--dry-run", "show what would be erased, erase nothing")
    .option("--yes", "erase without asking")
    .addHelpText(
      "after",
      `
Name one of: words, ids, a session, a time (--from, --to or both), a topic, metadata, a text filter, or everything. On a terminal, the
command shows what it would erase and asks first. Elsewhere it erases at once; --everything needs --yes.
${formatExamples('forget "Magnet" --dry-run', 'forget "my salary" --yes', "forget --topic health", "forget --from 2026-03-01 --to 2026-03-08", "forget --everything --yes")}`,
    );
  addCommand(
    root,
    "undo <REVISION>",
    "undo a revision; `history` lists the revision numbers",
    async ([revision = ""], options) =>
      (await import("./commands/memories/remember.ts")).runUndo(revision, options),
  );
}

function addMemoryCommands(root: Command): void {
  const list = addCommand(root, "list", "list current memories, newest first", async (_operands, options) =>
    (await import("./commands/memories/memories.ts")).runList(options),
  )
    .addOption(new Option("--kind <KIND>", "only memories of this kind or group").choices(KIND_NAMES))
    .addOption(
      new Option("--status <STATUS>", "only memories with this status (current)").choices([
        "current",
        "superseded",
        "retracted",
        "all",
      ]),
    )
    .addOption(new Option("--sort <ORDER>", "the order (newest)").choices(LIST_ORDERS))
    .option("--from <TIME>", "only memories said from this time on")
    .option("--to <TIME>", "only memories said before this time")
    .option("--as-of <TIME>", "only what was true at this time, instead of --status")
    .option("--known-at <TIME>", "each memory as it was stored at this time")
    .addOption(createWhereTextOption('only memories whose text matches, such as {"$contains": "Porto"}'))
    .option("--limit <N>", "maximum number of memories (50)", createCountParser(1, 1000))
    .option("--cursor <CURSOR>", "continue after the page that gave this cursor")
    .option("--quarantined", "only memories quarantined as prompt injection, with the reason")
    .option("--review", "only memories that depend on something that has changed");
  addFormerOption(list, "set-aside", "quarantined");
  const approve: CommandAction = async ([id = ""], options) =>
    (await import("./commands/memories/memories.ts")).runApprove(id, options);
  addCommand(root, "approve <ID>", "approve a quarantined memory", approve);
  addFormerCommand(root, "let-in <ID>", "approve", approve);
  addCommand(
    root,
    "confirm <ID>",
    "end the review of a memory: it is still true",
    async ([id = ""], options) =>
      (await import("./commands/memories/associations.ts")).runConfirm(id, options),
  );
  addCommand(root, "get <ID>", "show one memory with its sources", async ([id = ""], options) =>
    (await import("./commands/memories/memories.ts")).runGet(id, options),
  );
  addEditCommand(root);
  addCommand(
    root,
    "history [ID]",
    "show the versions of a memory, or all revisions if no id is given",
    async ([id], options) => (await import("./commands/memories/memories.ts")).runHistory(id, options),
  ).option("--limit <N>", "maximum number of revisions (50)", createCountParser(1, 1000));
  addCommand(
    root,
    "explain <ID>",
    "explain the result of an earlier recall or answer",
    async ([id = ""], options) => (await import("./commands/memories/recall.ts")).runExplain(id, options),
  )
    .option("--about <ID>", "explain why this memory, passage or message was or was not in it")
    .addHelpText(
      "after",
      `
\`recall --explain\` and \`--json\` show the id. Keepsake keeps the newest 1,000 recalls of each user. Items erased since
then are marked as erased, without their content.
${formatExamples("explain 019f…", "explain 019f… --about 019e…")}`,
    );
  addCommand(root, "profile", "show what is currently known about the user", async (_operands, options) =>
    (await import("./commands/memories/memories.ts")).runProfile(options),
  ).option("--max-tokens <N>", "maximum length (2,000 tokens)", createCountParser(1, 1_000_000));
}

function addEditCommand(root: Command): void {
  addCommand(
    root,
    "edit <ID> [TEXT]",
    "change a memory; without TEXT, in your editor",
    async ([id = "", text], options) =>
      (await import("./commands/memories/edit.ts")).runEdit(id, text, options),
  )
    .addOption(new Option("--kind <KIND>", "the kind of the memory").choices(MEMORY_KINDS))
    .option("--importance <S>", "how important it is, from 0 to 1", parseShareOption)
    .option("--valid-to <TIME>", "until when it is true; a time in the past ends it", parseTimeOption)
    .option("--expires <TIME>", "when it disappears", parseTimeOption)
    .addHelpText(
      "after",
      `
The earlier version stays in the history, and \`undo\` restores it. On a terminal, the editor is that of VISUAL or EDITOR. The text
"-" is read from stdin.
${formatExamples("edit 1a2b3c4d", 'edit 1a2b3c4d "The user lives in Ghent."', "edit 1a2b3c4d --valid-to 2026-03-01")}`,
    );
}

/** Adds the command that shows the cost of model calls. */
function addStatsCommand(root: Command): void {
  addCommand(
    root,
    "stats",
    "show the cost of model calls and the remaining budgets",
    async (_operands, options) => (await import("./commands/server/stats.ts")).runStats(options),
  )
    .addOption(new Option("--by <WHAT>", "group rows by").choices(USAGE_BY))
    .option("--since <TIME>", "calls at or after this time", parseTimeOption)
    .option("--until <TIME>", "calls before this time", parseTimeOption)
    .option("--of-user", "calls for one user (--user), with the number of memories")
    .addHelpText(
      "after",
      `
Prices are list prices unless KEEPSAKE_PRICES names a file with others. Days are in UTC. Chat calls that the proxy
forwarded are listed separately.
${formatExamples("stats", "stats --by day --since 2026-11-01", "stats --of-user --user ana --json")}`,
    );
}

function addImportExportCommands(root: Command): void {
  addCommand(
    root,
    "import <FILE...>",
    "import conversations from files; safe to run again",
    async ([files], options) =>
      (await import("./commands/server/import.ts")).runImport(files as unknown as string[], options),
  )
    .addOption(new Option("--format <FORMAT>", "the files' format").choices(IMPORT_FORMATS).default("auto"))
    .option("--dry-run", "show what would be stored and learnt, store nothing")
    .addHelpText(
      "after",
      `
The format is recognised by the content: exports of ChatGPT (conversations.json), Claude (conversations.json,
memories.json), Gemini (MyActivity.json), mem0, Letta (.af), Telegram (result.json) and WhatsApp (.txt), character cards,
Portable AI Memory (pam), OpenAI messages as JSON lines, and \`export\` (keepsake). Each line of jsonl is a message:
{"id"?, "role", "content", "name"?, "at"?, "session"?, "metadata"?}. All files are checked first; if one contains an
error, nothing is stored. Files may be compressed (.gz) and of any size. One undo takes back the whole import.
${formatExamples("import conversations.json --dry-run", "import chat.jsonl result.json --user ana", "import locomo.json --format locomo")}`,
    );
  addCommand(root, "export [FILE]", "export everything about the user", async ([file], options) =>
    (await import("./commands/server/export.ts")).runExport(file, options),
  )
    .addOption(
      new Option("--format <FORMAT>", "the format of the export")
        .choices(["jsonl", "pam", "markdown"])
        .default("jsonl"),
    )
    .addHelpText(
      "after",
      `
pam is Portable AI Memory 1.0, signed: a folder (named with "/" at its end) gets the memories and a file for each
conversation, a file the memories alone. markdown is a list by topic, for people.
${formatExamples("export memories.jsonl", "export | gzip > memories.jsonl.gz", "export --format pam backup/", "export --format markdown me.md")}`,
    );
  addCommand(root, "move", "copy the whole database into another, empty one", async (_operands, options) =>
    (await import("./commands/server/move.ts")).runMove(options as CommonOptions & { readonly to: string }),
  )
    .requiredOption("--to <URL>", "a file, sqlite:///FILE, postgresql://HOST/NAME or mysql://HOST/NAME")
    .addHelpText(
      "after",
      `
Copies the memories of all users and projects, with receipts, tombstones, keys and costs. Embeddings are copied, not
recomputed. At the end, both databases are read and compared by digest. Stop the server first. If the move is interrupted,
run it again: it continues where it stopped. Until it is complete, nothing else can open the new database. The old database
does not change.
With PostgreSQL or MariaDB, set KEEPSAKE_SECRET to the content of the .secret file beside the old database. A password of
PostgreSQL that is not in the address is read from PGPASSWORD or ~/.pgpass.
${formatExamples("move --to sqlite:////var/lib/keepsake.db", "move --to postgresql://keepsake@db.example/keepsake")}`,
    );
}

function addServerCommands(root: Command): void {
  addCommand(root, "serve", "run the server and its web page", async (_operands, options) =>
    (await import("./commands/server/serve.ts")).runServe(options),
  )
    .option("--host <HOST>", "the address to listen on (127.0.0.1)")
    .option("--port <PORT>", "the port (7420); 0 picks a free one", createCountParser(0, 65_535))
    .addHelpText("after", formatExamples("serve", "serve --port 8080 --db /var/lib/keepsake.db"));
  const worker = addCommand(root, "worker", "run background jobs", async (_operands, options) =>
    (await import("./commands/server/worker.ts")).runWorker(options),
  )
    .option(
      "--port <PORT>",
      "serve GET /health and GET /metrics on this port; 0 picks a free one",
      createCountParser(0, 65_535),
    )
    .option("--host <HOST>", "the address to listen on with --port (127.0.0.1)")
    .option("--quarantined", "list the jobs that failed too often, then exit")
    .option("--again <ID>", "retry one of those jobs, then exit")
    .addHelpText(
      "after",
      `
Any number of workers can share one database. With KEEPSAKE_QUEUE=bullmq, workers receive jobs at once. With
KEEPSAKE_JOBS=workers, the server leaves all background jobs to workers.
${formatExamples("worker", "worker --port 7421", "worker --quarantined")}`,
    );
  addFormerOption(worker, "set-aside", "quarantined");
}

/** Runs a command line. Sets exit status 2 on a usage error, and prints how to correct it. */
export async function runProgram(root: Command, words: readonly string[]): Promise<void> {
  const end = words.indexOf("--");
  const wantsJson = (end === -1 ? words : words.slice(0, end)).includes("--json");
  if (wantsJson) root.configureOutput({ writeErr: () => {} });
  try {
    await root.parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    process.exitCode = EXIT.wrongUse;
    const message = toUsageMessage(error);
    if (wantsJson) process.stdout.write(`${JSON.stringify({ error: { code: "invalid_input", message } })}\n`);
    // If no command was given, commander has printed the help already.
    else if (error.code !== "commander.help") process.stderr.write(`keepsake: ${message}\n`);
  }
}

/** Gives the error without quoted arguments, which may be a user's text. */
function toUsageMessage({ code, message }: CommanderError): string {
  if (code === "commander.help") return "no command given. Run `keepsake --help` for a list.";
  const shown = message
    .replace(/^error: /, "")
    .replace(/\s*\n\s*/g, " ")
    .replace(/'([^']*)'/g, (quoted, inside: string) =>
      /^[\w<>.-]+(?: <\w+>)?$/.test(inside) ? quoted : "'…'",
    )
    .replace(/([^.?)])$/, "$1.");
  if (code === "commander.excessArguments") return `${shown} Put text in quotes.`;
  if (code === "commander.unknownOption") return `${shown} Put text that begins with a dash after "--".`;
  return shown;
}

function addBackupCommands(root: Command): void {
  addCommand(
    root,
    "backup <FILE>",
    "back up the whole database into one file, while it is in use",
    async ([file = ""], options) =>
      (await import("./commands/server/maintenance.ts")).runBackup(file, options),
  )
    .option("--keep-until <TIME>", "when you will delete it; erasure receipts name it until then")
    .option("--yes", "replace an existing file")
    .addHelpText(
      "after",
      `
Contains the memories of all users and projects. The copy is verified before it is put in place, with mode 0600.
The secret is not in it: keep a copy of the .secret file in another place.
${formatExamples("backup monday.db", "backup monday.db --keep-until 2027-01-31")}`,
    );
  addCommand(
    root,
    "backups",
    "list the backups that a server or a worker made, or fetch one",
    async (_operands, options) => (await import("./commands/server/maintenance.ts")).runBackups(options),
  )
    .option("--fetch <NAME>", "fetch this backup into a file")
    .option("--to <FILE>", "the file (default: its name)")
    .addHelpText(
      "after",
      `
KEEPSAKE_BACKUP_TO names a folder or s3://BUCKET/FOLDER. A server or a worker makes a backup every day and keeps it for 30
days (KEEPSAKE_BACKUP_EVERY_HOURS, KEEPSAKE_BACKUP_KEEP_DAYS). Each is checked by a restore into a second database.
${formatExamples("backups", "backups --fetch keepsake-018f0a-2026-03-01T10-00-00Z.db --to monday.db")}`,
    );
  addCommand(root, "restore <FILE>", "replace the database with a backup", async ([file = ""], options) =>
    (await import("./commands/server/maintenance.ts")).runRestore(file, options),
  )
    .option("--yes", "rename an existing database and keep it")
    .option("--without-ledger", "continue even if the erasure ledger is lost")
    .option("--even-if-changed", "continue even if another program changed the backup's rows")
    .addHelpText(
      "after",
      `
Stop the server first. Erasures made since the backup are applied again before the database can be read. They are listed
in the erasure ledger, the .erasures file beside the database.
${formatExamples("restore monday.db --yes")}`,
    );
}

/** Adds the commands that maintain the database: backups, checks, repairs. */
function addMaintenanceCommands(root: Command): void {
  addBackupCommands(root);
  addDoctorCommand(root);
  addCommand(
    root,
    "audit",
    "verify erasure receipts: their chain, their signatures, and that none is missing",
    async (_operands, options) => (await import("./commands/server/maintenance.ts")).runAudit(options),
  )
    .option("--head <HASH>", "the hash that an earlier audit printed, to detect receipts removed since")
    .addHelpText(
      "after",
      `
Prints the public key with which anyone can verify the receipts without this program. Exits with status 1 if a check
fails.
${formatExamples("audit", "audit --json")}`,
    );
  addCommand(
    root,
    "optimize",
    "merge duplicate memories, archive old and unused ones",
    async (_operands, options) => (await import("./commands/server/maintenance.ts")).runOptimize(options),
  )
    .option("--dry-run", "show what would change, change nothing")
    .option(
      "--current-turn <N>",
      "skip memories from the hundred turns before this one",
      createCountParser(0, 999_999_999),
    )
    .option("--max-age-days <N>", "archive memories last said longer ago", createCountParser(0, 100_000))
    .option("--min-importance <S>", "archive memories less important, from 0 to 1", parseShareOption)
    .addOption(
      new Option("--kinds <KIND...>", "archive memories of these kinds or groups").choices(KIND_NAMES),
    )
    .addHelpText(
      "after",
      `
Removes expired memories from search, merges duplicates (also in other words), reports faded memories, and archives
memories that are old, unimportant, said once and never recalled. Nothing is erased: \`undo\` reverts it. The limits of age,
importance and kind set what is archived; what was recalled, edited, said twice or associated stays.
${formatExamples("optimize --dry-run", "optimize --max-age-days 30 --min-importance 0.3")}`,
    );
  addCommand(
    root,
    "jobs",
    "list background jobs and the result of their last runs",
    async (_operands, options) => (await import("./commands/server/maintenance.ts")).runJobs(options),
  );
  addReindexCommand(root);
  addUpkeepCommands(root);
  addReplayCommands(root);
}

function addDoctorCommand(root: Command): void {
  addCommand(root, "doctor", "check the database for damage", async (_operands, options) =>
    (await import("./commands/server/doctor.ts")).runDoctor(options),
  )
    .option("--fix", "repair what can be proved: restore rows from backups, rebuild search units")
    .option(
      "--backup <FILE>",
      "a backup to restore rows from; may be repeated",
      (file: string, files: string[] = []) => [...files, file],
    )
    .addHelpText(
      "after",
      `
Compares every row with a digest keyed by the secret, which is not in the database, and says what can be restored from where.
--fix restores a row from a backup only if digests prove that it is the row that was written: erased data never comes back.
Known backups in the database's folder are used too. Exits with status 1 if there is damage. With --json: { healthy, faults: [{ place,
problem, count, rows? }], integrity: { secret, without_digest, damage_seen }, remedies: [{ from, what, count, file? }], repaired }.
${formatExamples("doctor", "doctor --fix --backup monday.db")}`,
    );
}

function addReindexCommand(root: Command): void {
  addCommand(root, "reindex", "compute missing embeddings", async (_operands, options) =>
    (await import("./commands/server/maintenance.ts")).runReindex(options),
  )
    .option("--follower <NAME>", "clear this vector index instead, and rebuild it from the database")
    .addHelpText(
      "after",
      `
Run it after a change of the embedder (KEEPSAKE_EMBEDDER, EMBEDDING_MODEL), or with a remote embedder. A server does the same
in the background. Safe to interrupt: the next run continues. A vector index (KEEPSAKE_FOLLOWER) stays in sync by itself;
rebuild it if it is new or was filled from another database. Meanwhile, recalls use the database.
${formatExamples("reindex", "reindex --follower chroma")}`,
    );
}
