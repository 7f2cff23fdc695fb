import { readSettings } from "../../config/settings.ts";
import { EXIT } from "../exit.ts";
import { printer, several } from "../print.ts";
import { progress } from "../progress.ts";
import { type CommonOptions, reporting, withMemory } from "../run.ts";

interface BackupOptions extends CommonOptions {
  readonly keepUntil?: string;
  readonly yes?: boolean;
}

interface RestoreOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly withoutLedger?: boolean;
}

/** Copies the database while others use it. */
export async function backupTo(file: string, options: BackupOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path }) => {
    const bar = progress(print.json);
    const made = await keepsake
      .backup(file, {
        replace: options.yes ?? false,
        ...(options.keepUntil === undefined ? {} : { until: options.keepUntil }),
        onProgress: (done, of) => bar.show(done, of, `page ${done} of ${of}`),
      })
      .finally(() => bar.end());
    const { users = 0, messages = 0 } = made.counts;
    print.result({ file, ...made }, () => [
      `${several(users, "user")}, ${several(messages, "message")} in ${file} (${size(made.bytes)}); read back, and whole.`,
    ]);
    print.note(
      `The secret is not in it: keep ${path}.secret too, in another place, or receipts and tombstones lose their key.`,
    );
    return EXIT.done;
  });
}

/** Makes a backup the database again. */
export async function restoreFrom(file: string, options: RestoreOptions): Promise<void> {
  const print = printer(options.json ?? false);
  await reporting(print, async () => {
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
        ? [`${several(restored.again, "erasure")} made since then: erased again.`]
        : ["Nothing had to be erased again."]),
      ...(restored.aside === undefined ? [] : [`The database that was there is now ${restored.aside}.`]),
    ]);
    return EXIT.done;
  });
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
