import type { ReceiptLine } from "../domain/receipt.ts";
import type { Meter } from "../ports/meter.ts";

/** Why a proposal is refused that names words which nobody said there. */
export const QUOTE_NOT_FOUND = "the quote is not in the message";

/** Counts what became of memories, and of what was proposed for them. */
export function countMemoryChanges(
  meter: Meter,
  lines: readonly Pick<ReceiptLine, "action" | "why">[],
): void {
  for (const { action, why } of lines) {
    meter.count("memory_changes_total", { action });
    if (why === QUOTE_NOT_FOUND) meter.count("memory_quotes_refused_total");
  }
}
