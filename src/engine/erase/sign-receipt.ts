import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { ErasureReceipt, Trace, VerifiedPlace } from "../../domain/receipt.ts";
import { iterateCanonicalJson, toCanonicalJson } from "../../domain/text/canonical-json.ts";
import type { Secret } from "../../ports/system.ts";
import { yieldToEventLoop } from "../time-slicing.ts";

/** A receipt as it is known at the commit, before anything is verified. */
type UnverifiedReceipt = Omit<ErasureReceipt, "hash" | "key" | "signature" | "verified" | "complete">;

/** The hash that chains an erasure to the user's one before it. It does not cover what is found out afterwards. */
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
    ...known
  } = receipt as ErasureReceipt;
  return hashCanonical(known);
}

/** The hash by which a receipt names its trace; in slices, for a trace names all that went. */
export async function hashTrace(trace: Trace): Promise<string> {
  const hash = createHash("sha256");
  for (const piece of iterateCanonicalJson(trace)) {
    hash.update(piece);
    await yieldToEventLoop();
  }
  return hash.digest("hex");
}

/** A receipt that was not verified yet, signed as such. */
export function createUnverifiedReceipt(
  secret: Secret,
  bare: Omit<UnverifiedReceipt, "version">,
): ErasureReceipt {
  const known = { ...bare, version: 2 as const, key: deriveSigningKeys(secret).publicKey };
  return signReceipt(secret, { ...known, hash: hashReceipt(known), verified: [], complete: false });
}

/** The receipt with a signature of what it says now; one of before is signed as it was then. */
export function signReceipt(
  secret: Secret,
  receipt: Omit<ErasureReceipt, "signature"> & { signature?: string },
): ErasureReceipt {
  const { signature: _before, ...said } = receipt;
  return { ...said, signature: said.version === 2 ? signContent(secret, said) : computeMac(secret, said) };
}

function signContent(secret: Secret, said: Omit<ErasureReceipt, "signature">): string {
  return deriveSigningKeys(secret).sign(toCanonicalJson(said));
}

function computeMac(secret: Secret, { hash, verified, complete }: Omit<ErasureReceipt, "signature">): string {
  return secret.sign(toCanonicalJson(["receipt", hash, verified, complete]));
}

/** What is wrong with the receipts of one user, in their order: a broken chain, a false hash, a false signature. */
export function findBrokenReceipts(
  secret: Secret,
  receipts: readonly ErasureReceipt[],
): { id: string; problem: string }[] {
  const broken: { id: string; problem: string }[] = [];
  let previous = "";
  for (const receipt of receipts) {
    if (receipt.previous !== previous)
      broken.push({ id: receipt.id, problem: "it does not follow the receipt before it" });
    if (receipt.hash !== hashReceipt(receipt))
      broken.push({ id: receipt.id, problem: "its hash is not that of its content" });
    if (!hasValidSignature(secret, receipt)) {
      broken.push({ id: receipt.id, problem: "its signature is not from this secret" });
    }
    if (!receipt.complete) broken.push({ id: receipt.id, problem: "it was not verified to the end" });
    previous = receipt.hash;
  }
  return broken;
}

function hasValidSignature(secret: Secret, { signature, ...said }: ErasureReceipt): boolean {
  if (said.version !== 2) return signature === computeMac(secret, said);
  const { publicKey } = deriveSigningKeys(secret);
  return said.key === publicKey && isSignedBy(publicKey, toCanonicalJson(said), signature);
}

function hashCanonical(value: unknown): string {
  return createHash("sha256").update(toCanonicalJson(value)).digest("hex");
}

/** What receipts are signed with, and what anybody checks them with. */
interface SigningKeys {
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
    // What is no key has signed nothing.
    return undefined;
  }
}

/** What is always read again first: without it, nobody looked for the words while they were known. */
export const RECALL_PLACE = "recall";

/** Whether every place was read again, and nothing was found in any. */
export function isComplete(verified: readonly VerifiedPlace[]): boolean {
  return verified.some(({ place }) => place === RECALL_PLACE) && verified.every(({ found }) => found === 0);
}
