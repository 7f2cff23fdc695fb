import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { MemoryError } from "../../errors.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import type { Secret } from "../../ports/system.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_HEX = /^[0-9a-f]{64}$/;

/** Encrypts with AES-256-GCM: a random nonce, the tag, the encrypted bytes. `context` is authenticated and not contained. */
export function encrypt(key: Uint8Array, bytes: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context));
  const encrypted = cipher.update(bytes);
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** Decrypts what `encrypt` gave. Undefined for another key, another context, or changed bytes. */
export function decrypt(key: Uint8Array, sealed: Uint8Array, context: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const tagEnd = NONCE_BYTES + TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(NONCE_BYTES, tagEnd));
  const bytes = decipher.update(sealed.subarray(tagEnd));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return bytes;
}

/** One step of HKDF-Expand (RFC 5869) for 32 bytes: the HMAC of a purpose and the number 1. */
const MASTER_KEY_PURPOSE = "keepsake master key, aes-256-gcm, 1\u0001";

/** Wraps keys with a master key that is derived from the secret. */
export function secretKeyWrapper(secret: Secret): KeyWrapper {
  return createKeyWrapper("secret", Buffer.from(secret.sign(MASTER_KEY_PURPOSE), "hex"));
}

/** Wraps keys with the master key in a file: 64 hexadecimal digits, as `openssl rand -hex 32` gives. */
export function fileKeyWrapper(path: string): KeyWrapper {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new MemoryError(
      "forbidden",
      "encryption: the file of the master key cannot be read. Check its path and mode.",
      {
        cause,
      },
    );
  }
  if (!KEY_HEX.test(text)) {
    throw new MemoryError(
      "forbidden",
      "encryption: the file of the master key must contain 64 hexadecimal digits: openssl rand -hex 32.",
    );
  }
  return createKeyWrapper("file", Buffer.from(text, "hex"));
}

function createKeyWrapper(name: string, master: Buffer): KeyWrapper {
  return {
    name,
    wrap: async (key, context) => encrypt(master, key, context),
    unwrap: async (wrapped, context) => decrypt(master, wrapped, context),
  };
}
