import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { getServerSettings } from "../../../config/backend-settings.ts";
import { readHomePlaces } from "../../../config/home-places.ts";
import { readSettings } from "../../../config/settings.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import {
  type ClientCommand,
  dropClientEntry,
  findClientFile,
  type McpClientName,
  putClientEntry,
} from "../../../mcp/clients/clients.ts";
import { EXIT } from "../../exit.ts";
import { createPrinter } from "../../printer.ts";
import { type CommonOptions, reportErrors } from "../../with-memory.ts";
import { changeFile, formatChange } from "./client-files.ts";

export interface InstallOptions extends CommonOptions {
  readonly here?: boolean;
  readonly dryRun?: boolean;
  readonly readOnly?: boolean;
  /** Whether an entry of the same name goes that is not ours. */
  readonly force?: boolean;
}

/** Writes the command that serves the memory into a client's configuration. */
export async function runMcpInstall(client: McpClientName, options: InstallOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const command = createClientCommand(["mcp"], options);
    const changed = changeFile(findFile(client, options), {
      isDryRun: options.dryRun ?? false,
      change: (text) => putClientEntry(client, text, command, options),
    });
    print.result({ client, ...changed, command: [command.command, ...command.args] }, () =>
      formatChange(changed),
    );
    if (changed.changed && !options.dryRun) print.note(`Start ${client} again, so that it reads this.`);
    return EXIT.done;
  });
}

/** Takes that command out of a client's configuration again. */
export async function runMcpUninstall(client: McpClientName, options: InstallOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const changed = changeFile(findFile(client, options), {
      isDryRun: options.dryRun ?? false,
      change: (text) => (text === undefined ? undefined : dropClientEntry(client, text, options)),
    });
    print.result({ client, ...changed }, () => formatChange(changed));
    return changed.changed ? EXIT.done : EXIT.nothingFound;
  });
}

function findFile(client: McpClientName, { here }: InstallOptions): string {
  const parts = findClientFile(
    client,
    { home: homedir(), ...readHomePlaces() },
    here ? process.cwd() : undefined,
  );
  if (!parts) throw new MemoryError("unsupported", `${client} reads no file in a project. Leave out --here.`);
  return join(...parts);
}

/** The package of the MCP server, for a command that downloads it. */
const SDK_PACKAGE = "@modelcontextprotocol/server@2";

/**
 * Creates the command that a client starts, with absolute paths: it starts in any folder. A package in npx's cache may be
 * gone tomorrow, so that one is downloaded again.
 */
export function createClientCommand(
  words: readonly string[],
  { db, user, project, agent, readOnly }: InstallOptions,
): ClientCommand {
  const settings = readSettings(undefined, db);
  if (getServerSettings(settings.backends)) {
    throw invalid(
      "the database is a server, whose password would be written into the client's file. Run `keepsake serve`, and give the " +
        "client the address /mcp and a key.",
    );
  }
  if (settings.path === ":memory:")
    throw invalid("a database in memory ends with the client: choose a file with --db.");
  const rest = [
    ...words,
    "--db",
    resolve(settings.path),
    "--user",
    user ?? "me",
    ...(project === undefined || project === "default" ? [] : ["--project", project]),
    ...(agent === undefined ? [] : ["--agent", agent]),
    ...(readOnly ? ["--read-only"] : []),
  ];
  const main = fileURLToPath(new URL("../../main.js", import.meta.url));
  if (NPX_CACHE.test(main) || !existsSync(main))
    return { command: NPX, args: ["-y", "-p", "keepsake", "-p", SDK_PACKAGE, "keepsake", ...rest] };
  return { command: process.execPath, args: [main, ...rest] };
}

const NPX = "npx";
/** A part of the path of a package that npx has downloaded for one call. */
const NPX_CACHE = /[\\/]_npx[\\/]/;

/**
 * Creates the command of a hook. Throws `unsupported` if the package is not installed: npx takes seconds, needs the network,
 * and would run at every event.
 */
export function createHookCommand(words: readonly string[], options: InstallOptions): ClientCommand {
  const command = createClientCommand(words, options);
  if (command.command !== NPX) return command;
  throw new MemoryError(
    "unsupported",
    "hooks run at every event, and npx is too slow for that. Install the package first (npm install -g keepsake), then run " +
      "`keepsake hooks install` without npx.",
  );
}
