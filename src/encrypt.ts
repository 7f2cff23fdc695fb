import { createKeyFolderUndo } from "./adapters/encryption/key-folder.ts";
import { openSealedCopy } from "./adapters/encryption/sealed-copy.ts";
import {
  beginFileEncryption,
  type FileEncryption,
  listPlainFiles,
  resolveDatabaseFile,
} from "./adapters/sqlite/files/encrypted-copy.ts";
import { digestKeyOf, openSqliteStore, translate } from "./adapters/sqlite/index.ts";
import { systemClock } from "./adapters/system/index.ts";
import { copyStore, refuseUnfinishedCopy } from "./engine/transfer/copy-store.ts";
import { MemoryError } from "./errors.ts";
import type { MemoryOptions } from "./memory-options.ts";
import type { MemoryStore } from "./ports/memory-store.ts";
import type { MasterKeyPlace } from "./ports/stores/encryption.ts";
import type { Clock } from "./ports/system.ts";
import { openKeyWrapper } from "./wiring/encryption.ts";
import { createSecretLoader } from "./wiring/secret.ts";

/** Options of `encryptDatabase`. */
interface EncryptOptions extends Pick<MemoryOptions, "secret"> {
  /** The database file. */
  readonly path: string;
  /** Where the master key is, as in `createMemory`. */
  readonly encryption: true | MasterKeyPlace;
  readonly clock?: Clock;
  readonly onProgress?: (done: number, of: number, step: "copying" | "checking") => void;
}

/** The result of `encryptDatabase`. */
interface EncryptedDatabase {
  /** False if the file was encrypted before. */
  readonly isConverted: boolean;
  /** How many users, messages and memories it holds. Absent if it was encrypted before. */
  readonly rows?: { readonly [part: string]: number };
  /** Names of files beside the database that hold texts unencrypted. They are left as they are. */
  readonly plainFiles: readonly string[];
  /** Names of known backups from before the encryption. */
  readonly plainBackups: readonly string[];
}

/**
 * Encrypts a database file that has users: copies it into an encrypted one beside it, compares both, and puts the copy in its
 * place in one step. Until then the file is unchanged. The keys are in the folder beside it. Throws `unavailable` if a program
 * uses the file, `unsupported` if it holds what cannot be encrypted, `corrupt` if it has faults.
 */
export async function encryptDatabase(options: EncryptOptions): Promise<EncryptedDatabase> {
  const path = resolveDatabaseFile(options.path);
  try {
    const isEncrypted = await prepareFile(path, options);
    const rows = isEncrypted ? undefined : await convert(path, options);
    return {
      isConverted: !isEncrypted,
      ...(rows ? { rows } : {}),
      plainFiles: listPlainFiles(path),
      plainBackups: await listPlainBackups(path, options.clock ?? systemClock),
    };
  } catch (error) {
    throw translate(path, error);
  }
}

/** Brings the file to this version, ends interrupted erasures, and checks it. Gives whether it is encrypted. */
async function prepareFile(path: string, options: EncryptOptions): Promise<boolean> {
  const store = await openSqliteStore({ path, digestKey: loadDigestKey(path, options) });
  try {
    if ((await store.encryptionMark?.read()) !== undefined) return true;
    await refuseUnfinishedCopy(store);
    const { attachments = 0, shares = 0 } = (await store.dump?.counts()) ?? {};
    if (attachments > 0) throw createUnsupportedError(`${attachments} images and recordings`);
    if (shares > 0) throw createUnsupportedError(`${shares} grants and groups`);
    if ((await store.check()).length > 0) throw createFaultyError();
    return false;
  } finally {
    await store.close();
  }
}

function createUnsupportedError(what: string): MemoryError {
  return new MemoryError(
    "unsupported",
    `encryption: the database holds ${what}, which cannot be stored encrypted. Nothing was changed. Use an encrypted disk.`,
  );
}

function createFaultyError(): MemoryError {
  return new MemoryError(
    "corrupt",
    "encryption: the database has faults. `keepsake doctor` lists them; repair it first. Nothing was changed.",
  );
}

function createLoader(path: string, { secret }: EncryptOptions): ReturnType<typeof createSecretLoader> {
  return createSecretLoader(secret === undefined ? {} : { secret }, `${path}.secret`);
}

function loadDigestKey(path: string, options: EncryptOptions): () => string {
  const load = createLoader(path, options);
  return () => digestKeyOf(load().secret);
}

async function convert(path: string, options: EncryptOptions): Promise<EncryptedDatabase["rows"]> {
  const removeNewKeys = createKeyFolderUndo(`${path}.keys`);
  const encryption = beginFileEncryption(path);
  try {
    const rows = await copyEncrypted(path, encryption, options);
    await encryption.finish();
    return rows;
  } catch (error) {
    // Nothing is encrypted with keys that were made for the copy.
    removeNewKeys();
    throw encryption.abandon(error);
  }
}

/** Makes the encrypted copy, compares it with the file, and closes it. */
async function copyEncrypted(
  path: string,
  { draft, source }: FileEncryption,
  options: EncryptOptions,
): Promise<EncryptedDatabase["rows"]> {
  const store = await openSqliteStore({ path: draft, digestKey: loadDigestKey(path, options) });
  try {
    const wrapper = await openKeyWrapper(options.encryption, createLoader(path, options));
    const target = await openSealedCopy(store, { keysPath: `${path}.keys`, wrapper });
    const { onProgress } = options;
    const { rows } = await copyStore(source, target, {
      ...(onProgress ? { onProgress } : {}),
      beforeEnd: () => markBackupsPlain(store),
    });
    if ((await store.check()).length > 0) throw new Error("the encrypted copy has faults");
    return rows;
  } finally {
    await store.close();
  }
}

async function markBackupsPlain({ backups }: Pick<MemoryStore, "backups">): Promise<void> {
  for (const note of await backups.list()) await backups.save({ ...note, isPlain: true });
}

async function listPlainBackups(path: string, clock: Clock): Promise<string[]> {
  const store = await openSqliteStore({ path });
  try {
    const now = clock().toISOString();
    return (await store.backups.list())
      .filter(({ isPlain, bytes, until }) => isPlain && bytes > 0 && (until === undefined || until > now))
      .map(({ name }) => name);
  } finally {
    await store.close();
  }
}
