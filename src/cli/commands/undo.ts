import { MemoryError } from "../../errors.ts";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";
import { receiptLines } from "./remember.ts";

export async function undo(revision: string, options: CommonOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    if (!/^\d+$/.test(revision))
      throw new MemoryError("invalid_input", "REVISION must be a whole number; `history` shows them.");
    const receipt = await memory.undo(Number(revision));
    print.result(receipt, () => [
      `Revision ${revision} is taken back, by revision ${receipt.revision}.`,
      ...(receipt.memories.length > 0 ? receiptLines(receipt) : []),
    ]);
    return EXIT.done;
  });
}
