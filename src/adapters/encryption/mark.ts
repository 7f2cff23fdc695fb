import { MemoryError } from "../../errors.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";

/** Throws `forbidden` if a store is encrypted: without the keys, its texts cannot be read and must not be written. */
export async function refuseEncryptedStore(store: MemoryStore): Promise<void> {
  if ((await store.encryptionMark?.read()) === undefined) return;
  throw new MemoryError(
    "forbidden",
    "encryption: this database is encrypted. Set KEEPSAKE_ENCRYPTION=on (or the option `encryption`) to open it with its keys.",
  );
}
