import { dropJsonEntry, putJsonEntry } from "../../mcp/clients/json-edit.ts";
import { HOOK_EVENTS, type HookClient } from "./hook-events.ts";

/** The names of the folder and the file with a client's hooks, below the person's or the project's folder. */
const FILES: { readonly [client in HookClient]: readonly string[] } = {
  "claude-code": [".claude", "settings.json"],
  codex: [".codex", "hooks.json"],
  cursor: [".cursor", "hooks.json"],
};

/** What a new file of a client holds beside hooks. */
const EMPTY_FILES: { readonly [client in HookClient]: string } = {
  "claude-code": "{}\n",
  codex: "{}\n",
  cursor: '{\n  "version": 1\n}\n',
};

/** Seconds after which a client ends a hook. Ours ends by itself, much sooner. */
const TIMEOUT_S = 5;

export function findHookFile(client: HookClient): readonly string[] {
  return FILES[client];
}

/** Puts the hooks into a client's file; `text` is undefined for a new one. `toCommand` gives the command for an event. */
export function putHooks(
  client: HookClient,
  text: string | undefined,
  toCommand: (event: string) => string,
): string {
  return Object.keys(HOOK_EVENTS[client]).reduce(
    (content, event) => putJsonEntry(content, toPlace(client, event), toEntry(client, toCommand(event))),
    text ?? EMPTY_FILES[client],
  );
}

/** Takes the hooks out of a client's file. Gives undefined if it was made for them. */
export function dropHooks(client: HookClient, text: string): string | undefined {
  const left = Object.keys(HOOK_EVENTS[client])
    .reverse()
    .reduce<string | undefined>(
      (content, event) =>
        content === undefined ? undefined : dropJsonEntry(content, toPlace(client, event)),
      text,
    );
  return left === EMPTY_FILES[client] && left !== text ? undefined : left;
}

function toEntry(client: HookClient, command: string): object {
  if (client === "cursor") return { command };
  return { hooks: [{ type: "command", command, timeout: TIMEOUT_S }] };
}

function toPlace(client: HookClient, event: string) {
  const isEntry = (value: unknown): boolean => isOurs(JSON.stringify(value), client, event);
  return { path: ["hooks", event], isEntry };
}

/** Whether an entry runs our command for this event, wherever the program and the database are. */
function isOurs(entry: string, client: HookClient, event: string): boolean {
  return entry.includes(` hook ${event} --client ${client} --db `);
}

/** Writes a command for a shell. */
export function formatShellCommand(words: readonly string[], platform: string): string {
  const quote = (word: string): string => {
    if (/^[\w@%+=:,./-]+$/.test(word)) return word;
    return platform === "win32" ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`;
  };
  return words.map(quote).join(" ");
}
