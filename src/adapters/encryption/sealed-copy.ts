import { existsSync } from "node:fs";
import { MemoryError } from "../../errors.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import { type KeyFolder, openKeyFolder, removeEmptyKeyFolder } from "./key-folder.ts";
import { createSealedDump } from "./sealed-dump.ts";
import { checkMark, sealedStore } from "./sealed-store.ts";

interface SealingOptions {
  readonly keysPath: string;
  readonly wrapper: KeyWrapper;
}

/** Like `openSealedStore`, with a dump, to copy a store into an encrypted one or out of it. */
export async function openSealedCopy(store: MemoryStore, options: SealingOptions): Promise<MemoryStore> {
  const folder = await openMarkedKeys(store, options);
  const sealed = sealedStore(store, folder);
  return store.dump ? { ...sealed, dump: createSealedDump(store.dump, folder) } : sealed;
}

/** Opens the folder of keys and checks the mark of the store. Throws like `openSealedStore`. */
export async function openMarkedKeys(
  store: MemoryStore,
  { keysPath, wrapper }: SealingOptions,
): Promise<KeyFolder> {
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
  return folder;
}
