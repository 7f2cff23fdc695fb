import { createHash } from "node:crypto";
import { canonical, canonicalPieces } from "../../domain/canonical.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Trace } from "../../domain/trace.ts";
import type { Secret } from "../../ports/secret.ts";
import { othersTurn } from "../others-turn.ts";
import { isSignedBy, signingKeys } from "./keys.ts";

/** A receipt as it is known at the commit, before anything is verified. */
export type BareReceipt = Omit<ErasureReceipt, "hash" | "key" | "signature" | "verified" | "complete">;

/** The hash that chains an erasure to the user's one before it. It does not cover what is found out afterwards. */
export function receiptHash(receipt: BareReceipt): string {
  if (receipt.version !== 2) {
    const { id, at, project, user, revision, erased, ids, previous } = receipt;
    return sha256([id, at, project, user, revision, erased, ids, previous]);
  }
  const {
    hash: _hash,
    signature: _signature,
    verified: _verified,
    complete: _complete,
    ...known
  } = receipt as ErasureReceipt;
  return sha256(known);
}

/** The hash by which a receipt names its trace; in slices, for a trace names all that went. */
export async function traceHash(trace: Trace): Promise<string> {
  const hash = createHash("sha256");
  for (const piece of canonicalPieces(trace)) {
    hash.update(piece);
    await othersTurn();
  }
  return hash.digest("hex");
}

/** A receipt that was not verified yet, signed as such. */
export function firstReceipt(secret: Secret, bare: Omit<BareReceipt, "version">): ErasureReceipt {
  const known = { ...bare, version: 2 as const, key: signingKeys(secret).publicKey };
  return sign(secret, { ...known, hash: receiptHash(known), verified: [], complete: false });
}

/** The receipt with a signature of what it says now; one of before is signed as it was then. */
export function sign(
  secret: Secret,
  receipt: Omit<ErasureReceipt, "signature"> & { signature?: string },
): ErasureReceipt {
  const { signature: _before, ...said } = receipt;
  return { ...said, signature: said.version === 2 ? sealOf(secret, said) : macOf(secret, said) };
}

function sealOf(secret: Secret, said: Omit<ErasureReceipt, "signature">): string {
  return signingKeys(secret).sign(canonical(said));
}

function macOf(secret: Secret, { hash, verified, complete }: Omit<ErasureReceipt, "signature">): string {
  return secret.sign(canonical(["receipt", hash, verified, complete]));
}

/** What is wrong with the receipts of one user, in their order: a broken chain, a false hash, a false signature. */
export function brokenReceipts(
  secret: Secret,
  receipts: readonly ErasureReceipt[],
): { id: string; problem: string }[] {
  const broken: { id: string; problem: string }[] = [];
  let previous = "";
  for (const receipt of receipts) {
    if (receipt.previous !== previous)
      broken.push({ id: receipt.id, problem: "it does not follow the receipt before it" });
    if (receipt.hash !== receiptHash(receipt))
      broken.push({ id: receipt.id, problem: "its hash is not that of its content" });
    if (!isSigned(secret, receipt)) {
      broken.push({ id: receipt.id, problem: "its signature is not from this secret" });
    }
    if (!receipt.complete) broken.push({ id: receipt.id, problem: "it was not verified to the end" });
    previous = receipt.hash;
  }
  return broken;
}

function isSigned(secret: Secret, { signature, ...said }: ErasureReceipt): boolean {
  if (said.version !== 2) return signature === macOf(secret, said);
  const { publicKey } = signingKeys(secret);
  return said.key === publicKey && isSignedBy(publicKey, canonical(said), signature);
}

function sha256(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex");
}
