import { type RotatedKeys, rotateKeys } from "./adapters/encryption/rotate-keys.ts";
import { lockUsers, resolveDatabaseFile } from "./adapters/sqlite/files/encrypted-copy.ts";
import { openSqliteStore, translate } from "./adapters/sqlite/index.ts";
import { MemoryError } from "./errors.ts";
import type { MemoryOptions } from "./memory-options.ts";
import type { MasterKeyPlace } from "./ports/stores/encryption.ts";
import { openKeyWrapper } from "./wiring/encryption.ts";
import { createSecretLoader } from "./wiring/secret.ts";

/** Options of `rotateMasterKey`. */
interface RotateOptions extends Pick<MemoryOptions, "secret"> {
  /** The database file. */
  readonly path: string;
  /** Where the master key of now is, as in `createMemory`. */
  readonly from: true | MasterKeyPlace;
  /** Where the new one is. */
  readonly to: true | MasterKeyPlace;
}

/**
 * Wraps the keys of all users of an encrypted database file with another master key. No data is encrypted anew. If it is interrupted,
 * nothing opens the database until the same call has ended it. Throws `unavailable` if a program uses the file, `conflict` if it is
 * not encrypted, `forbidden` if the current master key does not open its keys, and `invalid_input` if both master keys are the same.
 */
export async function rotateMasterKey({ from, to, ...options }: RotateOptions): Promise<RotatedKeys> {
  const path = resolveDatabaseFile(options.path);
  const load = createSecretLoader(options, `${path}.secret`);
  try {
    await checkEncrypted(path);
    const [earlier, later] = [await openKeyWrapper(from, load), await openKeyWrapper(to, load)];
    const locked = lockUsers(path);
    try {
      return await rotateKeys(`${path}.keys`, locked.users, { from: earlier, to: later });
    } finally {
      locked.release();
    }
  } catch (error) {
    throw translate(path, error);
  }
}

/** Brings the file to this version, ends interrupted erasures, and throws `conflict` if it is not encrypted. */
async function checkEncrypted(path: string): Promise<void> {
  const store = await openSqliteStore({ path });
  try {
    if ((await store.encryptionMark?.read()) !== undefined) return;
  } finally {
    await store.close();
  }
  throw new MemoryError(
    "conflict",
    "encryption: the database is not encrypted. `keepsake encryption convert` encrypts it.",
  );
}
