import type { VerifiedPlace } from "../../domain/receipt.ts";

/** What is always read again first: without it, nobody looked for the words while they were known. */
export const RECALL_PLACE = "recall";

/** Whether every place was read again, and nothing was found in any. */
export function isComplete(verified: readonly VerifiedPlace[]): boolean {
  return verified.some(({ place }) => place === RECALL_PLACE) && verified.every(({ found }) => found === 0);
}
