import { openArchive } from "../../../config/backup-settings.ts";
import { toEncryptionOption } from "../../../config/master-key-settings.ts";
import { readSettings } from "../../../config/settings.ts";
import type { Kind, KindGroup } from "../../../domain/memory.ts";
import type { ErasureReceipt } from "../../../domain/receipt.ts";
import type { Audit, Keepsake } from "../../../engine/api/keepsake.ts";
import type { JobState, Optimized, OptimizeOptions } from "../../../engine/api/maintenance-types.ts";
import { invalid } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import {
  createPrinter,
  createProgressBar,
  formatCount,
  formatDay,
  formatSize,
  formatTable,
  type Printer,
  toShortLine,
} from "../../printer.ts";
import { type CommonOptions, reportErrors, withMemory } from "../../with-memory.ts";

interface BackupCommandOptions extends CommonOptions {
  readonly keepUntil?: string;
  readonly yes?: boolean;
}

interface RestoreCommandOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly withoutLedger?: boolean;
  readonly evenIfChanged?: boolean;
}

/** Backs up the database while it is in use. */
export async function runBackup(file: string, options: BackupCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path }) => {
    const bar = createProgressBar(print.json);
    const backup = await keepsake
      .backup(file, {
        replace: options.yes ?? false,
        ...(options.keepUntil === undefined ? {} : { until: options.keepUntil }),
        onProgress: (done, of) => bar.show(done, of, `page ${done} of ${of}`),
      })
      .finally(() => bar.end());
    const { users = 0, messages = 0 } = backup.counts;
    print.result({ file, ...backup }, () => [
      `${formatCount(users, "user")}, ${formatCount(messages, "message")} in ${file} (${formatSize(backup.bytes)}); verified.`,
    ]);
    print.note(
      `The secret is not in it: also keep ${path}.secret, in another place. Receipts and tombstones need it.`,
    );
    return EXIT.done;
  });
}

/** Replaces the database with a backup. */
export async function runRestore(file: string, options: RestoreCommandOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings();
    const path = options.db ?? settings.path;
    const { restoreMemory } = await import("../../../restore.ts");
    const restored = await restoreMemory({
      from: file,
      path,
      replace: options.yes ?? false,
      withoutLedger: options.withoutLedger ?? false,
      evenIfChanged: options.evenIfChanged ?? false,
      ...(settings.secret === undefined ? {} : { secret: settings.secret }),
      ...(settings.encryption === undefined
        ? {}
        : { encryption: await toEncryptionOption(settings.encryption) }),
    });
    for (const notice of restored.notices) print.note(notice);
    print.result({ path, ...restored }, () => [
      `Restored ${path} from ${file}.`,
      ...(restored.again > 0
        ? [`Applied ${formatCount(restored.again, "erasure")} made since the backup.`]
        : ["No erasures were made since the backup."]),
      ...(restored.aside === undefined ? [] : [`The previous database is now ${restored.aside}.`]),
    ]);
    return EXIT.done;
  });
}

interface AuditCommandOptions extends CommonOptions {
  readonly head?: string;
}

/** Verifies the erasure receipts. Exit status 1 if a check fails. */
export async function runAudit(options: AuditCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const audit = await keepsake.audit(options.head === undefined ? {} : { head: options.head });
    const isValid = audit.broken.length === 0;
    print.result({ valid: isValid, ...audit }, () => formatAudit(audit));
    return isValid ? EXIT.done : EXIT.failed;
  });
}

function formatAudit({ receipts, broken, publicKey, head, backups }: Audit): string[] {
  return [
    ...formatTable(receipts.map(formatAuditRow)),
    ...(receipts.length > 0 ? [""] : []),
    ...broken.map(({ id, problem }) => (id === "" ? problem : `${id}: ${problem}`)),
    broken.length === 0
      ? `${formatCount(receipts.length, "receipt")}; all valid.`
      : `${formatCount(broken.length, "fault")} in ${formatCount(receipts.length, "receipt")}.`,
    ...formatTable([
      ["Public key", publicKey],
      ["Head", head],
      ...backups.map(({ name, at, until }) => [
        "Backup",
        `${toShortLine(name, 60)}, ${formatDay(at)}${until === undefined ? "" : `, kept until ${formatDay(until)}`}`,
      ]),
    ]),
  ];
}

function formatAuditRow({ id, at, user, erased, complete, replays }: ErasureReceipt): string[] {
  const memories = formatCount(erased.memories, "memory", "memories");
  const again = replays === undefined ? "" : " (repeated on a backup)";
  const words = `words in ${formatCount(erased.messages, "message")}`;
  return [
    id,
    formatDay(at),
    toShortLine(user, 40),
    `${memories}, ${words}${again}${complete ? "" : " (not verified to the end)"}`,
  ];
}

interface OptimizeCommandOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly currentTurn?: number;
  readonly maxAgeDays?: number;
  readonly minImportance?: number;
  readonly kinds?: readonly (Kind | KindGroup)[];
}

export async function runOptimize(options: OptimizeCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { dryRun = false } = options;
    const done = await memory.optimize(toOptimizeOptions(options));
    print.result(done, () => [...done.jobs.flatMap((job) => formatJobResult(job, dryRun))]);
    const revisions = done.jobs.flatMap((job) => job.revisions ?? []);
    if (revisions.length > 0) {
      print.note(`To undo, newest first: keepsake undo ${revisions.toReversed().join(", ")}`);
    }
    if (dryRun) print.note("Nothing was changed.");
    return EXIT.done;
  });
}

