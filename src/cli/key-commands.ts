import { type Command, Option } from "commander";
import { KEY_SCOPES } from "../http/keys/key-ring.ts";
import { formatExamples, parseDuration, parseMomentOrDuration } from "./command.ts";
import type { KeysOptions } from "./commands/keys.ts";

/** Adds the commands that manage the server's keys. They work while a server runs. */
export function addKeyCommands(root: Command): void {
  const keys = root
    .command("keys")
    .description("manage the server's API keys")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
Keys are stored as hashes, beside the database (FILE.keys.json) or, with PostgreSQL, in it. A key is shown once, when it
is created. A running server applies changes at once.
${formatExamples("keys list", 'keys create --scope read --label "dashboard"', "keys rotate 3f2a9c0d1b7e", "keys revoke 3f2a9c0d1b7e")}`,
    );
  addKeysCommand(keys, "list", "list the keys of all projects, or of --project", async (_operands, options) =>
    (await import("./commands/keys.ts")).listKeys(options),
  );
  addKeysCommand(keys, "create", "create a key for --project", async (_operands, options) =>
    (await import("./commands/keys.ts")).createKey(options),
  )
    .addOption(
      new Option("--scope <SCOPE...>", "what the key may do (read, write and erase)").choices(KEY_SCOPES),
    )
    .option("--only-user <ID>", "restrict the key to one user; not with admin")
    .option(
      "--expires <WHEN>",
      "when the key expires: a time, or a duration from now (90d)",
      parseMomentOrDuration,
    )
    .option("--label <TEXT>", "a name for the key")
    .addHelpText(
      "after",
      formatExamples(
        'keys create --project shop --label "shop\'s server"',
        "keys create --scope read --only-user ana --expires 30d",
        "keys create --scope admin",
      ),
    );
  addKeysCommand(keys, "rotate <ID>", "replace the secret of a key", async ([id = ""], options) =>
    (await import("./commands/keys.ts")).rotateKey(id, options),
  )
    .option("--grace <SPAN>", "how long the old secret stays valid (24h); 0 ends it now", parseDuration)
    .addHelpText("after", formatExamples("keys rotate 3f2a9c0d1b7e", "keys rotate 3f2a9c0d1b7e --grace 0"));
  addKeysCommand(keys, "revoke <ID>", "revoke a key and its sign-ins", async ([id = ""], options) =>
    (await import("./commands/keys.ts")).revokeKey(id, options),
  );
}

type KeysCommandAction = (operands: readonly string[], options: KeysOptions) => Promise<void>;

/** Adds a command that gets `project` only if the command line names it: without one, it applies to all projects. */
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
