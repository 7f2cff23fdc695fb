import type { ErasureReceipt, VerifiedPlace } from "../../domain/receipt.ts";
import type { Ports } from "../ports.ts";
import type { PendingErasures } from "../services.ts";
import { isComplete, signReceipt } from "../sign-receipt.ts";
import { eraseFromStores, formatStorePlace } from "./erase-from-stores.ts";

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** Retries what an erasure could not reach: the sessions, the cache and the files. `retryFiles` gives the number of erasures that it left open. */
export function createPendingErasures(
  ports: Ports,
  retryFiles: (ports: Ports) => Promise<number>,
): PendingErasures {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;
  let pauseMs = FIRST_RETRY_MS;
  const plan = (): void => {
    if (isClosed || timer || running) return;
    timer = setTimeout(run, pauseMs).unref();
    pauseMs = Math.min(LONGEST_RETRY_MS, pauseMs * 2);
  };
  const run = (): void => {
    timer = undefined;
    running = Promise.all([retryErasures(ports), retryFiles(ports)])
      .then(([stores, files]) => stores + files)
      // If the store cannot be read, assume that some are left.
      .catch(() => 1)
      .then((left) => {
        running = undefined;
        if (left > 0) plan();
        else pauseMs = FIRST_RETRY_MS;
      });
  };
  return {
    scheduleRetry: plan,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/**
 * Completes erasures that could not reach the sessions or the cache. Removes everything of the user from them
 * and seals the receipt with the current findings. Gives the number left.
 */
async function retryErasures(ports: Ports): Promise<number> {
  const { store, sessions, cache } = ports;
  const places = new Set([
    ...(sessions ? [formatStorePlace("sessions", sessions)] : []),
    ...(cache ? [formatStorePlace("cache", cache)] : []),
  ]);
  if (places.size === 0) return 0;
  let left = 0;
  for (const { receipt: id, project, user } of await findOpenErasures(store)) {
    const scope = { project, user };
    const receipt = (await store.erasures.list(scope)).find((one) => one.id === id);
    if (!receipt?.verified.some(({ place, found }) => places.has(place) && found > 0)) continue;
    const now = await eraseFromStores(ports, scope, { messages: "everything", revision: receipt.revision });
    await store.erasures.seal(scope, signReceipt(ports.secret, updateReceipt(receipt, now)));
    if (now.some(({ found }) => found > 0)) left += 1;
  }
  return left;
}

async function findOpenErasures(
  store: Ports["store"],
): Promise<{ receipt: string; project: string; user: string }[]> {
  return (await store.erasures.summaries()).filter(({ isComplete, isVerified }) => isVerified && !isComplete);
}

/**
 * The receipt with the current findings. The time by which a store is empty by itself is that of the erasure.
 */
function updateReceipt(receipt: ErasureReceipt, now: readonly VerifiedPlace[]): ErasureReceipt {
  const verified = receipt.verified.map((one) => {
    const found = now.find(({ place }) => place === one.place);
    if (!found) return one;
    return found.found > 0 && one.until !== undefined ? { ...found, until: one.until } : found;
  });
  return { ...receipt, verified, complete: isComplete(verified) };
}
