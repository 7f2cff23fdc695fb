import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Backends } from "../config/backends/open-backends.ts";
import type { CostSettings } from "../config/cost-settings.ts";
import { chooseCacheBytes } from "../config/node-tuning.ts";
import { type EmbedderSettings, readSettings, type Settings } from "../config/settings.ts";
import { toIsoTime } from "../domain/time.ts";
import type { Keepsake, ScopedMemory } from "../engine/api.ts";
import { MemoryError } from "../errors.ts";
import type { MemoryOptions } from "../memory-options.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";
import { toShownError } from "./exit.ts";
import { createPrinter, type Printer } from "./printer.ts";

/** The options of every command. */
export interface CommonOptions {
  readonly db?: string;
  readonly user?: string;
  readonly project?: string;
  readonly json?: boolean;
  readonly at?: string;
}

/** The open memory and settings that a command uses. */
export interface CommandContext {
  readonly keepsake: Keepsake;
  readonly memory: ScopedMemory;
  readonly settings: Settings;
  readonly print: Printer;
  /** The current time, or that of `--at`. */
  readonly clock: () => Date;
  /** The database file, or the database's address without a password. */
  readonly path: string;
  /** Whether the database is a file on disk. */
  readonly isFile: boolean;
  readonly backends: Backends;
}

/**
 * What a command does if the database does not exist: `writes` creates it; `reads` uses an empty memory and creates no
 * file; `checks` fails.
 */
type DatabaseAccess = "writes" | "reads" | "checks";

/** Runs a command with an open memory and sets the exit status. */
export async function withMemory(
  options: CommonOptions,
  access: DatabaseAccess,
  command: (context: CommandContext) => Promise<number>,
  extraOptions: Pick<MemoryOptions, "meter" | "tracer" | "jobs" | "inThreads" | "onSyncFailure"> = {},
): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings(undefined, options.db);
    const clock = createCommandClock(options.at);
    const { openBackends, redactAddress } = await import("../config/backends/open-backends.ts");
    const { postgres } = settings.backends ?? {};
    const file = postgres ? undefined : toDatabaseFile(settings.path, access, print);
    await using backends = await openBackends(settings);
    await using keepsake = await openMemory(settings, {
      clock,
      ...extraOptions,
      ...(file === undefined ? {} : { path: file }),
      ...backends.options,
    });
    const path = postgres ? redactAddress(postgres.url) : settings.path;
    const isFile = !postgres && path !== ":memory:";
    for (const notice of [...backends.notices, ...keepsake.notices]) print.note(notice);
    const project = options.project === undefined ? {} : { project: options.project };
    const memory = keepsake.scope({ user: options.user ?? "me", ...project });
    // Awaited here: the database closes at the end of this block.
    return await command({ keepsake, memory, settings, print, clock, path, isFile, backends });
  });
}

/** Gives the file to open. A command that only reads gets an empty memory if the file does not exist. */
function toDatabaseFile(path: string, access: DatabaseAccess, print: Printer): string {
  if (access === "writes" || path === ":memory:" || existsSync(path)) return path;
  // A missing folder is a mistake: opening the file reports it.
  if (path === "" || !existsSync(dirname(path))) return path;
  if (access === "checks") {
    throw new MemoryError("unavailable", `there is no database ${path}. Choose another with --db.`);
  }
  print.note(`There is no database ${path} yet.`);
  return ":memory:";
}

/** Runs `work` and sets the exit status. Prints an error that it throws. */
export async function reportErrors(print: Printer, work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    const { code, message, status } = toShownError(error);
    print.error(code, message);
    process.exitCode = status;
  }
}

/** Gives the clock of a command. With `--at`, messages and answers have that time. */
export function createCommandClock(at: string | undefined): () => Date {
  if (at === undefined) return () => new Date();
  const time = toIsoTime(at, "--at");
  return () => new Date(time);
}

/** Opens the memory with these settings. Loads the code here, so that help and usage errors need no database. */
async function openMemory(settings: Settings, ports: MemoryOptions): Promise<Keepsake> {
  const { createMemory } = await import("../memory.ts");
  const { secret, confidenceThreshold, topK: limit, maxContextTokens: maxTokens } = settings;
  const keepsake = await createMemory({
    ...(settings.jobs === undefined ? {} : { jobs: settings.jobs }),
    ...ports,
    ...(secret === undefined ? {} : { secret }),
    ...(settings.redact === undefined ? {} : { redact: settings.redact }),
    ...(settings.decayDays === undefined ? {} : { decayDays: settings.decayDays }),
    ...(settings.ranking === undefined ? {} : { ranking: settings.ranking }),
    ...(settings.cleanUp === undefined ? {} : { cleanUp: settings.cleanUp }),
    cacheBytes: settings.cacheMegabytes === undefined ? chooseCacheBytes() : settings.cacheMegabytes * 1e6,
    ...(await loadUnderstandingOptions(settings, confidenceThreshold, ports.inThreads)),
    ...(settings.embedder === undefined ? {} : { embedder: toEmbedderOption(settings.embedder) }),
    costs: await loadCosts(settings.costs),
  });
  if (limit === undefined && maxTokens === undefined) return keepsake;
  const { withDefaults } = await import("../config/memory-from-settings.ts");
  return withDefaults(keepsake, {
    ...(limit === undefined ? {} : { limit }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  });
}

/** Gives the options for extraction. */
async function loadUnderstandingOptions(
  { model }: Settings,
  threshold: number | undefined,
  inThreads = false,
) {
  const { toUnderstandingOptions } = await import("../config/memory-from-settings.ts");
  return toUnderstandingOptions(model, threshold, inThreads);
}

function toEmbedderOption(settings: EmbedderSettings) {
  return async (hooks: CallHooks) =>
    (await import("../config/memory-from-settings.ts")).openEmbedder(settings, hooks);
}

/** Gives the options for costs. Costs count at the real time, whatever `--at` says. */
async function loadCosts(settings: CostSettings | undefined) {
  const clock = () => new Date();
  if (settings === undefined) return { clock };
  return { ...(await (await import("../config/cost-settings.ts")).loadCostOptions(settings)), clock };
}
