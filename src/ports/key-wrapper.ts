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
