/**
 * Asks the questions of stories with a built package: `node scripts/answers/ask-stories.ts PROJECT FILE`. Prints, for the stories with odd
 * numbers and with even ones, how many questions are answered rightly and how many stories wholly.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { holds, type Story } from "./labelled-pairs.ts";

type Library = typeof import("../../src/index.ts");

const [project, file] = process.argv.slice(2);
if (project === undefined || file === undefined) throw new Error("usage: ask-stories.ts PROJECT FILE");
const { createMemory } = (await import(pathToFileURL(join(project, "dist/index.js")).href)) as Library;

const halves = [0, 1].map(() => ({ asks: 0, right: 0, stories: 0, whole: 0 }));
for (const { id, user = "ana", steps } of JSON.parse(readFileSync(file, "utf8")) as Story[]) {
  const half = halves[(Number(/(\d+)$/.exec(id)?.[1] ?? 0) + 1) % 2];
  if (!half) continue;
  let now = new Date("2026-11-01T12:00:00Z");
  await using memory = await createMemory({ path: ":memory:", clock: () => now });
  let wrong = 0;
  for (const step of steps) {
    if (step.at !== undefined) now = new Date(step.at);
    const scope = memory.scope({ user: step.user ?? user });
    const at = now.toISOString();
    if (step.say !== undefined)
      await scope.remember(
        [{ role: step.role ?? "user", content: step.say, at, ...(step.name ? { name: step.name } : {}) }],
        step.session ? { session: step.session } : {},
      );
    if (step.forget !== undefined) await scope.forget(step.forget);
    if (step.ask === undefined) continue;
    const { text, abstained } = await scope.answer(step.ask, step.as_of ? { asOf: step.as_of } : {});
    const isRight =
      (step.must ?? []).every((words) => words.some((word) => holds(text, word))) &&
      !(step.must_not ?? []).some((word) => holds(text, word)) &&
      (step.abstain !== true || abstained);
    half.asks += 1;
    half.right += Number(isRight);
    wrong += Number(!isRight);
  }
  half.stories += 1;
  half.whole += Number(wrong === 0);
}
process.stdout.write(halves.map(({ right, whole }) => `${right}, ${whole}`).join(" | "));
