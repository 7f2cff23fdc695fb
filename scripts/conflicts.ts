// Judges pairs of messages, the second of which changes something that the first said, or does not:
// node scripts/conflicts.ts FILE [odd|even]. The format is described at `readPairs`.
import { readFileSync } from "node:fs";
import { createMemory } from "../src/memory.ts";

/** A pair of messages, and what is answered and current after them. */
export interface Pair {
  readonly id: number;
  readonly name: string;
  readonly lines: readonly string[];
}

/**
 * The pairs of a file. Each begins with "# ID NAME". "+ " is said an hour after the line before. "? QUESTION => WANTED" is asked;
 * "c WANTED" looks at the current memories and "h WANTED" at those that ended, without events. In WANTED, "|" joins what must all be
 * so, ", " alternatives, and "!" says what must not occur.
 */
export function readPairs(file: string | URL): Pair[] {
  const blocks = readFileSync(file, "utf8").split(/^# /m).slice(1);
  return blocks.map((block) => {
    const [name = "", ...lines] = block.trim().split("\n");
    return { id: Number.parseInt(name, 10), name, lines };
  });
}

/** What is wrong after the messages of a pair, one line for each fault. */
export async function findFaults({ name, lines }: Pair): Promise<string[]> {
  let now = new Date("2026-11-02T10:00:00Z");
  await using memory = await createMemory({ path: ":memory:", clock: () => now });
  const user = memory.scope({ user: "own" });
  const faults: string[] = [];
  for (const [k, line] of lines.entries()) {
    const rest = line.slice(2);
    if (line.startsWith("+ ")) {
      now = new Date(now.getTime() + 3_600_000);
      await user.remember(rest, { session: `s${k}` });
      continue;
    }
    const [question = "", wanted = ""] = line.startsWith("? ") ? rest.split(" => ") : ["", rest];
    const texts =
      question === "" ? await listTexts(user, line.startsWith("h")) : [(await user.answer(question)).text];
    const isRight = wanted.split("|").every((part) =>
      isMet(
        part.split(", ").map((word) => word.trim()),
        texts,
      ),
    );
    if (!isRight) faults.push(`${name}: ${line}: ${texts.join(" / ")}`);
  }
  return faults;
}

type Scope = ReturnType<Awaited<ReturnType<typeof createMemory>>["scope"]>;

async function listTexts(user: Scope, isEnded: boolean): Promise<string[]> {
  const { items } = await user.list({ status: "all" });
  return items.flatMap(({ text, status, kind }) =>
    (isEnded ? status !== "current" : status === "current" && kind !== "event") ? [text] : [],
  );
}

/** One of the words occurs in a text; where they begin with "!", none in any. */
function isMet(words: readonly string[], texts: readonly string[]): boolean {
  const occurs = (word: string): boolean => texts.some((text) => toPattern(word.replace("!", "")).test(text));
  return words[0]?.startsWith("!") ? !words.some(occurs) : words.some(occurs);
}

/** "Yes" and "No" open the answer; a number is no part of another. */
function toPattern(word: string): RegExp {
  if (/^(?:yes|no)$/i.test(word)) return new RegExp(`^${word}\\b`, "i");
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return /^\d+$/.test(word) ? new RegExp(`(?<![\\d.,:])${word}(?![\\d.,:]*\\d)`) : new RegExp(escaped, "i");
}

if (import.meta.main) {
  const [file = "", half] = process.argv.slice(2);
  const pairs = readPairs(file).filter(
    ({ id }) => half === undefined || (id % 2 === 0) === (half === "even"),
  );
  let right = 0;
  for (const pair of pairs) if ((await findFaults(pair)).length === 0) right += 1;
  process.stdout.write(`${right} of ${pairs.length} right\n`);
}
