import { readSettings } from "../../config/settings.ts";
import { EXIT } from "../exit.ts";
import { createPrinter, formatCount } from "../print.ts";
import { createProgressBar } from "../progress.ts";
import { type CommonOptions, reportErrors, withMemory } from "../run.ts";

interface BackupCommandOptions extends CommonOptions {
  readonly keepUntil?: string;
  readonly yes?: boolean;
}

interface RestoreCommandOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly withoutLedger?: boolean;
}

/** Copies the database while others use it. */
export async function runBackup(file: string, options: BackupCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path }) => {
    const bar = createProgressBar(print.json);
    const made = await keepsake
      .backup(file, {
        replace: options.yes ?? false,
        ...(options.keepUntil === undefined ? {} : { until: options.keepUntil }),
        onProgress: (done, of) => bar.show(done, of, `page ${done} of ${of}`),
      })
      .finally(() => bar.end());
    const { users = 0, messages = 0 } = made.counts;
    print.result({ file, ...made }, () => [
      `${formatCount(users, "user")}, ${formatCount(messages, "message")} in ${file} (${formatSize(made.bytes)}); read back, and whole.`,
    ]);
    print.note(
      `The secret is not in it: keep ${path}.secret too, in another place, or receipts and tombstones lose their key.`,
    );
    return EXIT.done;
  });
}

/** Makes a backup the database again. */
export async function runRestore(file: string, options: RestoreCommandOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings();
    const path = options.db ?? settings.path;
    const { restoreMemory } = await import("../../restore.ts");
    const restored = await restoreMemory({
      from: file,
      path,
      replace: options.yes ?? false,
      withoutLedger: options.withoutLedger ?? false,
      ...(settings.secret === undefined ? {} : { secret: settings.secret }),
    });
    for (const notice of restored.notices) print.note(notice);
    print.result({ path, ...restored }, () => [
      `${path} is what ${file} holds.`,
      ...(restored.again > 0
        ? [`${formatCount(restored.again, "erasure")} made since then: erased again.`]
        : ["Nothing had to be erased again."]),
      ...(restored.aside === undefined ? [] : [`The database that was there is now ${restored.aside}.`]),
    ]);
    return EXIT.done;
  });
}

function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
