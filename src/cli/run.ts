import { readSettings, type Settings } from "../config/settings.ts";
import { isoTime } from "../domain/time.ts";
import type { Keepsake, ScopedMemory } from "../engine/surface.ts";
import { EXIT, shownError } from "./exit.ts";
import { type Printer, printer } from "./print.ts";

/** What every command takes. */
export interface CommonOptions {
  readonly db?: string;
  readonly user?: string;
  readonly project?: string;
  readonly json?: boolean;
  readonly at?: string;
}

/** What a command works with. */
export interface Working {
  readonly keepsake: Keepsake;
  readonly memory: ScopedMemory;
  readonly settings: Settings;
  readonly print: Printer;
  /** The time it is, as this command takes it. */
  readonly clock: () => Date;
  /** The database file. */
  readonly path: string;
}

/** Runs a command over an open memory and gives the shell its exit status. */
export async function withMemory(
  options: CommonOptions,
  command: (working: Working) => Promise<number>,
): Promise<void> {
  const print = printer(options.json ?? false);
  await reporting(print, async () => {
    const settings = readSettings();
    const path = options.db ?? settings.path;
    const clock = clockOf(options.at);
    // Loaded here, so that help and mistakes in use are answered without opening anything.
    const { createMemory } = await import("../memory.ts");
    const { secret } = settings;
    await using keepsake = await createMemory({ path, clock, ...(secret === undefined ? {} : { secret }) });
    for (const notice of keepsake.notices) print.note(notice);
    const project = options.project === undefined ? {} : { project: options.project };
    const memory = keepsake.scope({ user: options.user ?? "me", ...project });
    // Awaited here: the database closes at the end of this block.
    return await command({ keepsake, memory, settings, print, clock, path });
  });
}

/** Runs a piece of work, and turns what it throws into words and an exit status. */
export async function reporting(print: Printer, work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    const { code, message, status } = shownError(error);
    if (print.json) process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`);
    else process.stderr.write(`keepsake: ${message}\n`);
    process.exitCode = status;
  }
}

/** With `--at` the command happens at that time: what is said is said then, and answers are as of then. */
function clockOf(at: string | undefined): () => Date {
  if (at === undefined) return () => new Date();
  const time = isoTime(at, "--at");
  return () => new Date(time);
}

export { EXIT };
