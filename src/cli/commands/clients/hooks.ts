import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { readSettings } from "../../../config/settings.ts";
import { EXIT, waitForStopSignal } from "../../exit.ts";
import type { HookClient } from "../../hooks/hook-events.ts";
import { dropHooks, findHookFile, formatShellCommand, putHooks } from "../../hooks/hook-files.ts";
import { logHook, nameProblem, openHookPlaces } from "../../hooks/hook-places.ts";
import { claimHooks, openHookServer } from "../../hooks/hook-server.ts";
import { createPrinter } from "../../printer.ts";
import { type CommonOptions, reportErrors, withMemory } from "../../with-memory.ts";
import { changeFile, formatChange } from "./client-files.ts";
import { createHookCommand, type InstallOptions } from "./mcp-install.ts";

/** Writes the hooks into a client's configuration. */
export async function runHooksInstall(client: HookClient, options: InstallOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const toCommand = (event: string): string => {
      const { command, args } = createHookCommand(["hook", event, "--client", client], options);
      return formatShellCommand([command, ...args], process.platform);
    };
    const changed = changeFile(findFile(client, options), {
      isDryRun: options.dryRun ?? false,
      change: (text) => putHooks(client, text, toCommand),
    });
    print.result({ client, ...changed }, () => formatChange(changed));
    if (changed.changed && !options.dryRun) print.note(`Start ${client} again, so that it reads this.`);
    return EXIT.done;
  });
}

/** Takes the hooks out of a client's configuration again. */
export async function runHooksUninstall(client: HookClient, options: InstallOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const changed = changeFile(findFile(client, options), {
      isDryRun: options.dryRun ?? false,
      change: (text) => (text === undefined ? undefined : dropHooks(client, text)),
    });
    print.result({ client, ...changed }, () => formatChange(changed));
    return changed.changed ? EXIT.done : EXIT.nothingFound;
  });
}

function findFile(client: HookClient, { here }: InstallOptions): string {
  return join(here ? process.cwd() : homedir(), ...findHookFile(client));
}

/** Keeps the memory open for hooks, until none has come for a while. Ends at once if another process does. */
export async function runHooksServe(options: CommonOptions): Promise<void> {
  const places = openHookPlaces(toDatabase(options));
  const claim = await claimHooks(places).catch((error: unknown) => {
    // A hook has started it, so no person sees what it prints.
    logHook(places, { server: "failed", problem: nameProblem(error) });
    throw error;
  });
  if (!claim) return;
  try {
    await withMemory(options, "writes", async ({ keepsake }) => {
      const server = await openHookServer(keepsake, places);
      logHook(places, { server: "started", pid: process.pid });
      await Promise.race([server.idle, waitForStopSignal()]);
      await server.close();
      logHook(places, { server: "stopped" });
      return EXIT.done;
    });
    if (process.exitCode !== EXIT.done) logHook(places, { server: "failed", status: process.exitCode });
  } finally {
    claim.release();
  }
}

/** Prints the log of the hooks. */
export async function runHooksLog(options: CommonOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const { log } = openHookPlaces(toDatabase(options));
    const lines = (existsSync(log) ? readFileSync(log, "utf8").split("\n") : []).filter(isJson);
    print.result({ file: log, lines: lines.map((line) => JSON.parse(line) as object) }, () =>
      lines.slice(-50),
    );
    if (lines.length === 0) print.note("No hook has run for this database.");
    return EXIT.done;
  });
}

/** Whether a line is complete. A process that is killed, or a full disk, leaves a part of one. */
function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

const toDatabase = ({ db }: CommonOptions): string => resolve(readSettings(undefined, db).path);
