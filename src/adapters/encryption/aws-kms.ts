import { MemoryError } from "../../errors.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import { toContextHash } from "./context-hash.ts";

interface KmsCallOptions {
  readonly abortSignal?: AbortSignal;
}

/** The part of `KMS` of `@aws-sdk/client-kms` (tested with 3.1137) that is used. */
export interface KmsClient {
  /** Encrypts up to 4096 bytes with a key of the service. */
  encrypt(
    input: { KeyId: string; Plaintext: Uint8Array; EncryptionContext: Record<string, string> },
    options?: KmsCallOptions,
  ): Promise<{ readonly CiphertextBlob?: Uint8Array | undefined }>;
  /** Decrypts with the same key and context. */
  decrypt(
    input: { KeyId: string; CiphertextBlob: Uint8Array; EncryptionContext: Record<string, string> },
    options?: KmsCallOptions,
  ): Promise<{ readonly Plaintext?: Uint8Array | undefined }>;
}

/** Options of `awsKmsKeyWrapper`. */
export interface AwsKmsOptions {
  /** `new KMS({ region })` of `@aws-sdk/client-kms`. */
  readonly client: KmsClient;
  /** The id, the ARN or the alias (`alias/…`) of a symmetric key. */
  readonly keyId: string;
  /** Time limit of a call, in ms (10 seconds). */
  readonly timeoutMs?: number;
}

const CALL_MS = 10_000;
/** The beginning of what is wrapped here, so that the service is not asked about other bytes. */
const MARK = Buffer.from("aws-kms:");
/** What AWS says of bytes that another key, or the same with another context, encrypted. */
const OTHER_KEY = new Set(["InvalidCiphertextException", "IncorrectKeyException"]);
/** What a person has to mend. Everything else may work later. */
const REFUSED = new Set([
  "AccessDeniedException",
  "NotFoundException",
  "DisabledException",
  "KMSInvalidStateException",
  "UnrecognizedClientException",
  "InvalidSignatureException",
]);

/**
 * Wraps keys with a key of AWS KMS, which never leaves the service. Its log, which shows a context, is told a hash of it. A
 * call throws `forbidden` if the service refuses it and `unavailable` if it does not answer.
 */
export function awsKmsKeyWrapper({ client, keyId, timeoutMs = CALL_MS }: AwsKmsOptions): KeyWrapper {
  const within = (): KmsCallOptions => ({ abortSignal: AbortSignal.timeout(timeoutMs) });
  const toContext = (context: string) => ({ keepsake: toContextHash(context).toString("base64") });
  return {
    name: "aws-kms",
    async wrap(key, context) {
      const input = { KeyId: keyId, Plaintext: key, EncryptionContext: toContext(context) };
      const { CiphertextBlob } = await client.encrypt(input, within()).catch(fail);
      return Buffer.concat([MARK, CiphertextBlob ?? fail(new Error("no ciphertext"))]);
    },
    async unwrap(wrapped, context) {
      if (!MARK.equals(wrapped.subarray(0, MARK.length))) return undefined;
      const blob = wrapped.subarray(MARK.length);
      const input = { KeyId: keyId, CiphertextBlob: blob, EncryptionContext: toContext(context) };
      try {
        return (await client.decrypt(input, within())).Plaintext;
      } catch (cause) {
        return OTHER_KEY.has(nameOf(cause)) ? undefined : fail(cause);
      }
    },
  };
}

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : "");

function fail(cause: unknown): never {
  if (REFUSED.has(nameOf(cause))) {
    throw new MemoryError(
      "forbidden",
      "encryption: AWS KMS refuses the master key. Check the key, its state, the region and the credentials, which need kms:Encrypt and kms:Decrypt.",
      { cause },
    );
  }
  throw new MemoryError("unavailable", "encryption: AWS KMS does not answer. Try again later.", { cause });
}
