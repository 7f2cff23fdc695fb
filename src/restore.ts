import {
  beginRestore,
  digestKeyOf,
  fileLedger,
  fileSecret,
  hasFileSecret,
  isAlteration,
  openSqliteStore,
  type Restoring,
  textSecret,
  translate,
} from "./adapters/sqlite/index.ts";
import { systemClock } from "./adapters/system/index.ts";
import type { Trace } from "./domain/receipt.ts";
import { withoutRepetitions } from "./engine/erase/replay-ledger.ts";
import { resetAllCursors } from "./engine/index-sync/index-cursors.ts";
import { MemoryError } from "./errors.ts";
import { createMemory } from "./memory.ts";
import type { MemoryOptions } from "./memory-options.ts";
import type { Ledger } from "./ports/ledger.ts";
import type { MemoryStore } from "./ports/memory-store.ts";
import type { Secret } from "./ports/system.ts";

/** Options of `restoreMemory`, and those of `createMemory`. */
export interface RestoreOptions extends Omit<MemoryOptions, "record" | "ledger"> {
  /** The backup file. */
  readonly from: string;
  /** The database file to restore to (`keepsake.db`). An existing one is renamed and kept. */
  readonly path?: string;
  /** Whether an existing database may be renamed. If false, an existing database is a `conflict`. */
  readonly replace?: boolean;
  /** Whether to continue without the erasure ledger. If false, a missing ledger is a `conflict`. */
  readonly withoutLedger?: boolean;
  /** Whether to restore a backup whose rows were changed by another program. If false, such a backup is `corrupt`. */
  readonly evenIfChanged?: boolean;
}

/** The result of a restore. */
export interface Restored {
  /** SHA-256 of the backup, hex. */
  readonly digest: string;
  /** The number of erasures made after the backup. They were applied before the database could be read. */
  readonly again: number;
  /** The new name of the previous database. Its content is unchanged. */
  readonly aside?: string;
  /** Notices for people. */
  readonly notices: readonly string[];
}

/**
 * Replaces the database with a backup. It checks the backup, applies the erasures made since, and then puts it in place
 * in one step; until then the existing database is unchanged. Throws `unavailable` if a program uses the database,
 * `corrupt` if the backup is damaged or its rows were changed by another program, and `conflict` if it needs `replace` or
 * `withoutLedger`.
 */
export async function restoreMemory(options: RestoreOptions): Promise<Restored> {
  const { from, path = "keepsake.db" } = options;
  if (path === ":memory:") throw new MemoryError("unsupported", "restore: name a database file.");
  const at = (options.clock ?? systemClock)().toISOString();
  try {
    return await restoreDraft(await beginRestore({ from, path, at }), { ...options, from, path, at });
  } catch (error) {
    throw translate(path, error);
  }
}

async function restoreDraft(
  restoring: Restoring,
  options: RestoreOptions & { path: string; at: string },
): Promise<Restored> {
  try {
    if (restoring.aside && !options.replace) throw createConflictError();
    const result = await prepareDraft(restoring, options);
    await restoring.finish();
    const { digest, aside } = restoring;
    return { digest, ...(aside ? { aside: aside.name } : {}), ...result };
  } catch (error) {
    throw restoring.abandon(error);
  }
}

