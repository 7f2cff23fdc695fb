import { constants, copyFileSync, existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileSecret, textSecret } from "../../adapters/sqlite/index.ts";
import { readSettings, type Settings } from "../../config/settings.ts";
import { copyStore } from "../../engine/transfer/copy-store.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { KeyStore } from "../../http/index.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { EXIT } from "../exit.ts";
import { createPrinter, createProgressBar, formatCount } from "../printer.ts";
import { type CommonOptions, reportErrors } from "../with-memory.ts";

interface MoveCommandOptions extends CommonOptions {
  readonly to: string;
}

const STEP_NAMES = { copying: "copied", checking: "checked" } as const;

/** Copies the whole database into another, empty one, and checks by digest that both hold the same. */
export async function runMove(options: MoveCommandOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const [source, target] = [readSettings(undefined, options.db), readSettings(undefined, options.to)];
    if (toEndpointKey(source) === toEndpointKey(target)) throw invalid("move: both are the same database.");
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
          print.note(`Went on after ${formatCount(moved.resumedAt, "row")} of an earlier run.`);
        print.result({ from: from.displayName, to: to.displayName, ...moved }, () => [
          `${formatCount(users, "user")}, ${formatCount(messages, "message")}, ${formatCount(memories, "memory", "memories")}: ${to.displayName} holds what ${from.displayName} holds.`,
          `Digest of both: ${moved.digest}`,
        ]);
        print.note(
          `${from.displayName} is as it was. Let nothing write to it any more, and delete it when you like.`,
        );
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
 * The secret first: without it tombstones and receipts are worth nothing. It goes from file to file; where one side has no
 * file, `KEEPSAKE_SECRET` has to be set to it. `conflict` where the two sides have different ones.
 */
export function moveSecret(from: MoveEndpoint, to: MoveEndpoint, settings: MoveEndpointSettings): void {
  const held = from.secretFile;
  if (held === undefined || !existsSync(held)) return;
  if (settings.secret !== undefined) {
    if (!isSameSecret(fileSecret(held).secret, textSecret(settings.secret)))
      throw createOtherSecretError(held);
    return;
  }
  const { secretFile } = to;
  if (secretFile === undefined) throw createMissingSecretError(held);
  if (!existsSync(secretFile)) copyFileSync(held, secretFile, constants.COPYFILE_EXCL);
  else if (!isSameSecret(fileSecret(held).secret, fileSecret(secretFile).secret)) {
    throw new MemoryError(
      "conflict",
      `move: ${secretFile} holds another secret than ${from.displayName} has. Take it away, or name another place.`,
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
    `move: set KEEPSAKE_SECRET to what ${file} holds: several servers share the secret there, and no file keeps it.`,
  );
}

function createOtherSecretError(file: string): MemoryError {
  return new MemoryError(
    "conflict",
    `move: KEEPSAKE_SECRET is another secret than ${file} holds. With another one, what was erased is not kept out and ` +
      "receipts cannot be checked. Set it to what the file holds; take the file away where it is of another time.",
  );
}

/** The ledger of erasures, and the keys with the pages that are signed in. What is there already stays. */
export async function moveLedgerAndKeys(from: MoveEndpoint, to: MoveEndpoint): Promise<void> {
  const identity = await from.record.identity();
  const written = await from.ledger(identity)?.read();
  const known = new Set(written?.traces.map(({ receipt }) => receipt));
  const held = (await from.record.traces()).filter(({ receipt }) => !known.has(receipt));
  await to.ledger(identity)?.append([...(written?.traces ?? []), ...held]);
  await from.keys.refresh?.();
  const ring = from.keys.read();
  if (ring) to.keys.write((there) => (there.keys.length === 0 ? ring : there));
  await to.keys.kept?.();
}

/** A database that is moved, or moved into, with what belongs beside it. */
export interface MoveEndpoint {
  /** For people: without a password. */
  readonly displayName: string;
  readonly record: MemoryStore;
  readonly keys: KeyStore;
  /** What was erased, outside of the record; by the record's identity, which a move changes. */
  ledger(identity: string): Ledger | undefined;
  /** Where the secret is kept, unless KEEPSAKE_SECRET is set. */
  readonly secretFile?: string;
  close(): Promise<void>;
}

export type MoveEndpointSettings = Pick<Settings, "path" | "secret" | "backends">;

/** Opens the database that settings name, with what lies beside it. */
export async function openEndpoint(
  settings: MoveEndpointSettings,
  access: "reads" | "writes",
): Promise<MoveEndpoint> {
  return settings.backends?.postgres
    ? openPostgresEndpoint(settings)
    : openSqliteEndpoint(settings.path, access);
}

async function openPostgresEndpoint({ secret, backends }: MoveEndpointSettings): Promise<MoveEndpoint> {
  const settings = backends?.postgres ?? { url: "" };
  const { openPostgres } = await import("../../config/backends/connections.ts");
  const { redactAddress: shownAddress } = await import("../../config/backends/open-backends.ts");
  const { sharedKeys } = await import("../../http/index.ts");
  const { fileLedger } = await import("../../adapters/sqlite/index.ts");
  const { ledger } = settings;
  const { record, close } = await openPostgres(settings, {
    ...(secret === undefined ? {} : { secret }),
    timeoutMs: MOVE_TIMEOUT_MS,
  });
  return {
    displayName: shownAddress(settings.url),
    record,
    keys: sharedKeys(record.documents),
    ledger: (identity) => (ledger === undefined ? undefined : fileLedger(ledger, identity)),
    close,
  };
}

/** A page of a thousand rows may take its time where the server has other things to do. */
const MOVE_TIMEOUT_MS = 120_000;

/** Two names of one place are the same text. */
export function toEndpointKey({ path, backends }: MoveEndpointSettings): string {
  const { postgres } = backends ?? {};
  if (postgres) return `${postgres.url.replace(/^postgres:/i, "postgresql:")} ${postgres.schema ?? ""}`;
  const file = resolve(path);
  if (existsSync(file)) return realpathSync(file);
  return existsSync(dirname(file)) ? join(realpathSync(dirname(file)), basename(file)) : file;
}

async function openSqliteEndpoint(path: string, access: "reads" | "writes"): Promise<MoveEndpoint> {
  if (path === ":memory:" || path === "") throw invalid("move: a memory that keeps nothing cannot be moved.");
  if (access === "reads" && !existsSync(path)) {
    throw new MemoryError("unavailable", `there is no database ${path}. Name another with --db.`);
  }
  const { fileLedger, openSqliteStore: openSqliteRecord } = await import("../../adapters/sqlite/index.ts");
  const { keysFile, keysPathOf } = await import("../../http/index.ts");
  const record = await openSqliteRecord({ path });
  return {
    displayName: path,
    record,
    keys: keysFile(keysPathOf(path)),
    ledger: (identity) => fileLedger(`${path}.erasures`, identity),
    secretFile: `${path}.secret`,
    close: () => record.close(),
  };
}
