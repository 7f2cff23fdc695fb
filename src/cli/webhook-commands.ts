import { type Command, Option } from "commander";
import { WEBHOOK_EVENTS } from "../domain/webhook.ts";
import { addCommand, formatExamples, parseDuration } from "./command.ts";

/** Adds the commands that manage webhooks. They work while a server runs. */
export function addWebhookCommands(root: Command): void {
  const webhooks = root
    .command("webhooks")
    .description("manage webhooks, which are told when memories change")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
Webhooks belong to --project. A server or \`keepsake worker\` on this database sends the events; it sees changes within seconds.
${formatExamples("webhooks list", "webhooks add https://example.com/hook --event memories.changed content.erased", "webhooks test ID", "webhooks attempts ID")}`,
    );
  addCommand(webhooks, "list", "list the webhooks of --project", async (_operands, options) =>
    (await import("./commands/webhooks.ts")).listWebhooks(options),
  );
  addDefinitionOptions(
    addCommand(
      webhooks,
      "add <URL>",
      "register a webhook, and print its secret once",
      async ([url = ""], options) => (await import("./commands/webhooks.ts")).addWebhook(url, options),
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
      async ([id = ""], options) => (await import("./commands/webhooks.ts")).updateWebhook(id, options),
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
    (await import("./commands/webhooks.ts")).testWebhook(id, options),
  );
  addCommand(webhooks, "attempts <ID>", "list the last attempts, newest first", async ([id = ""], options) =>
    (await import("./commands/webhooks.ts")).listAttempts(id, options),
  );
  addCommand(webhooks, "rotate <ID>", "replace the secret of a webhook", async ([id = ""], options) =>
    (await import("./commands/webhooks.ts")).rotateWebhook(id, options),
  ).option(
    "--grace <SPAN>",
    "how long events are signed with the old secret too (24h); 0 ends it now",
    parseDuration,
  );
  addCommand(webhooks, "remove <ID>", "remove a webhook", async ([id = ""], options) =>
    (await import("./commands/webhooks.ts")).removeWebhook(id, options),
  );
}

function addDefinitionOptions(command: Command): Command {
  return command
    .addOption(new Option("--event <EVENT...>", "what it is told of (everything)").choices(WEBHOOK_EVENTS))
    .option("--label <TEXT>", "a name for people");
}
