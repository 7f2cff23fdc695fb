import { Argument, type Command } from "commander";
import { addCommand, formatExamples } from "./command.ts";
import { HOOK_CLIENTS, type HookClient } from "./hooks/hook-events.ts";

/** Adds the commands for the hooks of coding assistants. */
export function addHookCommands(root: Command): void {
  addCommand(root, "hook <EVENT>", "answer one event of a client, as JSON on stdin", async ([event = ""]) => {
    // With --client, `main.ts` runs it without loading this.
    process.stderr.write(`keepsake: the event ${JSON.stringify(event)} needs --client and --db.\n`);
    process.exitCode = 2;
  })
    .option("--client <NAME>", `the client: ${HOOK_CLIENTS.join(", ")}`)
    .addHelpText(
      "after",
      `
The client runs it; \`hooks install\` writes the command. It takes at most 150 ms, always ends with status 0, and prints what
the client understands, or nothing.`,
    );
  const hooks = root
    .command("hooks")
    .description("let coding assistants remember without being asked")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
At the start of a session the assistant is given the profile, with each prompt what bears on it. Prompts and replies are
stored.
${formatExamples("hooks install claude-code --db ~/memory.db", "hooks log --db ~/memory.db", "hooks uninstall claude-code")}`,
    );
  const createClientArgument = (): Argument => new Argument("<CLIENT>", "the client").choices(HOOK_CLIENTS);
  addCommand(hooks, "install", "write the hooks into a client's configuration", async ([client], options) =>
    (await import("./commands/hooks.ts")).runHooksInstall(client as HookClient, options),
  )
    .addArgument(createClientArgument())
    .option("--here", "the project in this folder, instead of all projects")
    .option("--dry-run", "show what would change, change nothing");
  addCommand(hooks, "uninstall", "take them out of a client's configuration", async ([client], options) =>
    (await import("./commands/hooks.ts")).runHooksUninstall(client as HookClient, options),
  )
    .addArgument(createClientArgument())
    .option("--here", "the project in this folder, instead of all projects")
    .option("--dry-run", "show what would change, change nothing");
  addCommand(
    hooks,
    "serve",
    "keep the memory open for hooks; they start this themselves",
    async (_operands, options) => (await import("./commands/hooks.ts")).runHooksServe(options),
  );
  addCommand(
    hooks,
    "log",
    "show which hooks ran, how long they took and what they gave",
    async (_operands, options) => (await import("./commands/hooks.ts")).runHooksLog(options),
  );
}
