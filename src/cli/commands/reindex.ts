import type { Keepsake } from "../../engine/surface.ts";
import { EXIT } from "../exit.ts";
import { type Printer, several } from "../print.ts";
import { progress } from "../progress.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface ReindexOptions extends CommonOptions {
  readonly follower?: string;
}

/** Embeds, in the foreground, what waits for the embedder; or fills a vector index anew. */
export async function reindex({ follower, ...options }: ReindexOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) =>
    follower === undefined ? embedded(keepsake, print) : filled(keepsake, print, follower),
  );
}

async function embedded(keepsake: Keepsake, print: Printer): Promise<number> {
  const bar = progress(print.json);
  let done = 0;
  try {
    for await (const step of keepsake.reindex()) {
      done = step.done;
      bar.show(done, done + step.left, `${done} of ${several(done + step.left, "text")}`);
    }
  } finally {
    bar.end();
  }
  const { space, left } = await keepsake.embedding();
  print.result({ space, embedded: done, left }, () => [
    `${several(done, "text")} embedded by ${space}${left > 0 ? `, ${left} left` : ""}.`,
  ]);
  return left > 0 ? EXIT.failed : EXIT.done;
}

async function filled(keepsake: Keepsake, print: Printer, name: string): Promise<number> {
  const bar = progress(print.json);
  let last = { users: 0, of: 0, entries: 0 };
  try {
    for await (const step of keepsake.indexes.rebuild(name)) {
      last = step;
      const { users, of, entries } = step;
      bar.show(users, of, `${users} of ${several(of, "user")}, ${several(entries, "entry", "entries")}`);
    }
  } finally {
    bar.end();
  }
  const { users, entries } = last;
  print.result({ index: name, users, entries }, () => [
    `${several(entries, "entry", "entries")} of ${several(users, "user")} in the index "${name}".`,
  ]);
  return EXIT.done;
}