function toOptimizeOptions({
  dryRun = false,
  currentTurn,
  maxAgeDays,
  minImportance,
  kinds,
}: OptimizeCommandOptions): OptimizeOptions {
  return {
    dryRun,
    ...(currentTurn === undefined ? {} : { currentTurn }),
    ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
    ...(minImportance === undefined ? {} : { minImportance }),
    ...(kinds === undefined ? {} : { kinds }),
  };
}

function formatJobResult({ name, memories }: Optimized["jobs"][number], dryRun: boolean): string[] {
  const [first] = memories;
  if (!first) return [`${name}: nothing to do`];
  const verb = first.action === "faded" ? "has faded" : `${dryRun ? "would be" : "was"} ${first.action}`;
  const verbs = first.action === "faded" ? "have faded" : `${dryRun ? "would be" : "were"} ${first.action}`;
  return [
    `${name}: ${formatCount(memories.length, `memory ${verb}`, `memories ${verbs}`)}`,
    ...formatTable(
      memories.map(({ id, text, byText, why }) => [
        `  ${id}`,
        toShortLine(text, 60),
        byText === undefined ? why : `${why}: “${toShortLine(byText, 60)}”`,
      ]),
    ),
  ];
}

export async function runJobs(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const jobs = await keepsake.jobs();
    print.result({ jobs }, () => [
      ...formatTable([
        ["job", "last run", "done", "left", "found", "set aside", ""],
        ...jobs.map(formatJobRow),
      ]),
      "",
      ...formatTable(jobs.map(({ name, about }) => [name, about])),
    ]);
    return EXIT.done;
  });
}

function formatJobRow({ name, lastRun, done, left, found, setAside, problem }: JobState): string[] {
  const minute = lastRun?.slice(0, 16).replace("T", " ") ?? "never";
  return [name, minute, `${done}`, `${left ?? ""}`, `${found ?? ""}`, `${setAside ?? ""}`, problem ?? ""];
}

interface ReindexCommandOptions extends CommonOptions {
  readonly follower?: string;
}

/** Computes missing embeddings, or rebuilds a vector index. */
export async function runReindex({ follower, ...options }: ReindexCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) =>
    follower === undefined ? embedPending(keepsake, print) : rebuildIndex(keepsake, print, follower),
  );
}

async function embedPending(keepsake: Keepsake, print: Printer): Promise<number> {
  const bar = createProgressBar(print.json);
  let done = 0;
  try {
    for await (const step of keepsake.reindex()) {
      done = step.done;
      bar.show(done, done + step.left, `${done} of ${formatCount(done + step.left, "text")}`);
    }
  } finally {
    bar.end();
  }
  const { space, left } = await keepsake.embedding();
  print.result({ space, embedded: done, left }, () => [
    `${formatCount(done, "text")} embedded by ${space}${left > 0 ? `, ${left} left` : ""}.`,
  ]);
  return left > 0 ? EXIT.failed : EXIT.done;
}

async function rebuildIndex(keepsake: Keepsake, print: Printer, name: string): Promise<number> {
  const bar = createProgressBar(print.json);
  let last = { users: 0, of: 0, entries: 0 };
  try {
    for await (const step of keepsake.indexes.rebuild(name)) {
      last = step;
      const { users, of, entries } = step;
      bar.show(
        users,
        of,
        `${users} of ${formatCount(of, "user")}, ${formatCount(entries, "entry", "entries")}`,
      );
    }
  } finally {
    bar.end();
  }
  const { users, entries } = last;
  print.result({ index: name, users, entries }, () => [
    `${formatCount(entries, "entry", "entries")} of ${formatCount(users, "user")} in the index "${name}".`,
  ]);
  return EXIT.done;
}

/** Gives the space of deleted rows back. */
export async function runVacuum(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const size = await keepsake.vacuum();
    const freed = Math.max(0, size.before - size.after);
    print.result({ ...size, freed }, () => [
      `${formatSize(size.before)} before, ${formatSize(size.after)} after: ${formatSize(freed)} freed.`,
    ]);
    return EXIT.done;
  });
}

interface BackupsCommandOptions extends CommonOptions {
  readonly fetch?: string;
  readonly to?: string;
}

/** Lists the backups in the configured place, or fetches one of them into a file. */
export async function runBackups(options: BackupsCommandOptions): Promise<void> {
  const show = async ({ keepsake, print, settings }: Parameters<Parameters<typeof withMemory>[2]>[0]) => {
    if (!settings.backups)
      throw invalid("KEEPSAKE_BACKUP_TO names no place for backups. Set it to a folder or a bucket.");
    const archive = await openArchive(settings.backups);
    if (options.fetch !== undefined) {
      const file = options.to ?? options.fetch;
      await archive.fetch(options.fetch, file);
      print.result({ name: options.fetch, file }, () => [
        `${file}: keepsake restore ${file} puts it in place.`,
      ]);
      return EXIT.done;
    }
    const notes = new Map((await keepsake.audit()).backups.map((note) => [note.name, note]));
    const backups = (await archive.list()).map(({ name, bytes }) => {
      const { until, digest = "" } = notes.get(name) ?? {};
      return { name, bytes, isVerified: digest !== "", ...(until === undefined ? {} : { until }) };
    });
    print.result({ backups }, () => [
      ...formatTable([
        ["backup", "bytes", "verified", "kept until"],
        ...backups.map(({ name, bytes, isVerified, until }) => [
          toShortLine(name, 80),
          `${bytes}`,
          isVerified ? "yes" : "unknown",
          until === undefined ? "unknown" : formatDay(until),
        ]),
      ]),
    ]);
    return backups.length > 0 ? EXIT.done : EXIT.nothingFound;
  };
  await withMemory(options, "checks", show, () => ({ jobs: "elsewhere" }));
}
