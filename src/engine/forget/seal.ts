import { createHash } from "node:crypto";
import { iterateCanonicalJson, toCanonicalJson } from "../../domain/canonical.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Trace } from "../../domain/trace.ts";
import type { Secret } from "../../ports/secret.ts";
import { yieldToEventLoop } from "../others-turn.ts";
import { deriveSigningKeys, isSignedBy } from "./keys.ts";

/** A receipt as it is known at the commit, before anything is verified. */
export type UnverifiedReceipt = Omit<ErasureReceipt, "hash" | "key" | "signature" | "verified" | "complete">;

/** The hash that chains an erasure to the user's one before it. It does not cover what is found out afterwards. */
export function hashReceipt(receipt: UnverifiedReceipt): string {
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
