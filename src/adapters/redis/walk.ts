import type { SendRedisCommand } from "./asking.ts";

/** Keys that one step of a walk looks at. */
const SCAN_STEP = 500;

/** The keys that match a pattern, a page at a time; one that is there all the while comes at least once. */
export async function* scanKeys(
  ask: SendRedisCommand,
  pattern: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[], void, void> {
  let cursor = "0";
  do {
    const [next, found] = toList(
      await ask("SCAN", [cursor, "MATCH", pattern, "COUNT", SCAN_STEP], { signal }),
    );
    cursor = String(next);
    yield toList(found).map(String);
  } while (cursor !== "0");
}

/** A prefix as it stands in a pattern. */
export const escapePattern = (prefix: string): string => prefix.replace(/[*?[\]\\^]/g, "\\$&");

export const toList = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);
