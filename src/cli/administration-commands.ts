import { type Command, Option } from "commander";
import { KIND_NAMES } from "../domain/memory.ts";
import { WEBHOOK_EVENTS } from "../domain/operations/webhook.ts";
import { KEY_SCOPES } from "../http/keys/key-ring.ts";
import {
  addCommand,
  createCountParser,
  formatExamples,
  parseDuration,
  parseMomentOrDuration,
} from "./command.ts";
import type { KeysOptions } from "./commands/server/keys.ts";
import type { CommonOptions } from "./with-memory.ts";

/** Adds the commands that manage keys, embedders, webhooks and encryption. All but the last work while a server runs. */
export function addAdministrationCommands(root: Command): void {
  addKeyCommands(root);
  addEmbedderCommands(root);
  addWebhookCommands(root);
  addEncryptionCommands(root);
}

/** Adds the commands for an encrypted database file. They need that no other program has it open. */
function addEncryptionCommands(root: Command): void {
  const encryption = root
    .command("encryption")
    .description("encrypt the database file, or change its master key")
    .helpCommand(false)
    .addHelpText(
      "after",
      formatExamples("encryption convert", "encryption rotate --to file:/etc/keepsake/master.key"),
    );
  addCommand(encryption, "convert", "encrypt a database file that has users", async (_operands, options) =>
    (await import("./commands/server/encryption.ts")).runConvert(options),
  ).addHelpText(
    "after",
    `
Stop the server first, and set KEEPSAKE_ENCRYPTION=on (and KEEPSAKE_MASTER_KEY_FILE or KEEPSAKE_MASTER_KEY, for a master key that is not the secret). The file is
copied into an encrypted one, both are compared, and the copy takes its place. If that is interrupted, the file is as before:
run it again. It needs as much free space as the file takes. Files that still hold unencrypted texts, such as backups, are named.
${formatExamples("encryption convert", "encryption convert --db /var/lib/keepsake.db")}`,
  );
  addCommand(
    encryption,
    "rotate",
    "give the keys of an encrypted file another master key",
    async (_operands, options) => (await import("./commands/server/encryption.ts")).runRotate(options),
  )
    .option("--to <place>", "where the new master key is: secret, file:PATH, aws-kms:KEY or vault:MOUNT/KEY")
    .addHelpText(
      "after",
      `
Stop the server first. The settings name the current master key. Each key of a user is wrapped with the new one; the data stays as it
is. If that is interrupted, nothing opens the database: run it again. Copies of the folder of keys from before still need the earlier
master key.
${formatExamples("encryption rotate --to file:/etc/keepsake/master.key")}`,
    );
}