/** Applies later erasures to the draft, and records the known copies of the database in it. */
async function prepareDraft(
  restoring: Restoring,
  options: RestoreOptions & { path: string; at: string },
): Promise<Pick<Restored, "again" | "notices">> {
  const { from, path, at, withoutLedger, evenIfChanged, replace: _replace, secret: given, ...rest } = options;
  // Creates no file beside the database before it is certain that the backup is used.
  const hasSecret = given !== undefined || hasFileSecret(`${path}.secret`);
  const digestKey = (): string => digestKeyOf(openSecret(path, given).secret);
  const record = await openSqliteStore({ path: restoring.draft, ...(hasSecret ? { digestKey } : {}) });
  try {
    const { ledger, isLost } = await mergeLedgers(restoring, path, record);
    if (isLost && !withoutLedger) throw createMissingLedgerError();
    // Rows are checked against their digests, which needs the secret.
    const isChanged = (await record.check()).some(isAlteration);
    if (isChanged && !evenIfChanged) throw createChangedError();
    const { secret, isNew } = openSecret(path, given);
    const before = (await record.erasures.list()).length;
    const memory = await createMemory({ ...rest, path, record, calls: record.calls, ledger, secret });
    await noteCopies(record, restoring, from, at);
    await memory.close();
    await resetAllCursors(record.jobs);
    const after = (await record.erasures.list()).length;
    const notices = [
      ...memory.notices,
      ...(isLost ? [WITHOUT_LEDGER_NOTICE] : []),
      ...(isNew && after > 0 ? [NEW_SECRET_NOTICE] : []),
      ...(restoring.faults > 0 || isChanged ? [FAULTY_ROWS_NOTICE] : []),
    ];
    return { again: after - before, notices };
  } finally {
    await record.close();
  }
}

/** Merges the ledger file with the erasures that the existing database knows. */
async function mergeLedgers(
  { present }: Restoring,
  path: string,
  record: MemoryStore,
): Promise<{ ledger: Ledger; isLost: boolean }> {
  const identity = await record.identity();
  const file = fileLedger(`${path}.erasures`, identity);
  const stored = await file.read();
  const known: readonly Trace[] = present?.identity === identity ? present.traces : [];
  const all = withoutRepetitions([...(stored?.traces ?? []), ...known]);
  const traces = new Map(all.map((trace) => [trace.receipt, trace]));
  const written = new Set(stored?.traces.map(({ receipt }) => receipt));
  await file.append([...traces.values()].filter(({ receipt }) => !written.has(receipt)));
  const content = { traces: [...traces.values()], damaged: stored?.damaged ?? 0 };
  return {
    isLost: present?.identity !== identity && (stored?.traces ?? []).length === 0,
    ledger: {
      read: async () => content,
      receipts: async () => new Set(traces.keys()),
      append: file.append,
    },
  };
}

/** Records the known backups, the restored one and the renamed database as copies. */
async function noteCopies(
  record: MemoryStore,
  { present, aside, digest, bytes }: Restoring,
  from: string,
  at: string,
): Promise<void> {
  for (const note of present?.backups ?? []) await record.backups.save(note);
  const name = from.split(/[\\/]/).at(-1) ?? from;
  const noted = (await record.backups.list()).find((note) => note.name === name);
  if (noted?.digest !== digest) await record.backups.save({ name, at, bytes, digest });
  if (aside) await record.backups.save({ ...aside, at, digest: "" });
}

function openSecret(path: string, given: MemoryOptions["secret"]): { secret: Secret; isNew: boolean } {
  if (given === undefined) return fileSecret(`${path}.secret`);
  return { secret: typeof given === "string" ? textSecret(given) : given, isNew: false };
}

function createConflictError(): MemoryError {
  return new MemoryError(
    "conflict",
    "restore: a database already exists. Use --yes (or replace) to rename and keep it.",
  );
}

function createMissingLedgerError(): MemoryError {
  return new MemoryError(
    "conflict",
    "restore: the erasure ledger is missing, so data erased since this backup would be back. Put the .erasures file " +
      "beside the database, or continue without it (--without-ledger).",
  );
}

function createChangedError(): MemoryError {
  return new MemoryError(
    "corrupt",
    "restore: rows of this backup were changed, added or removed by another program since it was written. Nothing was " +
      "changed. Take another backup, or restore it anyway (--even-if-changed).",
  );
}

const WITHOUT_LEDGER_NOTICE =
  "Restored without the erasure ledger: data erased since this backup is back. Forget it again.";

const NEW_SECRET_NOTICE =
  "The secret beside the database was missing, and a new one was created. Erased data may be stored again, and earlier " +
  "receipts cannot be verified. Restore the old .secret file if you have it.";

const FAULTY_ROWS_NOTICE = "Some rows of this backup are inconsistent: `keepsake doctor` lists them.";
