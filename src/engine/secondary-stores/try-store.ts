import { isMemoryError } from "../../errors.ts";
import type { Ports } from "../ports.ts";

/** What a place beside the record gives; nothing where it fails: it is counted, and the record has it all the same. */
export async function tryStore<Result>(
  { meter }: Pick<Ports, "meter">,
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
