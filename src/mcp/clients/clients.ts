import { MemoryError } from "../../errors.ts";
import { dropJsonEntry, putJsonEntry, readJsonEntry } from "./json-edit.ts";
import { createTomlTable, dropTomlTable, putTomlTable, readTomlTable } from "./toml-edit.ts";

/** The programs whose configuration can be written. */
export const MCP_CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini"] as const;
export type McpClientName = (typeof MCP_CLIENTS)[number];

/** The command that a client starts. */
export interface ClientCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where a person's files are. */
export interface HomePlaces {
  readonly platform: string;
  readonly home: string;
  /** The folder of programs' settings: `APPDATA` on Windows, `XDG_CONFIG_HOME` on Linux, if set. */
  readonly config?: string | undefined;
  /** `CODEX_HOME`, if set. */
  readonly codex?: string | undefined;
}

/** One client: its file, and how an entry is put into it and taken out. */
interface McpClient {
  /** The names of the folders and the file below the person's place. */
  readonly file: (places: HomePlaces) => readonly string[];
  /** The same in a project's folder; absent if the client reads none there. */
  readonly projectFile?: readonly string[];
  readonly put: (text: string | undefined, command: ClientCommand) => string;
  /** Gives undefined if nothing else is in the file. */
  readonly drop: (text: string) => string | undefined;
  /** Gives the text of the entry, as it is written in the file or as JSON; undefined if there is none. */
  readonly read: (text: string) => string | undefined;
}

const NAME = "keepsake";

function jsonClient(
  container: string,
  files: Pick<McpClient, "file" | "projectFile">,
  toEntry: (command: ClientCommand) => object = (command) => ({ ...command }),
): McpClient {
  const place = { path: [container], key: NAME };
  return {
    ...files,
    put(text, command) {
      const entry = toEntry(command);
      if (text !== undefined) return putJsonEntry(text, place, entry);
      return `${JSON.stringify({ [container]: { [NAME]: entry } }, undefined, 2)}\n`;
    },
    drop: (text) => dropJsonEntry(text, place),
    read: (text) => JSON.stringify(readJsonEntry(text, place)),
  };
}

/** TOML's basic strings are written as JSON's. */
function toTomlLines({ command, args }: ClientCommand): string[] {
  return [
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]`,
  ];
}

const CODEX_TABLE = ["mcp_servers", NAME];
const withType = (command: ClientCommand): object => ({ type: "stdio", ...command });

/** The folder where programs with a window keep their settings. */
function getAppFolder({ platform, home, config }: HomePlaces): readonly string[] {
  if (platform === "darwin") return [home, "Library", "Application Support"];
  if (platform === "win32") return config === undefined ? [home, "AppData", "Roaming"] : [config];
  return [config ?? home, ...(config === undefined ? [".config"] : [])];
}

const CLIENTS: { readonly [name in McpClientName]: McpClient } = {
  "claude-code": jsonClient(
    "mcpServers",
    { file: ({ home }) => [home, ".claude.json"], projectFile: [".mcp.json"] },
    withType,
  ),
  "claude-desktop": jsonClient("mcpServers", {
    file: (places) => [...getAppFolder(places), "Claude", "claude_desktop_config.json"],
  }),
  cursor: jsonClient("mcpServers", {
    file: ({ home }) => [home, ".cursor", "mcp.json"],
    projectFile: [".cursor", "mcp.json"],
  }),
  vscode: jsonClient(
    "servers",
    {
      file: (places) => [...getAppFolder(places), "Code", "User", "mcp.json"],
      projectFile: [".vscode", "mcp.json"],
    },
    withType,
  ),
  codex: {
    file: ({ home, codex }) =>
      codex === undefined ? [home, ".codex", "config.toml"] : [codex, "config.toml"],
    put: (text, command) =>
      text === undefined
        ? createTomlTable(CODEX_TABLE, toTomlLines(command))
        : putTomlTable(text, CODEX_TABLE, toTomlLines(command)),
    drop: (text) => dropTomlTable(text, CODEX_TABLE),
    read: (text) => readTomlTable(text, CODEX_TABLE),
  },
  gemini: jsonClient("mcpServers", {
    file: ({ home }) => [home, ".gemini", "settings.json"],
    projectFile: [".gemini", "settings.json"],
  }),
};

/** The parts of the path of a client's file; undefined if it reads none in a project. */
export function findClientFile(
  name: McpClientName,
  places: HomePlaces,
  project?: string,
): readonly string[] | undefined {
  const { file, projectFile } = CLIENTS[name];
  if (project === undefined) return file(places);
  return projectFile && [project, ...projectFile];
}

/** What may happen to an entry that is not ours. */
interface EntryOptions {
  /** Whether it is replaced or taken out. Default: false. */
  readonly force?: boolean;
}

/**
 * Puts Keepsake into a client's configuration, or changes its command. `text` is undefined for a new file. Throws `conflict` if
 * there is an entry of the same name that is not ours, unless `force` is set.
 */
export function putClientEntry(
  name: McpClientName,
  text: string | undefined,
  command: ClientCommand,
  options: EntryOptions = {},
): string {
  if (text !== undefined) checkOwnEntry(name, text, options);
  return CLIENTS[name].put(text, command);
}

/**
 * Takes Keepsake out of a client's configuration. Gives undefined if nothing else is in it. Throws `conflict` for an entry that
 * is not ours, unless `force` is set.
 */
export function dropClientEntry(
  name: McpClientName,
  text: string,
  options: EntryOptions = {},
): string | undefined {
  checkOwnEntry(name, text, options);
  return CLIENTS[name].drop(text);
}

/** Checks whether an entry, if there is one, starts `keepsake mcp`, wherever the program and the database are. */
function checkOwnEntry(name: McpClientName, text: string, { force = false }: EntryOptions): void {
  const entry = force ? undefined : CLIENTS[name].read(text);
  if (entry === undefined || OWN_ARGUMENTS.every((word) => entry.includes(JSON.stringify(word)))) return;
  throw new MemoryError(
    "conflict",
    `it has an entry ${NAME} that this command has not written. Rename that entry, or run this again with --force: the ` +
      "entry is lost then.",
  );
}

const OWN_ARGUMENTS = ["mcp", "--db"];
