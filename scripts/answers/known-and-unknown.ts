/**
 * Asks what was told and what was not: `node scripts/answers/known-and-unknown.ts [--show]`. Conversations with odd numbers are fitted on, and
 * `--show` prints their failures; the others are judged only.
 */
import { createMemory } from "../../src/index.ts";
import { holds, readKnownAndUnknown } from "./labelled-pairs.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

for (const half of ["odd", "even"] as const) {
  const counts = { known: 0, sure: 0, hedged: 0, wrong: 0, unknown: 0, falsely: 0, quoting: 0 };
  for (const { id, steps } of readKnownAndUnknown(half)) {
    await using memory = await createMemory({ path: ":memory:" });
    const scope = memory.scope({ user: "ana" });
    for (const { say, ask, must, abstain = false } of steps) {
      if (say !== undefined) await scope.remember(say);
      if (ask === undefined) continue;
      const { text, abstained, used } = await scope.answer(ask);
      const isRight = must?.every((words) => words.some((word) => holds(text, word))) ?? abstained;
      if (abstain) {
        counts.unknown += 1;
        counts.falsely += Number(!abstained);
        counts.quoting += Number(abstained && used.length > 0);
      } else {
        counts.known += 1;
        counts.sure += Number(isRight && !abstained);
        counts.hedged += Number(isRight && abstained);
        counts.wrong += Number(!isRight && !abstained);
      }
      if (!isRight && half === "odd" && process.argv.includes("--show")) print(`${id} ${ask} -> ${text}`);
    }
  }
  const { known, sure, hedged, wrong, unknown, falsely, quoting } = counts;
  print(
    `${half}: known ${known}: sure and right ${sure}, hedged and right ${hedged}, sure and wrong ${wrong}; unknown ${unknown}: answered falsely ${falsely}, quoting something ${quoting}`,
  );
}
