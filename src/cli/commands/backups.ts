import { openArchive } from "../../config/backup-settings.ts";
import { invalid } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { formatDay, formatTable, toShortLine } from "../printer.ts";
import { type CommonOptions, withMemory } from "../with-memory.ts";

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
