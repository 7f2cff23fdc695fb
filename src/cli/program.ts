import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { KINDS } from "../domain/memory.ts";
import { EXIT } from "./exit.ts";
import type { CommonOptions } from "./run.ts";

const EXAMPLES = `
Examples:
  keepsake remember "I use Shram and Magnet as productivity tools."
  keepsake answer "What productivity tools do I use?"
  keepsake forget "Magnet" --dry-run
  keepsake import chat.jsonl
  keepsake serve

Exit status: 0 done; 1 failed; 2 wrong use; 3 nothing found.
The database is --db, else KEEPSAKE_DB, else MEMORY_DB_URL (sqlite:///FILE), else keepsake.db in this folder.`;

/** Takes a whole number within bounds, or says what is wrong with it. */
function count(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

function list(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** A command with the options that all of them take. */
function command(program: Command, usage: string, description: string): Command {
  return program
    .command(usage)
    .description(description)
    .option("--db <FILE>", "the database file")
    .option("--user <ID>", "whose memory it is", "me")
    .option("--project <ID>", "the project the user belongs to", "default")
    .option("--at <TIME>", "the time to act at, in ISO 8601; now, where absent")
    .option("--json", "one JSON document on stdout and nothing else");
}

/** The command line. Each command is loaded when it is called. */
export function program(version: string): Command {
  const root = new Command("keepsake")
    .description("Long-term memory for programs that talk to a language model, in one SQLite file.")
    .version(version, "-V, --version", "the version")
    .helpOption("-h, --help", "this help")
    .helpCommand("help [COMMAND]", "the help of a command")
    .addHelpText("after", EXAMPLES)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: false });
  talking(root);
  looking(root);
  moving(root);
  return root;
}

function talking(root: Command): void {
  command(root, "remember <TEXT>", "take in what was said; - reads it from stdin")
    .option("--session <ID>", "the conversation it belongs to")
    .addOption(
      new Option("--role <ROLE>", "who said it")
        .choices(["user", "assistant", "system", "tool"])
        .default("user"),
    )
    .option("--id <ID>", "the message's id; the same id again is stored once")
    .option("--name <NAME>", "who speaks, where people talk among themselves")
    .action(async (text: string, options) =>
      (await import("./commands/remember.ts")).remember(text, options),
    );
  command(root, "recall <QUERY>", "what is relevant, best first")
    .option("--limit <N>", "how many items at most", count(1, 1000))
    .option("--as-of <TIME>", "what was true then")
    .option("--explain", "why each item came, and what was dropped")
    .action(async (query: string, options) => (await import("./commands/recall.ts")).recall(query, options));
  command(root, "answer <QUESTION>", "a short answer from memory, or that it does not know")
    .option("--as-of <TIME>", "what was true then")
    .action(async (question: string, options) =>
      (await import("./commands/answer.ts")).answer(question, options),
    );
  command(root, "forget [WHAT]", "erase what is meant, from every place, with a receipt")
    .option("--id <ID>", "a memory or message, by its id; may be given again", list)
    .option("--session <ID>", "a whole conversation")
    .option("--everything", "all there is about the user")
    .option("--dry-run", "show what would go")
    .option("--yes", "do not ask")
    .action(async (what: string | undefined, options) =>
      (await import("./commands/forget.ts")).forget(what, options),
    );
  command(root, "chat", "a conversation in the terminal; what was learnt is shown").action(
    async (options: CommonOptions) => (await import("./commands/chat.ts")).chat(options),
  );
}

function looking(root: Command): void {
  command(root, "list", "the memories that hold, newest first")
    .addOption(new Option("--kind <KIND>", "of one kind").choices(KINDS))
    .addOption(
      new Option("--status <STATUS>", "of another status").choices([
        "current",
        "superseded",
        "retracted",
        "all",
      ]),
    )
    .option("--limit <N>", "how many at most", count(1, 1000))
    .option("--cursor <CURSOR>", "go on after a page")
    .action(async (options) => (await import("./commands/look.ts")).list(options));
  command(root, "get <ID>", "one memory with its sources").action(
    async (id: string, options: CommonOptions) => (await import("./commands/look.ts")).get(id, options),
  );
  command(root, "history [ID]", "the versions of a memory; without an id, what happened")
    .option("--limit <N>", "how many entries at most", count(1, 1000))
    .action(async (id: string | undefined, options) =>
      (await import("./commands/look.ts")).history(id, options),
    );
  command(root, "undo <REVISION>", "take a revision back").action(
    async (revision: string, options: CommonOptions) =>
      (await import("./commands/undo.ts")).undo(revision, options),
  );
  command(root, "profile", "what holds now about the user").action(async (options: CommonOptions) =>
    (await import("./commands/look.ts")).profile(options),
  );
}

function moving(root: Command): void {
  command(root, "import <FILE...>", "take conversations in from elsewhere; safe to run again")
    .addOption(
      new Option("--format <FORMAT>", "the files' format")
        .choices(["auto", "jsonl", "locomo", "longmemeval", "keepsake"])
        .default("auto"),
    )
    .option("--dry-run", "count and date what is there, store nothing")
    .action(async (files: string[], options) =>
      (await import("./commands/import.ts")).importFiles(files, options),
    );
  command(root, "export [FILE]", "everything about the user as JSON lines").action(
    async (file: string | undefined, options: CommonOptions) =>
      (await import("./commands/export.ts")).exportTo(file, options),
  );
  command(root, "doctor", "check the database for damage").action(async (options: CommonOptions) =>
    (await import("./commands/doctor.ts")).doctor(options),
  );
  command(root, "audit", "check the receipts of erasures: their chain and signatures").action(
    async (options: CommonOptions) => (await import("./commands/doctor.ts")).audit(options),
  );
  command(root, "serve", "the server and its page")
    .option("--host <HOST>", "where to listen (127.0.0.1)")
    .option("--port <PORT>", "the port (7420); 0 takes any that is free", count(0, 65_535))
    .action(async (options) => (await import("./commands/serve.ts")).serveHttp(options));
}

/** Runs a command line. Gives the shell 2 for wrong use. */
export async function run(root: Command, words: readonly string[]): Promise<void> {
  for (const one of [root, ...root.commands]) one.exitOverride();
  const wantsJson = words.includes("--json");
  if (wantsJson) for (const one of [root, ...root.commands]) one.configureOutput({ writeErr: () => {} });
  if (words.length === 0) {
    root.outputHelp({ error: true });
    process.exitCode = EXIT.wrongUse;
    return;
  }
  try {
    await root.parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    process.exitCode = EXIT.wrongUse;
    const message = error.message.replace(/^error: /, "");
    if (wantsJson) process.stdout.write(`${JSON.stringify({ error: { code: "invalid_input", message } })}\n`);
  }
}
