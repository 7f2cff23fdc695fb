import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { ErasureReceipt, Trace, VerifiedPlace } from "../domain/receipt.ts";
import { iterateCanonicalJson, toCanonicalJson } from "../domain/text/canonical-json.ts";
import { yieldToEventLoop } from "../domain/time-slicing.ts";
import type { Secret } from "../ports/system.ts";

/** A receipt as known at the commit, before verification. */
type UnverifiedReceipt = Omit<ErasureReceipt, "hash" | "key" | "signature" | "verified" | "complete">;

/** The hash that chains an erasure to the user's previous one. It does not cover the later findings. */
function hashReceipt(receipt: UnverifiedReceipt): string {
  if (receipt.version !== 2) {
    const { id, at, project, user, revision, erased, ids, previous } = receipt;
    return hashCanonical([id, at, project, user, revision, erased, ids, previous]);
  }
  const {
    hash: _hash,
    signature: _signature,
    verified: _verified,
    complete: _complete,
    unsure: _unsure,
    ...known
  } = receipt as ErasureReceipt;
  return hashCanonical(known);
}

/**
 * The hash by which a receipt names its trace. Computed in slices, because a trace lists everything erased.
 */
export async function hashTrace(trace: Trace): Promise<string> {
  const hash = createHash("sha256");
  for (const piece of iterateCanonicalJson(trace)) {
    hash.update(piece);
    await yieldToEventLoop();
  }
  return hash.digest("hex");
}

/** A receipt that is not verified yet, signed as such. */
export function createUnverifiedReceipt(
  secret: Secret,
  bare: Omit<UnverifiedReceipt, "version">,
): ErasureReceipt {
  const known = { ...bare, version: 2 as const, key: deriveSigningKeys(secret).publicKey };
  return signReceipt(secret, { ...known, hash: hashReceipt(known), verified: [], complete: false });
}

/**
 * The receipt with a signature of its current content; an older receipt is signed in the format of its time.
 */
export function signReceipt(
  secret: Secret,
  receipt: Omit<ErasureReceipt, "signature"> & { signature?: string },
): ErasureReceipt {
  const { signature: _before, ...said } = receipt;
  return { ...said, signature: said.version === 2 ? signContent(secret, said) : computeMac(secret, said) };
}

function signContent(secret: Secret, receipt: Omit<ErasureReceipt, "signature">): string {
  return deriveSigningKeys(secret).sign(toCanonicalJson(receipt));
}

function computeMac(secret: Secret, { hash, verified, complete }: Omit<ErasureReceipt, "signature">): string {
  return secret.sign(toCanonicalJson(["receipt", hash, verified, complete]));
}

/** Faults in the receipts of one user, in order: a broken chain, a wrong hash, a wrong signature. */
export function findBrokenReceipts(
  secret: Secret,
  receipts: readonly ErasureReceipt[],
): { id: string; problem: string }[] {
  const broken: { id: string; problem: string }[] = [];
  let previous = "";
  for (const receipt of receipts) {
    if (receipt.previous !== previous)
      broken.push({ id: receipt.id, problem: "it does not follow the previous receipt" });
    if (receipt.hash !== hashReceipt(receipt))
      broken.push({ id: receipt.id, problem: "its hash does not match its content" });
    if (!hasValidSignature(secret, receipt)) {
      broken.push({ id: receipt.id, problem: "its signature is not from this secret" });
    }
    if (!receipt.complete) broken.push({ id: receipt.id, problem: "it was not verified to the end" });
    previous = receipt.hash;
  }
  return broken;
}

function hasValidSignature(secret: Secret, { signature, unsure: _unsure, ...said }: ErasureReceipt): boolean {
  if (said.version !== 2) return signature === computeMac(secret, said);
  const { publicKey } = deriveSigningKeys(secret);
  return said.key === publicKey && isSignedBy(publicKey, toCanonicalJson(said), signature);
}

function hashCanonical(value: unknown): string {
  return createHash("sha256").update(toCanonicalJson(value)).digest("hex");
}

/** The key pair that signs and verifies receipts. */
interface SigningKeys {
  /** 32 bytes, base64url: the `x` of a JSON Web Key. */
  readonly publicKey: string;
  /** "ed25519:" and the signature of the text, base64url. */
  sign(text: string): string;
}

const KEYS_BY_SECRET = new WeakMap<Secret, SigningKeys>();
/** The prefix of the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
/**
 * The single step of HKDF-Expand (RFC 5869) for 32 bytes: the secret's HMAC of a purpose and the number 1.
 */
const KEY_PURPOSE = "keepsake receipts, ed25519, 1\u0001";

/** Derives the keys from a secret: always the same ones, and the secret cannot be derived from them. */
export function deriveSigningKeys(secret: Secret): SigningKeys {
  const cached = KEYS_BY_SECRET.get(secret);
  if (cached) return cached;
  const seed = Buffer.from(secret.sign(KEY_PURPOSE), "hex");
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const keys: SigningKeys = {
    publicKey: String(createPublicKey(key).export({ format: "jwk" }).x),
    sign: (text) => `ed25519:${sign(null, Buffer.from(text), key).toString("base64url")}`,
  };
  KEYS_BY_SECRET.set(secret, keys);
  return keys;
}

/** Whether the holder of the public key signed the text with `SigningKeys.sign`. */
function isSignedBy(publicKey: string, text: string, signature: string): boolean {
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
    // An invalid key has signed nothing.
    return undefined;
  }
}

/** Always verified first: without it, the scan did not run while the words were known. */
export const RECALL_PLACE = "recall";

/** Whether every place was verified, and nothing was found. */
export function isComplete(verified: readonly VerifiedPlace[]): boolean {
  return verified.some(({ place }) => place === RECALL_PLACE) && verified.every(({ found }) => found === 0);
}
