import { existsSync } from "node:fs";
import { MemoryError } from "../../errors.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import { openKeyFolder, removeEmptyKeyFolder } from "./key-folder.ts";
import { checkMark, type SealedStore, sealedStore } from "./sealed-store.ts";

export { fileKeyWrapper, secretKeyWrapper } from "./key-wrappers.ts";
export type { SealedStore } from "./sealed-store.ts";

/**
 * Opens the encryption of a store: the folder of keys, and the mark in the store. Throws `forbidden` if the keys are missing, or
 * belong to another master key or database; `conflict` if the store has users whose texts are not encrypted; `unsupported` if
 * the store cannot be encrypted.
 */
export async function openSealedStore<Store extends MemoryStore>(
  store: Store,
  { keysPath, wrapper }: { readonly keysPath: string; readonly wrapper: KeyWrapper },
): Promise<SealedStore<Store>> {
  const mark = store.encryptionMark;
  if (!mark) {
    throw new MemoryError(
      "unsupported",
      `encryption: memories in ${store.name} cannot be encrypted. Use a database file, or an encrypted disk and encrypted backups.`,
    );
  }
  const isNew = (await mark.read()) === undefined;
  const hadFolder = existsSync(keysPath);
  const folder = await openKeyFolder(keysPath, wrapper, { mayCreate: isNew });
  try {
    await checkMark(mark, folder);
  } catch (error) {
    if (isNew && !hadFolder) removeEmptyKeyFolder(keysPath);
    throw error;
  }
  return sealedStore(store, folder);
}
