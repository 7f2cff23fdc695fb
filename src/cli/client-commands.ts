import { Argument, type Command } from "commander";
import { MCP_CLIENTS, type McpClientName } from "../mcp/clients/clients.ts";
import { addCommand, formatExamples } from "./command.ts";
import type { CompletionCommand } from "./completion/command-table.ts";
import { HOOK_CLIENTS, type HookClient } from "./hooks/hook-events.ts";
import { printLine } from "./printer.ts";

/** Adds the commands for MCP clients. */
export function addMcpCommands(root: Command): void {
  const mcp = addCommand(
    root,
    "mcp",
    "serve the memory to an MCP client, on stdin and stdout",
    async (_operands, options) => (await import("./commands/clients/mcp.ts")).runMcp(options),
  )
    .helpCommand(false)
    .option("--read-only", "offer no tool that stores or erases")
    .addHelpText(
      "after",
      `
The client starts this command and ends it. The memory is that of --user; no model can choose another. Needs the package
@modelcontextprotocol/server. \`keepsake serve\` offers the same at /mcp, with its keys.
${formatExamples("mcp", "mcp --user ana --db ~/memory.db", "mcp install cursor", "mcp uninstall cursor", "mcp bundle keepsake.mcpb")}`,
    );
  addCommand(mcp, "install", "write the command into a client's configuration", async ([client], options) =>
    (await import("./commands/clients/mcp-install.ts")).runMcpInstall(client as McpClientName, options),
  )
    .addArgument(createClientArgument())
    .option("--here", "the project in this folder, instead of all projects")
    .option("--dry-run", "show what would change, change nothing")
    .option("--force", "replace an entry keepsake that this command has not written")
    .option("--read-only", "offer no tool that stores or erases")
    .addHelpText(
      "after",
      `
Writes the absolute path of the database (--db) and the user (--user). Everything else in the file stays as it is, byte for
byte, and a file that is not valid is not touched. Run again, it changes its own entry only. An entry of this name that it has
not written is refused.
${formatExamples("mcp install claude-code --db ~/memory.db", "mcp install vscode --here", "mcp install codex --dry-run")}`,
    );
  addCommand(mcp, "uninstall", "take it out of a client's configuration", async ([client], options) =>
    (await import("./commands/clients/mcp-install.ts")).runMcpUninstall(client as McpClientName, options),
  )
    .addArgument(createClientArgument())
    .option("--here", "the project in this folder, instead of all projects")
    .option("--dry-run", "show what would change, change nothing")
    .option("--force", "take out an entry keepsake that install has not written");
  addCommand(
    mcp,
    "bundle <FILE>",
    "write a bundle for Claude Desktop (.mcpb)",
    async ([file = ""], options) =>
      (await import("./commands/clients/mcp-bundle.ts")).runMcpBundle(file, options),
  ).addHelpText(
    "after",
    `
The bundle has Keepsake and every package that it needs. Claude Desktop asks for the database file and the user; --db and
--user are its suggestions. The same packages give the same bytes.
${formatExamples("mcp bundle keepsake.mcpb", "mcp bundle keepsake.mcpb --user ana --db ~/memory.db")}`,
  );
}

function createClientArgument(): Argument {
  return new Argument("<CLIENT>", "the client").choices(MCP_CLIENTS);
}

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
At the start of a session the assistant is given the profile and what bears on the project's folder, with each prompt what
bears on it. Prompts and replies are stored.
${formatExamples("hooks install claude-code --db ~/memory.db", "hooks log --db ~/memory.db", "hooks uninstall claude-code")}`,
    );
  const createClientArgument = (): Argument => new Argument("<CLIENT>", "the client").choices(HOOK_CLIENTS);
  addCommand(hooks, "install", "write the hooks into a client's configuration", async ([client], options) =>
    (await import("./commands/clients/hooks.ts")).runHooksInstall(client as HookClient, options),
  )
    .addArgument(createClientArgument())
    .option("--here", "the project in this folder, instead of all projects")
    .option("--dry-run", "show what would change, change nothing")
    .addHelpText(
      "after",
      `
Needs the installed package (npm install -g keepsake). npx is refused: it is too slow to run at every event.
${formatExamples("hooks install claude-code --db ~/memory.db", "hooks install cursor --here")}`,
    );
  addCommand(hooks, "uninstall", "take them out of a client's configuration", async ([client], options) =>
    (await import("./commands/clients/hooks.ts")).runHooksUninstall(client as HookClient, options),
  )
    .addArgument(createClientArgument())
    .option("--here", "the project in this folder, instead of all projects")
    .option("--dry-run", "show what would change, change nothing");
  addCommand(
    hooks,
    "serve",
    "keep the memory open for hooks; they start this themselves",
    async (_operands, options) => (await import("./commands/clients/hooks.ts")).runHooksServe(options),
  );
  addCommand(
    hooks,
    "log",
    "show which hooks ran, how long they took and what they returned",
    async (_operands, options) => (await import("./commands/clients/hooks.ts")).runHooksLog(options),
  );
}

/** Gives the function that writes the script for a shell. */
const COMPLETION_WRITERS: {
  readonly [shell: string]: () => Promise<(commands: readonly CompletionCommand[]) => string>;
} = {
  bash: async () => (await import("./completion/bash-script.ts")).createBashScript,
  zsh: async () => (await import("./completion/zsh-script.ts")).createZshScript,
  fish: async () => (await import("./completion/fish-script.ts")).createFishScript,
};

/** Adds the command that prints a completion script. The script is made of the commands that \`--help\` shows. */
export function addCompletionCommand(root: Command): void {
  addCommand(root, "completion", "print a completion script for a shell", async ([shell = ""]) => {
    const { listCommands } = await import("./completion/command-table.ts");
    const write = await COMPLETION_WRITERS[shell]?.();
    if (write) printLine(write(listCommands(root)));
  })
    .addArgument(new Argument("<SHELL>", "the shell").choices(Object.keys(COMPLETION_WRITERS)))
    .addHelpText(
      "after",
      `
Completes commands, options and their values, and file names. It reads no memory.
bash: put \`source <(keepsake completion bash)\` in ~/.bashrc.
zsh:  keepsake completion zsh > a file named _keepsake in a folder of $fpath, or \`source <(keepsake completion zsh)\` in ~/.zshrc
after compinit.
fish: keepsake completion fish > ~/.config/fish/completions/keepsake.fish
${formatExamples("completion bash", "completion fish > ~/.config/fish/completions/keepsake.fish")}`,
    );
}
