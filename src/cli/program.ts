import { Command, CommanderError, Option } from "commander";
import { MEMORY_KINDS } from "../domain/memory.ts";
import { USAGE_BY } from "../domain/model-usage.ts";
import { KEY_SCOPES } from "../http/keys/key-ring.ts";
import {
  addCommand,
  createCountParser,
  formatExamples,
  parseDuration,
  parseMomentOrDuration,
  parseTimeOption,
} from "./command.ts";
import type { KeysOptions } from "./commands/keys.ts";
import { EXIT } from "./exit.ts";
import type { CommonOptions } from "./with-memory.ts";

const PROGRAM_HELP = `
Examples:
  $ keepsake remember "I use Shram and Magnet as productivity tools."
  $ keepsake answer "What productivity tools do I use?"
  $ keepsake forget "Magnet"
  $ keepsake chat
  $ keepsake serve

The database is --db, else KEEPSAKE_DB, else MEMORY_DB_URL (sqlite:///FILE), else keepsake.db in this folder.
Exit status: 0 done; 1 failed; 2 wrong use; 3 nothing found; 70 the disk failed; 130 interrupted.`;

/** The command line. Each command is loaded when it is called. */
export function createProgram(version: string): Command {
  const root: Command = new Command("keepsake")
    .description("Long-term memory for programs that talk to a language model, in one SQLite file.")
    .usage("COMMAND [options]")
    .version(version, "-V, --version", "the version")
    .helpOption("-h, --help", "this help")
    .helpCommand("help [COMMAND]", "the help of a command")
    .option("--db <FILE>", "the database file")
    .option("--user <ID>", "whose memory it is", "me")
    .option("--project <ID>", "the project the user belongs to", "default")
    .option("--at <TIME>", "when it happens (said at), in ISO 8601; now, where absent")
    .option("--json", "one JSON document on stdout and nothing else")
    .addHelpText("after", PROGRAM_HELP)
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => (title === "Global Options:" ? "Options of every command:" : title),
      visibleGlobalOptions: (one) => (one.parent?.options ?? []).filter(({ long }) => long !== "--version"),
    })
    // What went wrong is said in one place: `run`.
    .configureOutput({ outputError: () => {} });
  addConversationCommands(root);
  addForgetCommands(root);
  addMemoryCommands(root);
  addStatsCommand(root);
  addImportExportCommands(root);
  addMaintenanceCommands(root);
  addServerCommands(root);
  addKeyCommands(root);
  return root;
}

function addConversationCommands(root: Command): void {
  addCommand(
    root,
    "remember <TEXT>",
    "take in what was said; - reads it from stdin",
    async ([text = ""], options) => (await import("./commands/remember.ts")).runRemember(text, options),
  )
    .option("--session <ID>", "the conversation it belongs to")
    .addOption(
      new Option("--role <ROLE>", "who said it")
        .choices(["user", "assistant", "system", "tool"])
        .default("user"),
    )
    .option("--id <ID>", "the message's id; the same id again is stored once")
    .option("--name <NAME>", "who speaks, where people talk among themselves")
    .addHelpText(
      "after",
      formatExamples(
        'remember "I live in Porto now."',
        'remember "I moved to Ghent." --at 2024-03-01T09:00:00Z',
        "remember - < note.txt",
      ),
    );
  addCommand(root, "recall <QUERY>", "what is relevant, best first", async ([query = ""], options) =>
    (await import("./commands/recall.ts")).runRecall(query, options),
  )
    .option("--limit <N>", "how many items at most (10)", createCountParser(1, 1000))
    .option("--as-of <TIME>", "what was true then", parseTimeOption)
    .option("--known-at <TIME>", "what was known then", parseTimeOption)
    .option("--explain", "why each item came, and what was dropped")
    .addHelpText(
      "after",
      formatExamples('recall "productivity tools"', 'recall "where I live" --as-of 2023-06-01 --explain'),
    );
  addCommand(
    root,
    "answer <QUESTION>",
    "a short answer from memory, or that it does not know",
    async ([question = ""], options) => (await import("./commands/recall.ts")).runAnswer(question, options),
  )
    .option("--as-of <TIME>", "what was true then", parseTimeOption)
    .option("--known-at <TIME>", "what was known then", parseTimeOption)
    .addHelpText(
      "after",
      formatExamples('answer "Where do I live?"', 'answer "Where did I live?" --as-of 2023-06-01'),
    );
  addCommand(
    root,
    "chat",
    "a conversation in the terminal; what was learnt is shown",
    async (_none, options) => (await import("./commands/chat.ts")).runChat(options),
  ).addHelpText(
    "after",
    `\nWhere stdin is no terminal, each of its lines is a turn.\n${formatExamples("chat", "chat < lines.txt")}`,
  );
}

