import { refuseEncryptedStore } from "../adapters/encryption/mark.ts";
import { MemoryError } from "../errors.ts";
import type { MemoryOptions } from "../memory-options.ts";
import type { MemoryStore } from "../ports/memory-store.ts";
import type { KeyWrapper, MasterKeyPlace } from "../ports/stores/encryption.ts";
import type { Secret } from "../ports/system.ts";

/**
 * Gives the store as it is, or one that encrypts with keys in a folder beside the database file. Throws `forbidden` if an
 * encrypted database is opened without encryption or without its keys; `unsupported` if texts would be stored elsewhere too.
 */
export async function openEncryption(
  options: MemoryOptions,
  store: MemoryStore,
  { path, loadSecret }: { readonly path: string; readonly loadSecret: () => { readonly secret: Secret } },
): Promise<MemoryStore> {
  const { encryption } = options;
  if (!encryption) {
    await refuseEncryptedStore(store);
    return store;
  }
  refuseUnencryptedPlaces(options, path);
  const wrapper = await openKeyWrapper(encryption, loadSecret);
  const { openSealedStore } = await import("../adapters/encryption/index.ts");
  return openSealedStore(store, { keysPath: `${path}.keys`, wrapper });
}

/** Gives what wraps keys with the master key that the option names: in a file, elsewhere, or derived from the secret. */
export async function openKeyWrapper(
  encryption: true | MasterKeyPlace,
  loadSecret: () => { readonly secret: Secret },
): Promise<KeyWrapper> {
  if (encryption !== true && "masterKey" in encryption) return encryption.masterKey;
  // Loaded only here: most databases are not encrypted.
  const { fileKeyWrapper, secretKeyWrapper } = await import("../adapters/encryption/index.ts");
  return encryption === true
    ? secretKeyWrapper(loadSecret().secret)
    : fileKeyWrapper(encryption.masterKeyFile);
}

/** Options whose servers hold texts or vectors as they are. */
const OTHER_PLACES = ["index", "sessions", "cache", "queue"] as const;

function refuseUnencryptedPlaces(options: MemoryOptions, path: string): void {
  if (path === ":memory:") {
    throw new MemoryError(
      "unsupported",
      "encryption: nothing of :memory: is stored. Name a database file, or switch it off.",
    );
  }
  const place = OTHER_PLACES.find((name) => options[name] !== undefined);
  if (place === undefined) return;
  throw new MemoryError(
    "unsupported",
    `encryption: what ${place} holds would not be encrypted. Leave out ${place}, or switch encryption off.`,
  );
}
