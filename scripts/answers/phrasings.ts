/**
 * Asks the questions of the set `phrasings`: `node scripts/answers/phrasings.ts FILE [--show]`. Prints how many lists and known things are
 * right, and how many unknown things are answered surely.
 */
import { createMemory } from "../../src/index.ts";
import { holds, readPhrasings } from "./labelled-pairs.ts";

const [file, ...options] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: phrasings.ts FILE [--show]");
const print = (line: string): void => void process.stdout.write(`${line}\n`);

for (const { id, steps } of readPhrasings(file)) {
  await using memory = await createMemory({ path: ":memory:" });
  const scope = memory.scope({ user: "ana" });
  const counts = { right: 0, known: 0, unknown: 0, falsely: 0 };
  for (const { say, ask, must = [], abstain = false } of steps) {
    if (say !== undefined) await scope.remember(say);
    if (ask === undefined) continue;
    const { text, abstained } = await scope.answer(ask);
    const isRight = abstain ? abstained : must.every((group) => group.some((word) => holds(text, word)));
    if (abstain) {
      counts.unknown += 1;
      counts.falsely += Number(!abstained);
    } else {
      counts.known += 1;
      counts.right += Number(isRight);
    }
    if (!isRight && options.includes("--show")) print(`${ask} -> ${text}`);
  }
  print(
    `${id}: right ${counts.right} of ${counts.known}; unknown answered falsely ${counts.falsely} of ${counts.unknown}`,
  );
}