function addForgetCommands(root: Command): void {
  addCommand(
    root,
    "forget [WHAT]",
    "erase what is meant, from every place, with a receipt",
    async ([what], options) => (await import("./commands/forget.ts")).runForget(what, options),
  )
    .option(
      "--id <ID>",
      "a memory or message, by its id; may be given again",
      (id, before: string[] = []) => [...before, id],
    )
    .option("--session <ID>", "a whole conversation")
    .option("--from <TIME>", "what was said from then on")
    .option("--to <TIME>", "what was said before then")
    .option("--topic <NAME>", "what is about a topic (health, money, work …) or of a relation")
    .option("--where <JSON>", "what carries such metadata")
    .option("--everything", "all there is about the user")
    .option("--dry-run", "show what would go, erase nothing")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      `
Say one thing: words, ids, a session, a time (--from, --to or both), a topic, metadata, or everything. On a terminal it
shows what would go, and asks. Elsewhere it does what it was told; all there is takes --yes.
${formatExamples('forget "Magnet" --dry-run', 'forget "my salary" --yes', "forget --topic health", "forget --from 2026-03-01 --to 2026-03-08", "forget --everything --yes")}`,
    );
  addCommand(
    root,
    "undo <REVISION>",
    "take a revision back; `history` shows their numbers",
    async ([revision = ""], options) => (await import("./commands/remember.ts")).runUndo(revision, options),
  );
}

function addMemoryCommands(root: Command): void {
  addCommand(root, "list", "the memories that hold, newest first", async (_none, options) =>
    (await import("./commands/memories.ts")).runList(options),
  )
    .addOption(new Option("--kind <KIND>", "of one kind").choices(MEMORY_KINDS))
    .addOption(
      new Option("--status <STATUS>", "those that hold, or another status")
        .choices(["current", "superseded", "retracted", "all"])
        .default("current"),
    )
    .option("--limit <N>", "how many at most (50)", createCountParser(1, 1000))
    .option("--cursor <CURSOR>", "go on after a page")
    .option("--set-aside", "only what was set aside as an order to the assistant, with the reason");
  addCommand(root, "let-in <ID>", "let in a memory that was set aside", async ([id = ""], options) =>
    (await import("./commands/memories.ts")).runApprove(id, options),
  );
  addCommand(root, "get <ID>", "one memory with its sources", async ([id = ""], options) =>
    (await import("./commands/memories.ts")).runGet(id, options),
  );
  addCommand(
    root,
    "history [ID]",
    "the versions of a memory; without an id, what happened",
    async ([id], options) => (await import("./commands/memories.ts")).runHistory(id, options),
  ).option("--limit <N>", "how many revisions at most (50)", createCountParser(1, 1000));
  addCommand(
    root,
    "explain <ID>",
    "why an earlier recall or answer gave what it gave",
    async ([id = ""], options) => (await import("./commands/recall.ts")).runExplain(id, options),
  )
    .option("--about <ID>", "why this memory, passage or message was or was not among it")
    .addHelpText(
      "after",
      `
\`recall --explain\` shows the id, and so does \`--json\`. The newest 1,000 recalls of a user can be asked for; what has
been erased since says so, and nothing else.
${formatExamples("explain 019f…", "explain 019f… --about 019e…")}`,
    );
  addCommand(root, "profile", "what holds now about the user", async (_none, options) =>
    (await import("./commands/memories.ts")).runProfile(options),
  ).option("--max-tokens <N>", "how long it may be (2,000 tokens)", createCountParser(1, 1_000_000));
}

