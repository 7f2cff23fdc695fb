import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call.ts";
import { isComplete } from "../forget/complete.ts";
import { sign } from "../forget/seal.ts";
import type { Ports } from "../ports.ts";
import { askedInTurn } from "./call.ts";
import { messageOf } from "./entries.ts";
import { dropped, placeOf } from "./erase.ts";
import type { Feeder } from "./feeder.ts";

const END_MS = 120_000;

type EndingPorts = Pick<Ports, "record" | "embedder" | "secret" | "meter">;

/**
 * Ends the erasures that an index could not be asked about when they were made: drops again what went, asks for it, and seals
 * the receipt anew. Gives how many it ended. Costs one short look where there is none.
 */
export async function endOpenErasures(
  ports: EndingPorts,
  feeder: Feeder,
  signal: AbortSignal,
): Promise<number> {
  const open = (await ports.record.erasureMarks()).filter(({ isComplete }) => !isComplete);
  let ended = 0;
  for (const { receipt: id, project, user } of open) {
    signal.throwIfAborted();
    const scope = { project, user };
    const receipt = (await ports.record.erasures(scope)).find((one) => one.id === id);
    const place = receipt?.verified.find((one) => one.place === placeOf(feeder));
    if (!receipt || !place || place.found === 0) continue;
    if (await isEnded(ports, feeder, scope, receipt, signal)) ended += 1;
  }
  return ended;
}

async function isEnded(
  ports: EndingPorts,
  feeder: Feeder,
  scope: Scope,
  receipt: ErasureReceipt,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await askedInTurn(
    feeder.follower,
    scope,
    END_MS,
    (options) => goneNow(ports, feeder, scope, receipt, options),
    signal,
  );
  // Another process, or another index, may have sealed it meanwhile.
  const now = (await ports.record.erasures(scope)).find(({ id }) => id === receipt.id);
  if (!now || found > 0) return false;
  const verified = now.verified.map((one) =>
    one.place === placeOf(feeder) ? { place: one.place, found: 0 } : one,
  );
  await ports.record.seal(scope, sign(ports.secret, { ...now, verified, complete: isComplete(verified) }));
  return true;
}

/** What the index holds of what the trace of the erasure names: memories by id, passages by their message. */
async function goneNow(
  ports: EndingPorts,
  feeder: Feeder,
  scope: Scope,
  { id }: ErasureReceipt,
  options: CallOptions,
): Promise<number> {
  const trace = (await ports.record.traces(scope)).find(({ receipt }) => receipt === id);
  if (!trace) return 1;
  const memories = new Set(trace.memories);
  const messages = new Set(trace.messages.map((message) => message.id));
  const named: string[] = [];
  for await (const page of feeder.follower.entries(scope, options)) {
    for (const entry of page) if (memories.has(entry) || messages.has(messageOf(entry))) named.push(entry);
  }
  return dropped(ports, feeder, scope, [...new Set([...named, ...memories])], options);
}
