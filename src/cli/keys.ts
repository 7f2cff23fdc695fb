import { type Command, Option } from "commander";
import { KEY_SCOPES } from "../http/keys/entries.ts";
import { formatExamples } from "./command.ts";
import type { KeysOptions } from "./commands/keys.ts";
import { parseDuration, parseMomentOrDuration } from "./span.ts";

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
