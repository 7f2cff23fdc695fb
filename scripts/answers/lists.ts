/**
 * Asks for lists and counts of what was told over several sessions: `node scripts/answers/lists.ts [--show]`. Rules are developed on the
 * groups with odd numbers, and `--show` prints their failures; the others are judged only. An answer is right where it holds what was told
 * of the kind, nothing else that is named, and no doubt.
 */
import { readFileSync } from "node:fs";
import { createMemory } from "../../src/index.ts";
import { holds } from "./labelled-pairs.ts";

/** Things told by session, and questions with the words that an answer must hold ("2|two": either), and must not. */
interface ListGroup {
  readonly id: number;
  readonly told: readonly (readonly string[])[];
  readonly asks: readonly (readonly [string, readonly string[], (readonly string[])?])[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const groups = JSON.parse(readFileSync("scripts/answers/lists.json", "utf8")) as ListGroup[];
const counts = { developed: { right: 0, all: 0 }, judged: { right: 0, all: 0 } };
for (const { id, told, asks } of groups) {
  let day = 0;
  await using memory = await createMemory({
    path: ":memory:",
    clock: () => new Date(Date.UTC(2026, 4, 1 + day, 9)),
  });
  const scope = memory.scope({ user: "ana" });
  for (const session of told) {
    for (const say of session) await scope.remember(say, { session: `s${day}` });
    day += 1;
  }
  const half = id % 2 === 1 ? counts.developed : counts.judged;
  for (const [ask, must, mustNot = []] of asks) {
    const { text, abstained } = await scope.answer(ask);
    const isRight =
      !abstained &&
      must.every((words) => words.split("|").some((word) => holds(text, word))) &&
      !mustNot.some((word) => holds(text, word));
    half.all += 1;
    half.right += Number(isRight);
    if (!isRight && id % 2 === 1 && process.argv.includes("--show")) print(`${id} ${ask} -> ${text}`);
  }
}
for (const [half, { right, all }] of Object.entries(counts))
  print(`${half}: ${right} of ${all} right (${((100 * right) / all).toFixed(1)} %)`);
