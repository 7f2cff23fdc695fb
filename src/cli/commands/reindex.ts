import { EXIT } from "../exit.ts";
import { several } from "../print.ts";
import { progress } from "../progress.ts";
import { type CommonOptions, withMemory } from "../run.ts";

/** Embeds, in the foreground, what waits for the embedder. */
export async function reindex(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const bar = progress(print.json);
    let embedded = 0;
    try {
      for await (const { done, left } of keepsake.reindex()) {
        embedded = done;
        bar.show(done, done + left, `${done} of ${several(done + left, "text")}`);
      }
    } finally {
      bar.end();
    }
    const { space, left } = await keepsake.embedding();
    print.result({ space, embedded, left }, () => [
      `${several(embedded, "text")} embedded by ${space}${left > 0 ? `, ${left} left` : ""}.`,
    ]);
    return left > 0 ? EXIT.failed : EXIT.done;
  });
}
