import { EXIT } from "../exit.ts";
import { formatSize } from "../printer.ts";
import { type CommonOptions, withMemory } from "../with-memory.ts";

/** Gives the space of deleted rows back. */
export async function runVacuum(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const size = await keepsake.vacuum();
    const freed = Math.max(0, size.before - size.after);
    print.result({ ...size, freed }, () => [
      `${formatSize(size.before)} before, ${formatSize(size.after)} after: ${formatSize(freed)} freed.`,
    ]);
    return EXIT.done;
  });
}
