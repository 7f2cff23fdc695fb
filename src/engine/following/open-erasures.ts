import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call.ts";
import { isComplete } from "../forget/complete.ts";
import { signReceipt } from "../forget/seal.ts";
import type { Ports } from "../ports.ts";
import { callIndexInTurn } from "./call.ts";
import { messageIdOf } from "./entries.ts";
import { dropEntries, formatIndexPlace } from "./erase.ts";
import type { IndexUpdater } from "./feeder.ts";

const RETRY_TIMEOUT_MS = 120_000;

type RetryPorts = Pick<Ports, "record" | "embedder" | "secret" | "meter">;

/**
 * Ends the erasures that an index could not be asked about when they were made: drops again what went, asks for it, and seals
 * the receipt anew. Gives how many it ended. Costs one short look where there is none.
 */
export async function finishOpenErasures(
  ports: RetryPorts,
  feeder: IndexUpdater,
  signal: AbortSignal,
): Promise<number> {
  const open = (await ports.record.erasureSummaries()).filter(({ isComplete }) => !isComplete);
  let ended = 0;
  for (const { receipt: id, project, user } of open) {
    signal.throwIfAborted();
    const scope = { project, user };
    const receipt = (await ports.record.erasures(scope)).find((one) => one.id === id);
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
  const now = (await ports.record.erasures(scope)).find(({ id }) => id === receipt.id);
  if (!now || found > 0) return false;
  const verified = now.verified.map((one) =>
    one.place === formatIndexPlace(feeder) ? { place: one.place, found: 0 } : one,
  );
  await ports.record.seal(
    scope,
    signReceipt(ports.secret, { ...now, verified, complete: isComplete(verified) }),
  );
  return true;
}

/** What the index holds of what the trace of the erasure names: memories by id, passages by their message. */
async function dropErasedEntries(
  ports: RetryPorts,
  feeder: IndexUpdater,
  scope: Scope,
  { id }: ErasureReceipt,
  options: CallOptions,
): Promise<number> {
  const trace = (await ports.record.traces(scope)).find(({ receipt }) => receipt === id);
  if (!trace) return 1;
  const memories = new Set(trace.memories);
  const messages = new Set(trace.messages.map((message) => message.id));
  const named: string[] = [];
  for await (const page of feeder.index.entries(scope, options)) {
    for (const entry of page) if (memories.has(entry) || messages.has(messageIdOf(entry))) named.push(entry);
  }
  return dropEntries(ports, feeder, scope, [...new Set([...named, ...memories])], options);
}
