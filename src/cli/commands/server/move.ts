import { constants, copyFileSync, existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { refuseEncryptedStore } from "../../../adapters/encryption/mark.ts";
import { fileSecret, textSecret } from "../../../adapters/sqlite/index.ts";
import { getServerSettings } from "../../../config/backend-settings.ts";
import { readSettings, type Settings } from "../../../config/settings.ts";
import { copyStore } from "../../../engine/transfer/copy-store.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import type { KeyStore } from "../../../http/index.ts";
import type { Ledger } from "../../../ports/ledger.ts";
import type { MemoryStore } from "../../../ports/memory-store.ts";
import { EXIT } from "../../exit.ts";
import { createPrinter, createProgressBar, formatCount } from "../../printer.ts";
import { type CommonOptions, reportErrors } from "../../with-memory.ts";

interface MoveCommandOptions extends CommonOptions {
  readonly to: string;
}

const STEP_NAMES = { copying: "copied", checking: "checked" } as const;

/** Copies the whole database into another, empty one. Compares both by digest. */
export async function runMove(options: MoveCommandOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const [source, target] = [readSettings(undefined, options.db), readSettings(undefined, options.to)];
    if (toEndpointKey(source) === toEndpointKey(target))
      throw invalid("move: source and target are the same database.");
    const from = await openEndpoint(source, "reads");
    try {
      const to = await openEndpoint(target, "writes");
      const bar = createProgressBar(print.json);
      try {
        moveSecret(from, to, source);
        const moved = await copyStore(from.record, to.record, {
          onProgress: (done, of, step) =>
            bar.show(done, of, `${STEP_NAMES[step]}, row ${done} of about ${of}`),
          beforeEnd: () => moveLedgerAndKeys(from, to),
        });
        bar.end();
        const { users = 0, messages = 0, memories = 0 } = moved.rows;
        if (moved.resumedAt > 0)
          print.note(`Resumed after ${formatCount(moved.resumedAt, "row")} of an earlier run.`);
        print.result({ from: from.displayName, to: to.displayName, ...moved }, () => [
          `${formatCount(users, "user")}, ${formatCount(messages, "message")}, ${formatCount(memories, "memory", "memories")}: copied from ${from.displayName} to ${to.displayName}.`,
          `Digest of both: ${moved.digest}`,
        ]);
        print.note(`${from.displayName} is unchanged. Do not write to it any more; you can delete it.`);
        return EXIT.done;
      } finally {
        bar.end();
        await to.close();
      }
    } finally {
      await from.close();
    }
  });
}

/**
 * Copies the secret file. It goes first, because tombstones and receipts are useless without it. If one side has no secret
 * file, `KEEPSAKE_SECRET` must be set. Throws `conflict` if the two secrets differ.
 */
function moveSecret(from: MoveEndpoint, to: MoveEndpoint, settings: MoveEndpointSettings): void {
  const sourceFile = from.secretFile;
  if (sourceFile === undefined || !existsSync(sourceFile)) return;
  if (settings.secret !== undefined) {
    if (!isSameSecret(fileSecret(sourceFile).secret, textSecret(settings.secret)))
      throw createOtherSecretError(sourceFile);
    return;
  }
  const { secretFile } = to;
  if (secretFile === undefined) throw createMissingSecretError(sourceFile);
  if (!existsSync(secretFile)) copyFileSync(sourceFile, secretFile, constants.COPYFILE_EXCL);
  else if (!isSameSecret(fileSecret(sourceFile).secret, fileSecret(secretFile).secret)) {
    throw new MemoryError(
      "conflict",
      `move: ${secretFile} contains another secret than that of ${from.displayName}. Remove it, or choose another target.`,
    );
  }
}

type SecretSigner = { readonly sign: (text: string) => string };

function isSameSecret(one: SecretSigner, other: SecretSigner): boolean {
  return one.sign("keepsake") === other.sign("keepsake");
}

function createMissingSecretError(file: string): MemoryError {
  return new MemoryError(
    "invalid_input",
    `move: set KEEPSAKE_SECRET to the content of ${file}: servers on the new database share the secret by this setting.`,
  );
}

function createOtherSecretError(file: string): MemoryError {
  return new MemoryError(
    "conflict",
    `move: KEEPSAKE_SECRET is another secret than the one in ${file}. With another secret, erased data could come back and ` +
      "receipts could not be verified. Set it to the content of the file, or remove the file if it is outdated.",
  );
}

