import type { Scope } from "../../domain/scope.ts";

/** Says in the store itself that its texts are encrypted, so that it is never read or written without the keys. */
export interface EncryptionMark {
  /** The id of the keys. Undefined if the texts are not encrypted. */
  read(): Promise<string | undefined>;

  /**
   * Marks an empty store. A store that is marked keeps its mark. Throws `conflict` if an unmarked store has users: their
   * texts are not encrypted.
   */
  write(keysId: string): Promise<void>;
}

/** The data keys that a user's texts are encrypted with. */
export interface UserKeys {
  /** Gives the user a new key for all later writes. Earlier keys stay until `destroyUnused`. */
  renew(scope: Scope): Promise<void>;

  /**
   * Destroys the keys before the newest, unless something stored still needs one. Then copies of the store from before
   * cannot be read.
   */
  destroyUnused(scope: Scope): Promise<DestroyedKeys>;
}

/** How many keys were destroyed, and how many had to stay. */
export interface DestroyedKeys {
  readonly destroyed: number;
  readonly kept: number;
}

/**
 * Wraps the data keys of users with a master key: one derived from the secret, one in a file, or one of a key management
 * service. The master key never leaves the adapter.
 */
export interface KeyWrapper {
  /** Shown in messages: "secret", "file". */
  readonly name: string;

  /** Encrypts a key of 32 bytes. `context` is authenticated with it and not kept. */
  wrap(key: Uint8Array, context: string): Promise<Uint8Array>;

  /** Decrypts a wrapped key. Undefined if another master key or another context wrapped it. */
  unwrap(wrapped: Uint8Array, context: string): Promise<Uint8Array | undefined>;
}

/** Where the master key of an encrypted database is: in a file, or elsewhere, with what wraps keys with it. */
export type MasterKeyPlace = { readonly masterKeyFile: string } | { readonly masterKey: KeyWrapper };
