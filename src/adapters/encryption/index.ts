import type { MemoryStore } from "../../ports/memory-store.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import { openMarkedKeys } from "./sealed-copy.ts";
import { type SealedStore, sealedStore } from "./sealed-store.ts";

export { type AwsKmsOptions, awsKmsKeyWrapper, type KmsClient } from "./aws-kms.ts";
export { fileKeyWrapper, secretKeyWrapper } from "./key-wrappers.ts";
export type { SealedStore } from "./sealed-store.ts";
export { type VaultOptions, vaultKeyWrapper } from "./vault-transit.ts";

/**
 * Opens the encryption of a store: the folder of keys, and the mark in the store. Throws `forbidden` if the keys are missing, or
 * belong to another master key or database; `conflict` if the store has users whose texts are not encrypted; `unsupported` if
 * the store cannot be encrypted.
 */
export async function openSealedStore<Store extends MemoryStore>(
  store: Store,
  { keysPath, wrapper }: { readonly keysPath: string; readonly wrapper: KeyWrapper },
): Promise<SealedStore<Store>> {
  return sealedStore(store, await openMarkedKeys(store, { keysPath, wrapper }));
}
