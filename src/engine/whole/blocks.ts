import type { Scope } from "../../domain/scope.ts";
import type { Record } from "../../ports/record.ts";
import type { Whole } from "../../ports/whole.ts";

/**
 * Takes along what is kept for users' searches: a cache, without which the first search of each user takes as long as reading
 * all there is. One that cannot be kept is made anew when it is missed.
 */
export async function copyBlocks(
  from: Record & { readonly whole: Whole },
  to: Pick<Record, "keepBlock">,
  { limit, signal }: { readonly limit: number; readonly signal?: AbortSignal },
): Promise<void> {
  let after: string | undefined;
  do {
    const page = await from.whole.page("users", { limit, ...(after === undefined ? {} : { after }) });
    for (const { project, user } of page.rows) {
      signal?.throwIfAborted();
      const scope: Scope = { project, user };
      const block = await from.block(scope);
      if (block) await to.keepBlock(scope, block);
    }
    after = page.cursor;
  } while (after !== undefined);
}
