import type { Memory } from "./memory.ts";

/**
 * A request to forget that is to be carried out later is stored as a commitment with this relation. It is a memory like
 * others: it is listed, it can be removed, and it goes with its source.
 */
export const DELAYED_ERASURE = "ask to erase";

/** Whether a memory is a request to forget that waits for its time. */
export function isDelayedErasure({ claim }: Pick<Memory, "claim">): boolean {
  return claim?.relation === DELAYED_ERASURE;
}
