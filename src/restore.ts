import {
  beginRestore,
  digestKeyOf,
  fileLedger,
  fileSecret,
  hasFileSecret,
  openSqliteStore,
  type Restoring,
  textSecret,
  translate,
} from "./adapters/sqlite/index.ts";
import { systemClock } from "./adapters/system/index.ts";
import type { Trace } from "./domain/receipt.ts";
import { resetAllCursors } from "./engine/index-sync/index-cursors.ts";
import { MemoryError } from "./errors.ts";
import { createMemory, type MemoryOptions } from "./memory.ts";
import type { Ledger } from "./ports/ledger.ts";
import type { MemoryStore } from "./ports/memory-store.ts";
import type { Secret } from "./ports/system.ts";

export interface RestoreOptions extends Omit<MemoryOptions, "record" | "ledger"> {
  /** The backup. */
  readonly from: string;
  /** The database that it becomes (`keepsake.db`); one that is there is kept under another name. */
  readonly path?: string;
  /** Whether a database that is there may be put aside; without it, that is a `conflict`. */
  readonly replace?: boolean;
  /** Whether to go on where no ledger of erasures is left; without it, that is a `conflict`. */
  readonly withoutLedger?: boolean;
}

export interface Restored {
  /** SHA-256 of the backup, hex. */
  readonly digest: string;
  /** Erasures made after the backup that were done again before anybody could read it. */
  readonly again: number;
  /** The name under which the database that was there is kept now. It holds what it held. */
  readonly aside?: string;
  /** What a person should be told. */
  readonly notices: readonly string[];
}

/**
 * Makes a backup the database again: looks at it as a whole, erases again what was erased after it was made, and puts
 * it in place in one step. What is there is untouched until then. `unavailable` where a program uses the database,
 * `corrupt` where the backup is damaged, `conflict` where something is in the way that takes a word to go on.
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
    const made = await prepareDraft(restoring, options);
    await restoring.finish();
    const { digest, aside } = restoring;
    return { digest, ...(aside ? { aside: aside.name } : {}), ...made };
  } catch (error) {
    restoring.abandon();
    throw error;
  }
}

/** Erases from the draft what is to be erased again, and notes the copies in it. */
async function prepareDraft(
  restoring: Restoring,
  options: RestoreOptions & { path: string; at: string },
): Promise<Pick<Restored, "again" | "notices">> {
  const { from, path, at, withoutLedger, replace: _replace, secret: given, ...rest } = options;
  // Nothing is made beside the database before it is known that the backup will be used.
  const isThere = given !== undefined || hasFileSecret(`${path}.secret`);
  const digestKey = (): string => digestKeyOf(openSecret(path, given).secret);
  const record = await openSqliteStore({ path: restoring.draft, ...(isThere ? { digestKey } : {}) });
  try {
    const { ledger, isLost } = await mergeLedgers(restoring, path, record);
    if (isLost && !withoutLedger) throw createMissingLedgerError();
    const { secret, isNew } = openSecret(path, given);
    const before = (await record.erasures()).length;
    const memory = await createMemory({ ...rest, path, record, calls: record.calls, ledger, secret });
    await noteCopies(record, restoring, from, at);
    await memory.close();
    await resetAllCursors(record);
    const all = (await record.erasures()).length;
    const notices = [
      ...memory.notices,
      ...(isLost ? [WITHOUT_LEDGER_NOTICE] : []),
      ...(isNew && all > 0 ? [NEW_SECRET_NOTICE] : []),
      ...(restoring.faults > 0 ? [FAULTY_ROWS_NOTICE] : []),
    ];
    return { again: all - before, notices };
  } finally {
    await record.close();
  }
}

/** The ledger beside the database, and what the database that is there still knows of it. */
async function mergeLedgers(
  { present }: Restoring,
  path: string,
  record: MemoryStore,
): Promise<{ ledger: Ledger; isLost: boolean }> {
  const identity = await record.identity();
  const file = fileLedger(`${path}.erasures`, identity);
  const written = await file.read();
  const known: readonly Trace[] = present?.identity === identity ? present.traces : [];
  const traces = new Map([...(written?.traces ?? []), ...known].map((trace) => [trace.receipt, trace]));
  await file.append(known.filter(({ receipt }) => !written?.traces.some((one) => one.receipt === receipt)));
  const content = { traces: [...traces.values()], damaged: written?.damaged ?? 0 };
  return {
    isLost: present?.identity !== identity && (written?.traces ?? []).length === 0,
    ledger: {
      read: async () => content,
      receipts: async () => new Set(traces.keys()),
      append: file.append,
    },
  };
}

/** The copies that the database knew of, the one that is put back, and the database that is put aside. */
async function noteCopies(
  record: MemoryStore,
  { present, aside, digest, bytes }: Restoring,
  from: string,
  at: string,
): Promise<void> {
  for (const note of present?.backups ?? []) await record.saveBackupNote(note);
  const name = from.split(/[\\/]/).at(-1) ?? from;
  const noted = (await record.backups()).find((note) => note.name === name);
  if (noted?.digest !== digest) await record.saveBackupNote({ name, at, bytes, digest });
  if (aside) await record.saveBackupNote({ ...aside, at, digest: "" });
}

function openSecret(path: string, given: MemoryOptions["secret"]): { secret: Secret; isNew: boolean } {
  if (given === undefined) return fileSecret(`${path}.secret`);
  return { secret: typeof given === "string" ? textSecret(given) : given, isNew: false };
}

function createConflictError(): MemoryError {
  return new MemoryError(
    "conflict",
    "restore: there is a database already. It can be kept under another name: say that you want it (--yes, or replace).",
  );
}

function createMissingLedgerError(): MemoryError {
  return new MemoryError(
    "conflict",
    "restore: the ledger of erasures is not beside the database, so what was erased after this backup was made would " +
      "be back. Put the file that ends in .erasures there; or go on without it (--without-ledger).",
  );
}

const WITHOUT_LEDGER_NOTICE =
  "Restored without the ledger of erasures: what was erased after this backup was made is back. Forget it again.";

const NEW_SECRET_NOTICE =
  "The secret beside the database was missing and has been made anew. What was erased is not kept out any more, and " +
  "earlier receipts cannot be checked. Put the old file back if you have it.";

const FAULTY_ROWS_NOTICE = "Some rows of this backup do not fit together: `keepsake doctor` says which.";
