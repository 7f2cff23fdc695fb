import { MemoryError } from "../../errors.ts";
import type { MemoryStore } from "../../ports/record.ts";

/** `unavailable` where a move into this record has begun and not ended: what is there is not all of it. */
export async function refuseUnfinishedCopy({ dump: whole }: Pick<MemoryStore, "dump">): Promise<void> {
  const filling = await whole?.copyProgress();
  if (!filling) return;
  const share = filling.of === 0 ? 100 : Math.min(100, Math.floor((100 * filling.done) / filling.of));
  throw new MemoryError(
    "unavailable",
    `a move into this database has not ended (${share} % is there). Run the same \`keepsake move\` again: it goes on.`,
  );
}
