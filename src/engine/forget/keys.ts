import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { Secret } from "../../ports/secret.ts";

/** What receipts are signed with, and what anybody checks them with. */
export interface SigningKeys {
  /** 32 bytes, base64url: the `x` of a JSON Web Key. */
  readonly publicKey: string;
  /** "ed25519:" and the signature of the text, base64url. */
  sign(text: string): string;
}

const KEYS_BY_SECRET = new WeakMap<Secret, SigningKeys>();
/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
/** The one step of HKDF-Expand (RFC 5869) for 32 bytes: the secret's HMAC of a purpose and the number 1. */
const KEY_PURPOSE = "keepsake receipts, ed25519, 1\u0001";

/** The keys that a secret stands for: always the same ones, and nothing in them leads back to it. */
export function deriveSigningKeys(secret: Secret): SigningKeys {
  const made = KEYS_BY_SECRET.get(secret);
  if (made) return made;
  const seed = Buffer.from(secret.sign(KEY_PURPOSE), "hex");
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const keys: SigningKeys = {
    publicKey: String(createPublicKey(key).export({ format: "jwk" }).x),
    sign: (text) => `ed25519:${sign(null, Buffer.from(text), key).toString("base64url")}`,
  };
  KEYS_BY_SECRET.set(secret, keys);
  return keys;
}

/** Whether a signature of `SigningKeys.sign` is that of the text by the holder of the public key. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  if (!signature.startsWith("ed25519:")) return false;
  const key = parsePublicKey(publicKey);
  return (
    key !== undefined && verify(null, Buffer.from(text), key, Buffer.from(signature.slice(8), "base64url"))
  );
}

function parsePublicKey(publicKey: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
  } catch {
    // What is no key has signed nothing.
    return undefined;
  }
}