/** What calls to models came to. */
function addStatsCommand(root: Command): void {
  addCommand(
    root,
    "stats",
    "what calls to models cost, and what is left of the budgets",
    async (_none, options) => (await import("./commands/stats.ts")).runStats(options),
  )
    .addOption(new Option("--by <WHAT>", "what a row is of").choices(USAGE_BY))
    .option("--since <TIME>", "from then on", parseTimeOption)
    .option("--until <TIME>", "before then", parseTimeOption)
    .option("--of-user", "of one user (--user) alone, with how much is known")
    .addHelpText(
      "after",
      `
Prices are list prices where KEEPSAKE_PRICES names no file with others; days are those of UTC. What a proxy passed on is
told apart.
${formatExamples("stats", "stats --by day --since 2026-11-01", "stats --of-user --user ana --json")}`,
    );
}

function addImportExportCommands(root: Command): void {
  addCommand(
    root,
    "import <FILE...>",
    "take conversations in from elsewhere; safe to run again",
    async ([files], options) =>
      (await import("./commands/import-export.ts")).runImport(files as unknown as string[], options),
  )
    .addOption(
      new Option("--format <FORMAT>", "the files' format")
        .choices(["auto", "jsonl", "locomo", "longmemeval", "keepsake"])
        .default("auto"),
    )
    .option("--dry-run", "count and date what is there, store nothing")
    .addHelpText(
      "after",
      `
A line of jsonl is a message: {"id"?, "role", "content", "name"?, "at"?, "session"?, "metadata"?}; keepsake is what
\`export\` writes. All files are read through first: where one holds a mistake, nothing is stored.
JSON that is no lines is read whole, up to 500 MB. Files may be packed (.gz).
${formatExamples("import chat.jsonl --dry-run", "import locomo.json --format locomo --user demo")}`,
    );
  addCommand(root, "export [FILE]", "everything about the user as JSON lines", async ([file], options) =>
    (await import("./commands/import-export.ts")).runExport(file, options),
  ).addHelpText("after", formatExamples("export memories.jsonl", "export | gzip > memories.jsonl.gz"));
  addCommand(root, "move", "copy the whole database into another, empty one", async (_none, options) =>
    (await import("./commands/move.ts")).runMove(options as CommonOptions & { readonly to: string }),
  )
    .requiredOption("--to <URL>", "where to: sqlite:///FILE, postgresql://HOST/NAME, or a file")
    .addHelpText(
      "after",
      `
Everybody's memories, of all projects, with receipts, tombstones, keys and what calls cost; what is to be searched is not
embedded again. In the end both are read and compared by digest. Stop the server first. Broken off, it goes on where it was
when it is run again; until it has ended, the new database opens for nothing else. The old one stays as it is.
With PostgreSQL, set KEEPSAKE_SECRET to what the file holds that lies beside the old one and ends in .secret. A password that the
address leaves out is taken from PGPASSWORD or ~/.pgpass.
${formatExamples("move --to sqlite:////var/lib/keepsake.db", "move --to postgresql://keepsake@db.example/keepsake")}`,
    );
}

function addServerCommands(root: Command): void {
  addCommand(root, "serve", "the server and its page", async (_none, options) =>
    (await import("./commands/serve.ts")).runServe(options),
  )
    .option("--host <HOST>", "where to listen (127.0.0.1)")
    .option("--port <PORT>", "the port (7420); 0 takes any that is free", createCountParser(0, 65_535))
    .addHelpText("after", formatExamples("serve", "serve --port 8080 --db /var/lib/keepsake.db"));
  addCommand(
    root,
    "worker",
    "do the work of the background, for servers that leave it to workers",
    async (_none, options) => (await import("./commands/worker.ts")).runWorker(options),
  )
    .option(
      "--port <PORT>",
      "answer GET /health and GET /metrics there; 0 takes any that is free",
      createCountParser(0, 65_535),
    )
    .option("--host <HOST>", "where to listen for that (127.0.0.1)")
    .option("--set-aside", "show what failed too often and is left alone, and end")
    .option("--again <ID>", "let one of those run again, and end")
    .addHelpText(
      "after",
      `
Any number may run on one database. KEEPSAKE_QUEUE=bullmq tells them at once what there is to do; KEEPSAKE_JOBS=workers has a
server leave it to them.
${formatExamples("worker", "worker --port 7421", "worker --set-aside")}`,
    );
}

/** Runs a command line. Wrong use gives the shell 2, with a hint at what would be right. */
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
    // Where no command was given, the help stands there already.
    else if (error.code !== "commander.help") process.stderr.write(`keepsake: ${message}\n`);
  }
}