/** Adds the commands that manage the server's keys. */
function addKeyCommands(root: Command): void {
  const keys = root
    .command("keys")
    .description("manage the server's API keys")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
Keys are stored as hashes, beside the database (FILE.keys.json) or, on a database server, in it. A key is shown once,
when it is created. A running server applies changes at once.
${formatExamples("keys list", 'keys create --scope read --label "dashboard"', "keys rotate 3f2a9c0d1b7e", "keys revoke 3f2a9c0d1b7e")}`,
    );
  addKeysCommand(keys, "list", "list the keys of all projects, or of --project", async (_operands, options) =>
    (await import("./commands/server/keys.ts")).listKeys(options),
  );
  addKeysCommand(keys, "create", "create a key for --project", async (_operands, options) =>
    (await import("./commands/server/keys.ts")).createKey(options),
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
    (await import("./commands/server/keys.ts")).rotateKey(id, options),
  )
    .option("--grace <SPAN>", "how long the old secret stays valid (24h); 0 ends it now", parseDuration)
    .addHelpText("after", formatExamples("keys rotate 3f2a9c0d1b7e", "keys rotate 3f2a9c0d1b7e --grace 0"));
  addKeysCommand(keys, "revoke <ID>", "revoke a key and its sign-ins", async ([id = ""], options) =>
    (await import("./commands/server/keys.ts")).revokeKey(id, options),
  );
  addKeysCommand(keys, "clients", "list the clients that were allowed by OAuth", async (_operands, options) =>
    (await import("./commands/server/oauth-clients.ts")).listClients(options),
  );
  addKeysCommand(keys, "disconnect <ID>", "end the access of such a client", async ([id = ""], options) =>
    (await import("./commands/server/oauth-clients.ts")).disconnectClient(id, options),
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

/** Adds the commands that choose embedders. */
function addEmbedderCommands(root: Command): void {
  const embedders = root
    .command("embedder")
    .description("choose the embedder of a user or a project")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
The setting KEEPSAKE_EMBEDDERS names the embedders; "default" is that of KEEPSAKE_EMBEDDER. Without --user, the whole --project
is meant. A user's own choice comes before the project's. A change applies at once; a server on this database embeds the stored
texts again within a minute, and finds them by their words until then.
${formatExamples("embedder list", "embedder choose multilingual --project support-pt", "embedder choose default --user ana", "embedder show --user ana", "embedder clear --user ana")}`,
    );
  const add = (
    usage: string,
    description: string,
    action: (name: string, of: CommonOptions) => Promise<void>,
  ) =>
    embedders
      .command(usage)
      .description(description)
      .action(async (...given: unknown[]) => {
        const self = given.at(-1) as Command;
        const { user, ...options } = self.optsWithGlobals<CommonOptions>();
        const isNamed = self.getOptionValueSourceWithGlobals("user") === "cli";
        const of = isNamed && user !== undefined ? { ...options, user } : options;
        await action(self.processedArgs[0] ?? "", of);
      });
  const load = () => import("./commands/server/embedders.ts");
  add("list", "list the embedders, and who of --project has chosen which", async (_name, options) =>
    (await load()).listEmbedderChoices(options),
  );
  add(
    "show",
    "show the embedder of --user or of --project, and how many texts wait for it",
    async (_name, of) => (await load()).showEmbedder(of),
  );
  add("choose <NAME>", "choose an embedder for --user or for --project", async (name, of) =>
    (await load()).chooseEmbedderFor(name, of),
  );
  add("clear", "remove the choice of --user or of --project", async (_name, of) =>
    (await load()).chooseEmbedderFor(null, of),
  );
}

/** Adds the commands that manage webhooks. */
function addWebhookCommands(root: Command): void {
  const webhooks = root
    .command("webhooks")
    .description("manage webhooks, which are notified when memories change")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
Webhooks belong to --project. A server or \`keepsake worker\` on this database sends the events; it sees changes within seconds.
${formatExamples("webhooks list", "webhooks add https://example.com/hook --event memories.changed content.erased", "webhooks test ID", "webhooks attempts ID")}`,
    );
  addCommand(webhooks, "list", "list the webhooks of --project", async (_operands, options) =>
    (await import("./commands/server/webhooks.ts")).listWebhooks(options),
  );
  addDefinitionOptions(
    addCommand(
      webhooks,
      "add <URL>",
      "register a webhook, and print its secret once",
      async ([url = ""], options) => (await import("./commands/server/webhooks.ts")).addWebhook(url, options),
    ),
  )
    .option("--disabled", "send no events yet")
    .addHelpText(
      "after",
      formatExamples(
        "webhooks add https://example.com/hook",
        'webhooks add https://example.com/hook --event content.erased --label "audit"',
      ),
    );
  addDefinitionOptions(
    addCommand(
      webhooks,
      "update <ID>",
      "change a webhook; what is not named stays",
      async ([id = ""], options) =>
        (await import("./commands/server/webhooks.ts")).updateWebhook(id, options),
    ),
  )
    .option("--url <URL>", "an https URL of a public host")
    .option("--enable", "send events again, from the first that was not delivered")
    .addOption(new Option("--disable", "send no more events").conflicts("enable"))
    .addHelpText(
      "after",
      formatExamples("webhooks update ID --enable", "webhooks update ID --url https://example.com/new"),
    );
  addCommand(webhooks, "test <ID>", "send an event webhook.test now", async ([id = ""], options) =>
    (await import("./commands/server/webhooks.ts")).testWebhook(id, options),
  );
  addCommand(webhooks, "attempts <ID>", "list the last attempts, newest first", async ([id = ""], options) =>
    (await import("./commands/server/webhooks.ts")).listAttempts(id, options),
  );
  addCommand(webhooks, "rotate <ID>", "replace the secret of a webhook", async ([id = ""], options) =>
    (await import("./commands/server/webhooks.ts")).rotateWebhook(id, options),
  ).option(
    "--grace <SPAN>",
    "how long events are signed with the old secret too (24h); 0 ends it now",
    parseDuration,
  );
  addCommand(webhooks, "remove <ID>", "remove a webhook", async ([id = ""], options) =>
    (await import("./commands/server/webhooks.ts")).removeWebhook(id, options),
  );
}

function addDefinitionOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--event <EVENT...>", "what it is notified of (everything)").choices(WEBHOOK_EVENTS),
    )
    .option("--label <TEXT>", "a name for people");
}

/** Adds the commands that read the stored messages again. */
export function addReplayCommands(root: Command): void {
  addCommand(
    root,
    "replay",
    "compare what is stored with what this version makes of the same log",
    async (_operands, options) => (await import("./commands/memories/replay.ts")).runReplay(options),
  )
    .option("--ask-model", "have the model read the messages again; its calls are charged as usual")
    .addHelpText(
      "after",
      `
Repeats the user's log in an empty memory that is thrown away, and compares it with the stored one, fact by fact. Messages are
read again, in their order and at their times. What a model read, a person edited, an import brought or a clean-up merged is
taken from the log, as are the results of words that were erased since. Stores nothing. Exits with status 1 if there are
differences.
${formatExamples("replay --user ana", "replay --user ana --json")}`,
    );
  addCommand(
    root,
    "compare",
    "compare what the rules and the model read in the stored messages",
    async (_operands, options) => (await import("./commands/memories/replay.ts")).runCompare(options),
  ).addHelpText(
    "after",
    `
Reads the user's messages twice: with the built-in rules, and with the configured model alone. What is stored is not looked
at. Stores nothing; the model's calls are charged as usual. Needs OPENAI_API_KEY or OPENAI_BASE_URL. Exits with status 1 if
there are differences.
${formatExamples("compare --user ana")}`,
  );
}

/** Adds the commands that keep memories in order, and those that give an overview. */
export function addUpkeepCommands(root: Command): void {
  addCommand(root, "clusters", "group memories by topic", async (_operands, options) =>
    (await import("./commands/memories/overview.ts")).runClusters(options),
  )
    .option("--limit <N>", "maximum number of groups (12)", createCountParser(1, 50))
    .option("--memories <N>", "memories shown of each group (5)", createCountParser(0, 100))
    .addOption(new Option("--kind <KIND>", "only memories of this kind or group").choices(KIND_NAMES))
    .addHelpText(
      "after",
      `
A group is named by words that its memories have and others lack. Computed at each call; nothing is stored.
${formatExamples("clusters", "clusters --limit 5 --memories 10")}`,
    );
  addCommand(root, "reflect", "sum up what was said, by month and topic", async (_operands, options) =>
    (await import("./commands/memories/overview.ts")).runReflect(options),
  )
    .option("--from <TIME>", "only what was said from then on")
    .option("--to <TIME>", "only what was said before then")
    .option("--topic <TOPIC>", 'only this topic, such as "work" or "health"')
    .option("--min-memories <N>", "the fewest memories to sum up (2)", createCountParser(1, 1000))
    .option("--limit <N>", "maximum number of reflections (50)", createCountParser(1, 1000))
    .addOption(
      new Option("--by <WHO>", "whose words: of the memories, or of the configured model").choices([
        "memory",
        "model",
      ]),
    )
    .addHelpText(
      "after",
      `
The words are those of the memories, or with --by model those of the configured model, for the first 12. Nothing is stored, so what
was ended or erased is in no reflection.
${formatExamples("reflect", "reflect --topic work --from 2026-01-01T00:00:00Z", "reflect --by model")}`,
    );
  addCommand(root, "vacuum", "free the space of deleted data", async (_operands, options) =>
    (await import("./commands/server/maintenance.ts")).runVacuum(options),
  ).addHelpText(
    "after",
    `
Safe while a server runs. With SQLite the file is rewritten: writes wait meanwhile, and the disk needs as much free space as
the database takes. With PostgreSQL the tables are vacuumed while others read and write; their space is free for new rows.
With MariaDB the tables are rebuilt while others read and write.
Nothing that was erased comes back. \`doctor\` checks the database for damage.
${formatExamples("vacuum")}`,
  );
}
