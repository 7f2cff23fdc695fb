import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Backends } from "../config/backends/open-backends.ts";
import type { CostSettings } from "../config/cost-settings.ts";
import { chooseCacheBytes } from "../config/node-tuning.ts";
import { type EmbedderSettings, readSettings, type Settings } from "../config/settings.ts";
import { toIsoTime } from "../domain/time.ts";
import type { Keepsake, ScopedMemory } from "../engine/api.ts";
import { MemoryError } from "../errors.ts";
import type { MemoryOptions } from "../memory.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";
import { toShownError } from "./exit.ts";
import { createPrinter, type Printer } from "./printer.ts";

/** What every command takes. */
export interface CommonOptions {
  readonly db?: string;
  readonly user?: string;
  readonly project?: string;
  readonly json?: boolean;
  readonly at?: string;
}

/** What a command works with. */
export interface CommandContext {
  readonly keepsake: Keepsake;
  readonly memory: ScopedMemory;
  readonly settings: Settings;
  readonly print: Printer;
  /** The time it is, as this command takes it. */
  readonly clock: () => Date;
  /** The database file; or the address of the database, without a password. */
  readonly path: string;
  /** Whether it is a file, with others beside it. */
  readonly isFile: boolean;
  readonly backends: Backends;
}

/**
 * What a command does with the database, where there is none yet: `writes` makes it; `reads` finds nothing in it, and
 * leaves no file behind; `checks` has nothing to check.
 */
type DatabaseAccess = "writes" | "reads" | "checks";

/** Runs a command over an open memory and gives the shell its exit status. */
export async function withMemory(
  options: CommonOptions,
  access: DatabaseAccess,
  command: (working: CommandContext) => Promise<number>,
  besides: Pick<MemoryOptions, "meter" | "tracer" | "jobs" | "inThreads" | "onSyncFailure"> = {},
): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings(undefined, options.db);
    const clock = createCommandClock(options.at);
    const { openBackends, redactAddress: shownAddress } = await import("../config/backends/open-backends.ts");
    const { postgres } = settings.backends ?? {};
    const file = postgres ? undefined : toDatabaseFile(settings.path, access, print);
    await using backends = await openBackends(settings);
    await using keepsake = await openMemory(settings, {
      clock,
      ...besides,
      ...(file === undefined ? {} : { path: file }),
      ...backends.options,
    });
    const path = postgres ? shownAddress(postgres.url) : settings.path;
    const isFile = !postgres && path !== ":memory:";
    for (const notice of [...backends.notices, ...keepsake.notices]) print.note(notice);
    const project = options.project === undefined ? {} : { project: options.project };
    const memory = keepsake.scope({ user: options.user ?? "me", ...project });
    // Awaited here: the database closes at the end of this block.
    return await command({ keepsake, memory, settings, print, clock, path, isFile, backends });
  });
}

/** Where a command that only looks finds no file, an empty memory stands in for it. */
function toDatabaseFile(path: string, access: DatabaseAccess, print: Printer): string {
  if (access === "writes" || path === ":memory:" || existsSync(path)) return path;
  // A folder that is not there is a slip, and opening says so.
  if (path === "" || !existsSync(dirname(path))) return path;
  if (access === "checks") {
    throw new MemoryError("unavailable", `there is no database ${path}. Name another with --db.`);
  }
  print.note(`There is no database ${path} yet.`);
  return ":memory:";
}

/** Runs a piece of work, and turns what it throws into words and an exit status. */
export async function reportErrors(print: Printer, work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    const { code, message, status } = toShownError(error);
    print.error(code, message);
    process.exitCode = status;
  }
}

/** With `--at` the command happens at that time: what is said is said then, and answers are as of then. */
export function createCommandClock(at: string | undefined): () => Date {
  if (at === undefined) return () => new Date();
  const time = toIsoTime(at, "--at");
  return () => new Date(time);
}

/** Opens the memory as the settings have it. Loaded here, so that help and mistakes in use are answered without opening anything. */
async function openMemory(settings: Settings, ports: MemoryOptions): Promise<Keepsake> {
  const { createMemory } = await import("../memory.ts");
  const { secret, confidenceThreshold, topK: limit, maxContextTokens: maxTokens } = settings;
  const keepsake = await createMemory({
    ...(settings.jobs === undefined ? {} : { jobs: settings.jobs }),
    ...ports,
    ...(secret === undefined ? {} : { secret }),
    ...(settings.redact === undefined ? {} : { redact: settings.redact }),
    ...(settings.decayDays === undefined ? {} : { decayDays: settings.decayDays }),
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

/** Who reads what is said. */
async function loadUnderstandingOptions(
  { model }: Settings,
  threshold: number | undefined,
  inThreads = false,
) {
  const { toUnderstandingOptions: understandingOf } = await import("../config/memory-from-settings.ts");
  return understandingOf(model, threshold, inThreads);
}

function toEmbedderOption(named: EmbedderSettings) {
  return async (hooks: CallHooks) =>
    (await import("../config/memory-from-settings.ts")).openEmbedder(named, hooks);
}

/** What is said may be said at any time (`--at`); what it costs is paid now. */
async function loadCosts(settings: CostSettings | undefined) {
  const clock = () => new Date();
  if (settings === undefined) return { clock };
  return { ...(await (await import("../config/cost-settings.ts")).loadCostOptions(settings)), clock };
}
