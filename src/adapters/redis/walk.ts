import type { Ask } from "./asking.ts";

/** Keys that one step of a walk looks at. */
const STEP = 500;

/** The keys that match a pattern, a page at a time; one that is there all the while comes at least once. */
export async function* walk(
  ask: Ask,
  pattern: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[], void, void> {
  let cursor = "0";
  do {
    const [next, found] = list(await ask("SCAN", [cursor, "MATCH", pattern, "COUNT", STEP], { signal }));
    cursor = String(next);
    yield list(found).map(String);
  } while (cursor !== "0");
}

/** A prefix as it stands in a pattern. */
export const literal = (prefix: string): string => prefix.replace(/[*?[\]\\^]/g, "\\$&");

export const list = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);
