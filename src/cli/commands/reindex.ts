import type { Keepsake } from "../../engine/surface.ts";
import { EXIT } from "../exit.ts";
import { formatCount, type Printer } from "../print.ts";
import { createProgressBar } from "../progress.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface ReindexCommandOptions extends CommonOptions {
  readonly follower?: string;
}

/** Embeds, in the foreground, what waits for the embedder; or fills a vector index anew. */
export async function runReindex({ follower, ...options }: ReindexCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) =>
    follower === undefined ? embedPending(keepsake, print) : rebuildIndex(keepsake, print, follower),
  );
}

async function embedPending(keepsake: Keepsake, print: Printer): Promise<number> {
  const bar = createProgressBar(print.json);
  let done = 0;
  try {
    for await (const step of keepsake.reindex()) {
      done = step.done;
      bar.show(done, done + step.left, `${done} of ${formatCount(done + step.left, "text")}`);
    }
  } finally {
    bar.end();
  }
  const { space, left } = await keepsake.embedding();
  print.result({ space, embedded: done, left }, () => [
    `${formatCount(done, "text")} embedded by ${space}${left > 0 ? `, ${left} left` : ""}.`,
  ]);
  return left > 0 ? EXIT.failed : EXIT.done;
}

async function rebuildIndex(keepsake: Keepsake, print: Printer, name: string): Promise<number> {
  const bar = createProgressBar(print.json);
  let last = { users: 0, of: 0, entries: 0 };
  try {
    for await (const step of keepsake.indexes.rebuild(name)) {
      last = step;
      const { users, of, entries } = step;
      bar.show(
        users,
        of,
        `${users} of ${formatCount(of, "user")}, ${formatCount(entries, "entry", "entries")}`,
      );
    }
  } finally {
    bar.end();
  }
  const { users, entries } = last;
  print.result({ index: name, users, entries }, () => [
    `${formatCount(entries, "entry", "entries")} of ${formatCount(users, "user")} in the index "${name}".`,
  ]);
  return EXIT.done;
}