/** What was wrong, without the words of a user that may have been among it. */
function toUsageMessage({ code, message }: CommanderError): string {
  if (code === "commander.help") return "say which command. `keepsake --help` shows them.";
  const said = message
    .replace(/^error: /, "")
    .replace(/\s*\n\s*/g, " ")
    .replace(/'([^']*)'/g, (whole, inside: string) => (/^[\w<>.-]+(?: <\w+>)?$/.test(inside) ? whole : "'…'"))
    .replace(/([^.?)])$/, "$1.");
  if (code === "commander.excessArguments") return `${said} Put a text in quotes.`;
  if (code === "commander.unknownOption") return `${said} A text that begins with a dash goes after "--".`;
  return said;
}

/** The commands that look after the database: copies of it, and whether it is well. */
export function addMaintenanceCommands(root: Command): void {
  addCommand(
    root,
    "backup <FILE>",
    "copy the whole database into one file, while it is in use",
    async ([file = ""], options) => (await import("./commands/maintenance.ts")).runBackup(file, options),
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
    (await import("./commands/maintenance.ts")).runRestore(file, options),
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
    async (_none, options) => (await import("./commands/maintenance.ts")).runAudit(options),
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
    async (_none, options) => (await import("./commands/maintenance.ts")).runOptimize(options),
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
    async (_none, options) => (await import("./commands/maintenance.ts")).runJobs(options),
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
    (await import("./commands/maintenance.ts")).runReindex(options),
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

/** The commands that make and end the server's keys. They work beside a server that runs. */
export function addKeyCommands(root: Command): void {
  const keys = root
    .command("keys")
    .description("the server's keys: make them, change their secrets, end them")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
They lie beside the database (FILE.keys.json), or in it where it is PostgreSQL, by their hashes: a key is shown once, when it
is made. A server that runs takes a change up at once.
${formatExamples("keys list", 'keys create --scope read --label "dashboard"', "keys rotate 3f2a9c0d1b7e", "keys revoke 3f2a9c0d1b7e")}`,
    );
  addKeysCommand(keys, "list", "the keys of all projects, or of --project", async (_none, options) =>
    (await import("./commands/keys.ts")).listKeys(options),
  );
  addKeysCommand(keys, "create", "make a key for --project", async (_none, options) =>
    (await import("./commands/keys.ts")).createKey(options),
  )
    .addOption(new Option("--scope <SCOPE...>", "what it may do (read, write and erase)").choices(KEY_SCOPES))
    .option("--only-user <ID>", "the only user it reaches; not with admin")
    .option("--expires <WHEN>", "when it ends: a time, or how long from now (90d)", parseMomentOrDuration)
    .option("--label <TEXT>", "what you call it")
    .addHelpText(
      "after",
      formatExamples(
        'keys create --project shop --label "shop\'s server"',
        "keys create --scope read --only-user ana --expires 30d",
        "keys create --scope admin",
      ),
    );
  addKeysCommand(keys, "rotate <ID>", "give a key another secret", async ([id = ""], options) =>
    (await import("./commands/keys.ts")).rotateKey(id, options),
  )
    .option("--grace <SPAN>", "how long the old secret still counts (24h); 0 ends it now", parseDuration)
    .addHelpText("after", formatExamples("keys rotate 3f2a9c0d1b7e", "keys rotate 3f2a9c0d1b7e --grace 0"));
  addKeysCommand(
    keys,
    "revoke <ID>",
    "end a key, and what is signed in with it",
    async ([id = ""], options) => (await import("./commands/keys.ts")).revokeKey(id, options),
  );
}

type KeysCommandAction = (operands: readonly string[], options: KeysOptions) => Promise<void>;

/** A command that knows whether a project was named: without one, it means the keys of all. */
function addKeysCommand(
  keys: Command,
  usage: string,
  description: string,
  action: KeysCommandAction,
): Command {
  return keys
    .command(usage)
    .description(description)
    .action(async (...given: unknown[]) => {
      const self = given.at(-1) as Command;
      const { project, ...options } = self.optsWithGlobals<KeysOptions>();
      const isNamed = self.getOptionValueSourceWithGlobals("project") === "cli";
      await action(self.processedArgs as string[], {
        ...options,
        ...(isNamed && project !== undefined ? { project } : {}),
      });
    });
}