/** Copies the erasure ledger, and the keys with their sign-ins. Existing entries stay. */
async function moveLedgerAndKeys(from: MoveEndpoint, to: MoveEndpoint): Promise<void> {
  const identity = await from.record.identity();
  const ledger = await from.ledger(identity)?.read();
  const known = new Set(ledger?.traces.map(({ receipt }) => receipt));
  const unlisted = (await from.record.erasures.traces()).filter(({ receipt }) => !known.has(receipt));
  await to.ledger(identity)?.append([...(ledger?.traces ?? []), ...unlisted]);
  await from.keys.refresh?.();
  const ring = from.keys.read();
  if (ring) to.keys.write((current) => (current.keys.length === 0 ? ring : current));
  await to.keys.kept?.();
}

/** The source or target of a move, with the files beside the database. */
interface MoveEndpoint {
  /** The name to show, without a password. */
  readonly displayName: string;
  readonly record: MemoryStore;
  readonly keys: KeyStore;
  /** The erasure ledger outside the database, for a database identity. A move changes the identity. */
  ledger(identity: string): Ledger | undefined;
  /** The file of the secret, used unless KEEPSAKE_SECRET is set. */
  readonly secretFile?: string;
  close(): Promise<void>;
}

type MoveEndpointSettings = Pick<Settings, "path" | "secret" | "backends">;

/** Opens the database in the settings, with the files beside it. */
async function openEndpoint(
  settings: MoveEndpointSettings,
  access: "reads" | "writes",
): Promise<MoveEndpoint> {
  return (await openServerEndpoint(settings)) ?? openSqliteEndpoint(settings.path, access);
}

/** Undefined if the database is a file. */
async function openServerEndpoint({
  secret,
  backends,
}: MoveEndpointSettings): Promise<MoveEndpoint | undefined> {
  const settings = getServerSettings(backends);
  if (!settings) return undefined;
  const { openServerStore } = await import("../../../config/backends/connections.ts");
  const opened = await openServerStore(backends, {
    ...(secret === undefined ? {} : { secret }),
    timeoutMs: MOVE_TIMEOUT_MS,
  });
  const { redactAddress } = await import("../../../config/backends/open-backends.ts");
  const { sharedKeys } = await import("../../../http/index.ts");
  const { fileLedger } = await import("../../../adapters/sqlite/index.ts");
  const { ledger } = settings;
  return {
    displayName: redactAddress(settings.url),
    record: opened.record,
    keys: sharedKeys(opened.record.documents),
    ledger: (identity) => (ledger === undefined ? undefined : fileLedger(ledger, identity)),
    close: opened.close,
  };
}

/** A busy database server can take long for a page of a thousand rows. */
const MOVE_TIMEOUT_MS = 120_000;

/** Gives a key of the database: equal for two names of the same database. */
function toEndpointKey({ path, backends }: MoveEndpointSettings): string {
  const { postgres, mariadb } = backends ?? {};
  if (mariadb) return mariadb.url.replace(/^mariadb:/i, "mysql:");
  if (postgres) return `${postgres.url.replace(/^postgres:/i, "postgresql:")} ${postgres.schema ?? ""}`;
  const file = resolve(path);
  if (existsSync(file)) return realpathSync(file);
  return existsSync(dirname(file)) ? join(realpathSync(dirname(file)), basename(file)) : file;
}

async function openSqliteEndpoint(path: string, access: "reads" | "writes"): Promise<MoveEndpoint> {
  if (path === ":memory:" || path === "") throw invalid("move: :memory: cannot be moved.");
  if (access === "reads" && !existsSync(path)) {
    throw new MemoryError("unavailable", `there is no database ${path}. Choose another with --db.`);
  }
  const { fileLedger, openSqliteStore } = await import("../../../adapters/sqlite/index.ts");
  const { keysFile, keysPathOf } = await import("../../../http/index.ts");
  const record = await openSqliteStore({ path });
  try {
    await refuseEncryptedStore(record);
  } catch (error) {
    await record.close();
    throw error;
  }
  return {
    displayName: path,
    record,
    keys: keysFile(keysPathOf(path)),
    ledger: (identity) => fileLedger(`${path}.erasures`, identity),
    secretFile: `${path}.secret`,
    close: () => record.close(),
  };
}
