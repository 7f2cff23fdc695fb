import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/record.ts";
import type { StoreDump } from "../../ports/whole.ts";

/**
 * Takes along what is kept for users' searches: a cache, without which the first search of each user takes as long as reading
 * all there is. One that cannot be kept is made anew when it is missed.
 */
export async function copySearchIndexes(
  from: MemoryStore & { readonly dump: StoreDump },
  to: Pick<MemoryStore, "saveSearchIndex">,
  { limit, signal }: { readonly limit: number; readonly signal?: AbortSignal },
): Promise<void> {
  let after: string | undefined;
  do {
    const page = await from.dump.page("users", { limit, ...(after === undefined ? {} : { after }) });
    for (const { project, user } of page.rows) {
      signal?.throwIfAborted();
      const scope: Scope = { project, user };
      const block = await from.searchIndex(scope);
      if (block) await to.saveSearchIndex(scope, block);
    }
    after = page.cursor;
  } while (after !== undefined);
}
