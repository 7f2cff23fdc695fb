import { createHash } from "node:crypto";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Secret } from "../../ports/secret.ts";

/** The hash that chains an erasure to the user's one before it. It does not cover what is found out afterwards. */
export function receiptHash(
  receipt: Omit<ErasureReceipt, "hash" | "signature" | "verified" | "complete">,
): string {
  const { id, at, project, user, revision, erased, ids, previous } = receipt;
  return createHash("sha256")
    .update(canonical([id, at, project, user, revision, erased, ids, previous]))
    .digest("hex");
}

export function sign(secret: Secret, receipt: Omit<ErasureReceipt, "signature">): ErasureReceipt {
  return { ...receipt, signature: signatureOf(secret, receipt) };
}

function signatureOf(
  secret: Secret,
  { hash, verified, complete }: Omit<ErasureReceipt, "signature">,
): string {
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
    if (receipt.signature !== signatureOf(secret, receipt)) {
      broken.push({ id: receipt.id, problem: "its signature is not from this secret" });
    }
    if (!receipt.complete) broken.push({ id: receipt.id, problem: "it was not verified to the end" });
    previous = receipt.hash;
  }
  return broken;
}

/** JSON with the fields of objects in alphabetical order, so that the same receipt gives the same bytes everywhere. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
