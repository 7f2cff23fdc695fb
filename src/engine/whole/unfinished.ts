import { MemoryError } from "../../errors.ts";
import type { Record } from "../../ports/record.ts";

/** `unavailable` where a move into this record has begun and not ended: what is there is not all of it. */
export async function refuseHalfMoved({ whole }: Pick<Record, "whole">): Promise<void> {
  const filling = await whole?.filling();
  if (!filling) return;
  const share = filling.of === 0 ? 100 : Math.min(100, Math.floor((100 * filling.done) / filling.of));
  throw new MemoryError(
    "unavailable",
    `a move into this database has not ended (${share} % is there). Run the same \`keepsake move\` again: it goes on.`,
  );
}
