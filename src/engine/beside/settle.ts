import type { ErasureReceipt, VerifiedPlace } from "../../domain/receipt.ts";
import { isComplete } from "../forget/complete.ts";
import { signReceipt } from "../forget/seal.ts";
import type { Ports } from "../ports.ts";
import { eraseFromStores } from "./erase.ts";
import { formatStorePlace } from "./place.ts";

/**
 * Ends erasures that did not reach the sessions or the cache when they were made: everything of the user is taken out of them,
 * and the receipt is sealed with what was found now. Gives how many are left.
 */
export async function retryErasures(ports: Ports): Promise<number> {
  const { record, sessions, cache } = ports;
  const places = new Set([
    ...(sessions ? [formatStorePlace("sessions", sessions)] : []),
    ...(cache ? [formatStorePlace("cache", cache)] : []),
  ]);
  if (places.size === 0) return 0;
  let left = 0;
  for (const { receipt: id, project, user } of await findOpenErasures(record)) {
    const scope = { project, user };
    const receipt = (await record.erasures(scope)).find((one) => one.id === id);
    if (!receipt?.verified.some(({ place, found }) => places.has(place) && found > 0)) continue;
    const now = await eraseFromStores(ports, scope, { messages: "everything", revision: receipt.revision });
    await record.seal(scope, signReceipt(ports.secret, updateReceipt(receipt, now)));
    if (now.some(({ found }) => found > 0)) left += 1;
  }
  return left;
}

async function findOpenErasures(
  record: Ports["record"],
): Promise<{ receipt: string; project: string; user: string }[]> {
  return (await record.erasureSummaries()).filter(({ isComplete, isVerified }) => isVerified && !isComplete);
}

/** The receipt with places as they are now; the time by which one is empty by itself is that of the erasure. */
function updateReceipt(receipt: ErasureReceipt, now: readonly VerifiedPlace[]): ErasureReceipt {
  const verified = receipt.verified.map((one) => {
    const found = now.find(({ place }) => place === one.place);
    if (!found) return one;
    return found.found > 0 && one.until !== undefined ? { ...found, until: one.until } : found;
  });
  return { ...receipt, verified, complete: isComplete(verified) };
}
