import { invalid } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { type CommonOptions, withMemory } from "../run.ts";
import { formatWriteReceipt } from "./remember.ts";

export async function runUndo(revision: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    if (!/^\d{1,15}$/.test(revision))
      throw invalid("REVISION must be a whole number; `keepsake history` shows them.");
    const receipt = await memory.undo(Number(revision));
    print.result(receipt, () => [
      `Revision ${revision} is taken back, by revision ${receipt.revision}.`,
      ...(receipt.memories.length > 0 ? formatWriteReceipt(receipt) : []),
    ]);
    return EXIT.done;
  });
}
