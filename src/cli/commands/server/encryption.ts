import { type EncryptionSettings, toEncryptionOption } from "../../../config/master-key-settings.ts";
import { readMasterKeyPlace, readSettings, type Settings } from "../../../config/settings.ts";
import { invalid } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { createPrinter, createProgressBar, formatCount } from "../../printer.ts";
import { type CommonOptions, reportErrors } from "../../with-memory.ts";

const CONVERSION_STEPS = { copying: "encrypted", checking: "checked" } as const;

/** Encrypts the database file. */
export async function runConvert(options: CommonOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings(undefined, options.db);
    const { path, secret } = settings;
    const encryption = await toEncryptionOption(requireEncryption(settings));
    const { encryptDatabase } = await import("../../../encrypt.ts");
    const bar = createProgressBar(print.json);
    const done = await encryptDatabase({
      path,
      encryption,
      ...(secret === undefined ? {} : { secret }),
      onProgress: (row, of, step) =>
        bar.show(row, of, `${CONVERSION_STEPS[step]}, row ${row} of about ${of}`),
    }).finally(() => bar.end());
    const { users = 0, messages = 0, memories = 0 } = done.rows ?? {};
    print.result({ path, ...done }, () => [
      done.isConverted
        ? `${path} is encrypted: ${formatCount(users, "user")}, ${formatCount(messages, "message")}, ${formatCount(memories, "memory", "memories")}.`
        : `${path} is encrypted already.`,
    ]);
    const plain = [
      ...done.plainFiles,
      ...done.plainBackups.filter((name) => !done.plainFiles.includes(name)),
    ];
    if (plain.length > 0) {
      print.note(
        `Not encrypted, because they are from before: ${plain.join(", ")}. Delete them if you do not need them.`,
      );
    }
    print.note(`Keep a copy of ${path}.keys: without it, nothing can be read.`);
    return EXIT.done;
  });
}

interface RotateCommandOptions extends CommonOptions {
  readonly to?: string;
}

/** Wraps the keys of an encrypted database file with another master key. */
export async function runRotate({ to, ...options }: RotateCommandOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings(undefined, options.db);
    const { path, secret } = settings;
    const from = requireEncryption(settings);
    if (to === undefined) throw invalid("encryption: say where the new master key is, with --to.");
    const place = readMasterKeyPlace(to);
    const { rotateMasterKey } = await import("../../../rotate-master-key.ts");
    const done = await rotateMasterKey({
      path,
      from: await toEncryptionOption(from),
      to: await toEncryptionOption(place),
      ...(secret === undefined ? {} : { secret }),
    });
    print.result({ path, ...done }, () => [
      done.isRotated
        ? `${formatCount(done.keys, "key")} of ${path} ${done.keys === 1 ? "has" : "have"} the new master key.`
        : `The keys of ${path} have this master key already.`,
    ]);
    if (done.unreadable > 0) {
      print.note(
        `${formatCount(done.unreadable, "key")} could be opened with neither master key, and stayed as before.`,
      );
    }
    if (done.otherFolders > 0) {
      print.note(
        `${formatCount(done.otherFolders, "folder")} of keys belong to no user of this database. They keep the earlier master key.`,
      );
    }
    print.note(`${formatMasterKeySetting(place, to)} now. Copy the folder of keys again.`);
    return EXIT.done;
  });
}

function formatMasterKeySetting(place: EncryptionSettings, to: string): string {
  if (place === true) return "Remove KEEPSAKE_MASTER_KEY_FILE and KEEPSAKE_MASTER_KEY";
  return "masterKeyFile" in place
    ? `Set KEEPSAKE_MASTER_KEY_FILE to ${place.masterKeyFile}`
    : `Set KEEPSAKE_MASTER_KEY to ${to}`;
}

function requireEncryption({ encryption, backends, path }: Settings): NonNullable<Settings["encryption"]> {
  if (backends?.postgres || backends?.mariadb || path === ":memory:" || path === "")
    throw invalid("encryption: only a database file can be encrypted. Name it with --db.");
  if (encryption) return encryption;
  throw invalid(
    "encryption: set KEEPSAKE_ENCRYPTION=on first, and KEEPSAKE_MASTER_KEY_FILE or KEEPSAKE_MASTER_KEY for a master key that is not the secret. Every later command needs it too.",
  );
}
