import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../../adapters/memory/index.ts";
import { createMemory } from "../../../../memory.ts";

/**
 * Short conversations: "> " the user says, "< " the assistant says, "-" a week goes by, "? " is asked, with
 * "| +this/or this" what the answer must and "| -this" what it must not say, and "| ~" where it must not know.
 */
const TALKS = readFileSync(new URL("../__fixtures__/changes.txt", import.meta.url), "utf8")
  .split(/^# /m)
  .slice(1)
  .map((block) => {
    const [kind = "", ...lines] = block.trim().split("\n");
    return { kind, lines };
  });

async function faultsOf(lines: readonly string[]): Promise<string[]> {
  let now = new Date("2026-03-02T09:00:00Z");
  await using memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  const user = memory.scope({ user: "own" });
  let session = 1;
  const faults: string[] = [];
  for (const line of lines) {
    const rest = line.slice(1).trim();
    now = new Date(now.getTime() + (line === "-" ? 7 * 86_400_000 : 120_000));
    if (line === "-") session += 1;
    else if (line.startsWith("?")) faults.push(...(await wrongs(rest, (question) => user.answer(question))));
    else {
      const role = line.startsWith("<") ? "assistant" : "user";
      await user.remember({ role, content: rest }, { session: `${session}` });
    }
  }
  return faults;
}

async function wrongs(
  asked: string,
  answer: (question: string) => Promise<{ text: string; abstained: boolean }>,
): Promise<string[]> {
  const [question = "", ...terms] = asked.split("|").map((part) => part.trim());
  const { text, abstained } = await answer(question);
  return terms
    .filter((term) => {
      const words = term.slice(1).split("/");
      if (term === "~") return !abstained;
      return term.startsWith("+")
        ? !words.some((one) => says(text, one))
        : words.some((one) => says(text, one));
    })
    .map((term) => `${question} (${term}): ${text}`);
}

function says(text: string, words: string): boolean {
  const escaped = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "iu").test(text);
}

describe("what changes, is put right, left out or denied is answered as it is now", () => {
  it.each([...Map.groupBy(TALKS, ({ kind }) => kind)])("%s", async (_kind, talks) => {
    const faults: string[] = [];
    for (const { lines } of talks) faults.push(...(await faultsOf(lines)));
    expect(faults).toEqual([]);
  });
});
