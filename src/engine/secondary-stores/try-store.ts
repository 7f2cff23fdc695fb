import { isMemoryError } from "../../errors.ts";
import type { Meter } from "../../ports/telemetry.ts";

/**
 * The result of a secondary store. If it fails, the failure is counted and the result is undefined: the store
 * has the data anyway.
 */
export async function tryStore<Result>(
  { meter }: { readonly meter?: Meter },
  of: "sessions" | "cache",
  ask: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await ask();
  } catch (error) {
    meter?.count("memory_beside_troubles_total", {
      of,
      code: isMemoryError(error) ? error.code : "failed",
    });
    return undefined;
  }
}
