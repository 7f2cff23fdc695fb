import type { ErasureReceipt, VerifiedPlace } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Ports } from "../ports.ts";
import { isComplete, signReceipt } from "../sign-receipt.ts";
import { callIndexInTurn } from "./call-index.ts";
import { messageIdOf, readEntries } from "./index-entries.ts";
import type { IndexUpdater } from "./index-updater.ts";

/** Some servers show a deletion a moment later. */
const LOOKED_AGAIN_MS = 100;
/** Units per read that keep their id with fewer words. */
const AT_ONCE = 500;

/** The name of an index in erasure receipts. */
function formatIndexPlace({ index }: Pick<IndexUpdater, "index">): string {
  return `index: ${index.name}`;
}

/**
 * Drops erased units from an index and verifies that they are gone, within this many ms. Never throws: the
 * result says if the index could not be asked.
 */
export async function eraseFromIndex(
  ports: Pick<Ports, "store" | "embedder">,
  feeder: IndexUpdater,
  { scope, ids, ms }: { readonly scope: Scope; readonly ids: readonly string[]; readonly ms: number },
): Promise<VerifiedPlace> {
  const place = formatIndexPlace(feeder);
  feeder.exclude(scope, ids);
  try {
    const left = await callIndexInTurn(feeder.index, scope, ms, async (options) => {
      await feeder.prepare(options);
      return dropEntries(ports, feeder, scope, ids, options);
    });
    return { place, found: left };
  } catch {
    // Whatever failed, the text is gone from the store, and the receipt must say so.
    return { place, found: Math.max(1, ids.length), why: "not reached" };
  }
}

/** The same in every index. Before the first feed no index is asked; each is asked when its feed begins. */
export async function eraseFromIndexes(
  { indexSync, followers = [] }: Pick<Ports, "indexSync" | "followers">,
  scope: Scope,
  ids: readonly string[],
): Promise<VerifiedPlace[]> {
  if (ids.length === 0) return [];
  if (indexSync) return indexSync.erase(scope, ids);
  return followers.map((index) => ({
    place: formatIndexPlace({ index }),
    found: ids.length,
    why: "not reached" as const,
  }));
}

/**
 * Drops entries, asks until none is left, and puts back units that keep their id with other words. Puts
 * nothing into an index that is not known to belong to this store; its entries come once that is known.
 */
export async function dropEntries(
  ports: Pick<Ports, "store" | "embedder">,
  { index, isOurs }: Pick<IndexUpdater, "index" | "isOurs">,
  scope: Scope,
  ids: readonly string[],
  options: CallOptions,
): Promise<number> {
  if (ids.length === 0) return 0;
  await index.drop(scope, ids, options);
  let left = await index.held(scope, ids, options);
  for (let tries = 0; left.length > 0 && tries < 20; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, LOOKED_AGAIN_MS));
    options.signal?.throwIfAborted();
    left = await index.held(scope, ids, options);
  }
  for (let at = 0; isOurs() && at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const live = await readEntries(ports, scope, some, index.holdsTexts === true);
    if (live.length > 0) await index.put(scope, live, options);
  }
  return left.length;
}

const RETRY_TIMEOUT_MS = 120_000;

type RetryPorts = Pick<Ports, "store" | "embedder" | "secret" | "meter">;

/**
 * Completes erasures that an index could not be asked about: drops the entries again, verifies, and reseals
 * the receipt. Gives the number completed. Costs one short read if there is none.
 */
export async function finishOpenErasures(
  ports: RetryPorts,
  feeder: IndexUpdater,
  signal: AbortSignal,
): Promise<number> {
  const open = (await ports.store.erasures.summaries()).filter(({ isComplete }) => !isComplete);
  let ended = 0;
  for (const { receipt: id, project, user } of open) {
    signal.throwIfAborted();
    const scope = { project, user };
    const receipt = (await ports.store.erasures.list(scope)).find((one) => one.id === id);
    const place = receipt?.verified.find((one) => one.place === formatIndexPlace(feeder));
    if (!receipt || !place || place.found === 0) continue;
    if (await tryFinishErasure(ports, feeder, scope, receipt, signal)) ended += 1;
  }
  return ended;
}

async function tryFinishErasure(
  ports: RetryPorts,
  feeder: IndexUpdater,
  scope: Scope,
  receipt: ErasureReceipt,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await callIndexInTurn(
    feeder.index,
    scope,
    RETRY_TIMEOUT_MS,
    (options) => dropErasedEntries(ports, feeder, scope, receipt, options),
    signal,
  );
  // Another process, or another index, may have sealed it meanwhile.
  const now = (await ports.store.erasures.list(scope)).find(({ id }) => id === receipt.id);
  if (!now || found > 0) return false;
  const verified = now.verified.map((one) =>
    one.place === formatIndexPlace(feeder) ? { place: one.place, found: 0 } : one,
  );
  await ports.store.erasures.seal(
    scope,
    signReceipt(ports.secret, { ...now, verified, complete: isComplete(verified) }),
  );
  return true;
}

/** Drops what the trace of the erasure names from the index: memories by id, passages by their message. */
async function dropErasedEntries(
  ports: RetryPorts,
  feeder: IndexUpdater,
  scope: Scope,
  { id }: ErasureReceipt,
  options: CallOptions,
): Promise<number> {
  const trace = (await ports.store.erasures.traces(scope)).find(({ receipt }) => receipt === id);
  if (!trace) return 1;
  const memories = new Set(trace.memories);
  const messages = new Set(trace.messages.map((message) => message.id));
  const named: string[] = [];
  for await (const page of feeder.index.entries(scope, options)) {
    for (const entry of page) if (memories.has(entry) || messages.has(messageIdOf(entry))) named.push(entry);
  }
  return dropEntries(ports, feeder, scope, [...new Set([...named, ...memories])], options);
}
