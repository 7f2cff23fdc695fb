import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { createMemory } from "../../src/memory.ts";
import { itemsAnswer, type ScriptedModel, scriptedModel } from "../../src/testing/test-doubles.ts";

/**
 * The one that is killed while a model reads. `understand-child.ts PATH COUNT STEPS`: stores so many messages and says
 * "stored N" after each, while the model reads what waits; says "done" when nothing does any more. After so many steps (messages
 * stored, and answers of the model before and after they are given) it kills itself, as hard as anybody could.
 */

/** What no rule reads. */
export const said = (number: number): string => `Parrot no. ${number} answers to Zed${number}, mostly.`;
export const understood = (number: number): string =>
  `The user's parrot no. ${number} is called Zed${number}.`;

/** Knows the parrots of all turns that it is shown. */
export function parrotModel(step: () => void = () => {}): ScriptedModel {
  return scriptedModel(async ({ turns }) => {
    step();
    await pause(2);
    // Some moments after the answer: it is decided, or being committed.
    setTimeout(step, turns.length % 3);
    const shown = turns.at(-1)?.content ?? "";
    return itemsAnswer(
      ...Array.from(shown.matchAll(/^(\d+) \[.*Parrot no\. (\d+) answers/gm), ([, turn, number]) => ({
        turn: Number(turn),
        quote: `Parrot no. ${number} answers to Zed${number}`,
        who: `user/parrot no. ${number}`,
        verb: "be called",
        what: `Zed${number}`,
      })),
    );
  });
}

if (import.meta.main) {
  const [, , path = "", count = "0", steps = "0"] = process.argv;
  let left = Number(steps);
  const step = (): void => {
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
  const say = (words: string): number => writeSync(1, `${words}\n`);
  const memory = await createMemory({ path, model: parrotModel(step) });
  const ana = memory.scope({ user: "ana" });
  const writing = (async () => {
    for (let number = 1; number <= Number(count); number += 1) {
      await ana.remember({ id: `m${number}`, role: "user", content: said(number) });
      say(`stored ${number}`);
      step();
      await pause(2);
    }
  })();
  let isWritten = false;
  void writing.then(() => {
    isWritten = true;
  });
  for (;;) {
    const { pending, problem } = await ana.understand();
    if (problem !== undefined) say(`fault ${problem}`);
    if (isWritten && pending === 0) break;
    // Without it, what never waits for anything keeps the timers from their turn.
    await pause(1);
  }
  await memory.close();
  say("done");
}
