import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { getServerSettings } from "../config/backend-settings.ts";
import type { Backends } from "../config/backends/open-backends.ts";
import { toEncryptionOption } from "../config/master-key-settings.ts";
import type { CostSettings } from "../config/models/cost-settings.ts";
import type { EmbedderSettings } from "../config/models/embedder-settings.ts";
import { chooseCacheBytes } from "../config/node-tuning.ts";
import type { RerankerSettings } from "../config/reranker-settings.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { toIsoTime } from "../domain/time.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import type { ScopedMemory } from "../engine/api/scoped-memory.ts";
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
  readonly agent?: string;
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
  /** Messages about the settings and the backends, as shown at the start. */
  readonly notices: readonly string[];
}

/**
 * What a command does if the database does not exist: `writes` creates it; `reads` uses an empty memory and creates no
 * file; `checks` fails.
 */
type DatabaseAccess = "writes" | "reads" | "checks";

type ExtraOptions = Pick<
  MemoryOptions,
  "meter" | "tracer" | "jobs" | "inThreads" | "onSyncFailure" | "backups" | "webhooks"
>;

/** Runs a command with an open memory and sets the exit status. */
export async function withMemory(
  options: CommonOptions,
  access: DatabaseAccess,
  command: (context: CommandContext) => Promise<number>,
  toExtraOptions: (settings: Settings) => ExtraOptions | Promise<ExtraOptions> = () => ({}),
): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings(undefined, options.db);
    const clock = createCommandClock(options.at);
    const { openBackends, redactAddress } = await import("../config/backends/open-backends.ts");
    const server = getServerSettings(settings.backends);
    const file = server ? undefined : toDatabaseFile(settings, access, print);
    await using backends = await openBackends(settings);
    await using keepsake = await openMemory(settings, {
      clock,
      ...(await toExtraOptions(settings)),
      ...(file === undefined ? {} : { path: file }),
      ...backends.options,
    });
    const path = server ? redactAddress(server.url) : settings.path;
    const isFile = !server && path !== ":memory:";
    if (settings.envFile !== undefined) print.note(settings.envFile);
    const notices = [...(settings.notices ?? []), ...backends.notices];
    for (const notice of [...notices, ...keepsake.notices]) print.note(notice);
    const memory = keepsake.scope(toScope(options));
    // Awaited here: the database closes at the end of this block.
    return await command({ keepsake, memory, settings, print, clock, path, isFile, backends, notices });
  });
}

function toScope({ user = "me", project, agent }: CommonOptions): {
  readonly user: string;
  readonly project?: string;
  readonly agent?: string;
} {
  return {
    user,
    ...(project === undefined ? {} : { project }),
    ...(agent === undefined ? {} : { agent }),
  };
}

/** Creates the folder of a database that the settings file names. Errors are reported when the database is opened. */
function createFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch {
    // Opening the file says which folder cannot be used.
  }
}

/** Gives the file to open. A command that only reads gets an empty memory if the file does not exist. */
function toDatabaseFile({ path, createsFolder }: Settings, access: DatabaseAccess, print: Printer): string {
  if (createsFolder && access === "writes") createFolder(path);
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

async function toFileOptions({
  sqlite,
  encryption,
}: Settings): Promise<Pick<MemoryOptions, "sqlite" | "encryption">> {
  return {
    ...(sqlite === undefined ? {} : { sqlite }),
    ...(encryption === undefined ? {} : { encryption: await toEncryptionOption(encryption) }),
  };
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
    ...(settings.answerWaitMs === undefined ? {} : { answerWaitMs: settings.answerWaitMs }),
    ...(settings.decayDays === undefined ? {} : { decayDays: settings.decayDays }),
    ...(settings.ranking === undefined ? {} : { ranking: settings.ranking }),
    ...(settings.expiry === undefined ? {} : { expiry: settings.expiry }),
    ...(await toFileOptions(settings)),
    ...(settings.agents === undefined ? {} : { agents: settings.agents }),
    ...(settings.cleanUp === undefined ? {} : { cleanUp: settings.cleanUp }),
    cacheBytes: settings.cacheMegabytes === undefined ? chooseCacheBytes() : settings.cacheMegabytes * 1e6,
    ...(await loadUnderstandingOptions(settings, confidenceThreshold, ports.inThreads)),
    ...toEmbedderOptions(settings),
    ...(await loadAttachmentOptions(settings)),
    ...(settings.reranker === undefined ? {} : await loadReranker(settings.reranker)),
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

/** Gives the options for the embedder of all, and for those that users and projects may choose. */
function toEmbedderOptions({ embedder, embedders }: Settings): Pick<MemoryOptions, "embedder" | "embedders"> {
  const open = (one: EmbedderSettings, entry?: string) => async (hooks: CallHooks) =>
    (await import("../config/memory-from-settings.ts")).openEmbedder(one, hooks, entry);
  const named = Object.entries(embedders ?? {}).map(([name, one]) => [name, open(one, name)] as const);
  return {
    ...(embedder === undefined ? {} : { embedder: open(embedder) }),
    ...(named.length === 0 ? {} : { embedders: Object.fromEntries(named) }),
  };
}

async function loadAttachmentOptions({ attachments: settings }: Settings) {
  if (settings === undefined) return {};
  return (await import("../config/attachment-settings.ts")).toAttachmentOptions(settings);
}

async function loadReranker(settings: RerankerSettings) {
  return (await import("../config/reranker-settings.ts")).toRerankerOptions(settings);
}

/** Gives the options for costs. Costs count at the real time, whatever `--at` says. */
async function loadCosts(settings: CostSettings | undefined) {
  const clock = () => new Date();
  if (settings === undefined) return { clock };
  return { ...(await (await import("../config/models/cost-settings.ts")).loadCostOptions(settings)), clock };
}
