import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { cacheBytesFor } from "../config/cache.ts";
import type { CostSettings } from "../config/cost-settings.ts";
import { type EmbedderSettings, readSettings, type Settings } from "../config/settings.ts";
import { isoTime } from "../domain/time.ts";
import type { Keepsake, ScopedMemory } from "../engine/surface.ts";
import { MemoryError } from "../errors.ts";
import type { MemoryOptions } from "../memory.ts";
import type { CallHooks } from "../ports/calls.ts";
import { shownError } from "./exit.ts";
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

/**
 * What a command does with the database, where there is none yet: `writes` makes it; `reads` finds nothing in it, and
 * leaves no file behind; `checks` has nothing to check.
 */
export type Access = "writes" | "reads" | "checks";

/** Runs a command over an open memory and gives the shell its exit status. */
export async function withMemory(
  options: CommonOptions,
  access: Access,
  command: (working: Working) => Promise<number>,
  watching: Pick<MemoryOptions, "meter" | "tracer"> = {},
): Promise<void> {
  const print = printer(options.json ?? false);
  await reporting(print, async () => {
    const settings = readSettings();
    const path = options.db ?? settings.path;
    const clock = clockOf(options.at);
    await using keepsake = await open(placeOf(path, access, print), settings, { clock, ...watching });
    for (const notice of keepsake.notices) print.note(notice);
    const project = options.project === undefined ? {} : { project: options.project };
    const memory = keepsake.scope({ user: options.user ?? "me", ...project });
    // Awaited here: the database closes at the end of this block.
    return await command({ keepsake, memory, settings, print, clock, path });
  });
}

/** Where a command that only looks finds no file, an empty memory stands in for it. */
function placeOf(path: string, access: Access, print: Printer): string {
  if (access === "writes" || path === ":memory:" || existsSync(path)) return path;
  // A folder that is not there is a slip, and opening says so.
  if (path === "" || !existsSync(dirname(path))) return path;
  if (access === "checks") {
    throw new MemoryError("unavailable", `there is no database ${path}. Name another with --db.`);
  }
  print.note(`There is no database ${path} yet.`);
  return ":memory:";
}

/** Loaded here, so that help and mistakes in use are answered without opening anything. */
async function open(
  path: string,
  settings: Settings,
  ports: Pick<MemoryOptions, "clock" | "meter" | "tracer">,
): Promise<Keepsake> {
  const { createMemory } = await import("../memory.ts");
  const { secret, confidenceThreshold, topK: limit, maxContextTokens: maxTokens } = settings;
  const keepsake = await createMemory({
    path,
    ...ports,
    ...(secret === undefined ? {} : { secret }),
    ...(settings.redact === undefined ? {} : { redact: settings.redact }),
    ...(settings.decayDays === undefined ? {} : { decayDays: settings.decayDays }),
    ...(settings.cleanUp === undefined ? {} : { cleanUp: settings.cleanUp }),
    cacheBytes: settings.cacheMegabytes === undefined ? cacheBytesFor() : settings.cacheMegabytes * 1e6,
    ...(await understanding(settings, confidenceThreshold)),
    ...(settings.embedder === undefined ? {} : { embedder: embedding(settings.embedder) }),
    costs: await costing(settings.costs),
  });
  if (limit === undefined && maxTokens === undefined) return keepsake;
  const { withDefaults } = await import("../config/defaults.ts");
  return withDefaults(keepsake, {
    ...(limit === undefined ? {} : { limit }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  });
}

/** Who reads what is said. */
async function understanding({ model: named }: Settings, threshold: number | undefined) {
  const { understandingOf } = await import("../config/understanding.ts");
  return understandingOf(named, threshold);
}

function embedding(named: EmbedderSettings) {
  return async (hooks: CallHooks) => (await import("../config/embedder.ts")).embedderOf(named, hooks);
}

/** What is said may be said at any time (`--at`); what it costs is paid now. */
async function costing(settings: CostSettings | undefined) {
  const clock = () => new Date();
  if (settings === undefined) return { clock };
  return { ...(await (await import("../config/costs.ts")).costsOf(settings)), clock };
}

/** Runs a piece of work, and turns what it throws into words and an exit status. */
export async function reporting(print: Printer, work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    const { code, message, status } = shownError(error);
    print.error(code, message);
    process.exitCode = status;
  }
}

/** With `--at` the command happens at that time: what is said is said then, and answers are as of then. */
export function clockOf(at: string | undefined): () => Date {
  if (at === undefined) return () => new Date();
  const time = isoTime(at, "--at");
  return () => new Date(time);
}
