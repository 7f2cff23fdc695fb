import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Memory } from "../../../domain/memory.ts";
import { makeMemory } from "../../../testing/memory-store/change-sets.ts";
import { answerIndex, answerIndexInSlices } from "./answer-index.ts";

const MANY = 20_000;

function memoriesOf(count: number): Map<string, Memory> {
  return new Map(
    Array.from({ length: count }, (_, i) => {
      const claim = { subject: "user", relation: "like", value: `copper lantern${i}` };
      return [`a${i}`, makeMemory(`a${i}`, 1, { text: `The user likes copper lantern${i}.`, claim })];
    }),
  );
}

it("an index over 20,000 memories is put together in slices of less than 50 ms of processor time", async () => {
  const memories = memoriesOf(MANY);
  let [longest, isOver] = [0, false];
  const done = answerIndexInSlices(memories).finally(() => {
    isOver = true;
  });
  let before = process.threadCpuUsage();
  while (!isOver) {
    await turn();
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
  }
  expect((await done).words.get("lantern7")?.size).toBe(1);
  expect(longest).toBeLessThan(50);
});

it("an index that is put together in slices holds what came and went meanwhile, like one put together at once", async () => {
  const memories = memoriesOf(5000);
  const changes = async (): Promise<void> => {
    await turn();
    memories.delete("a4999");
    memories.delete("a0");
    memories.set("b1", makeMemory("b1", 1, { claim: { subject: "user", relation: "own", value: "a boat" } }));
  };
  const [index] = await Promise.all([
    answerIndexInSlices(memories),
    answerIndexInSlices(memories),
    changes(),
  ]);
  const whole = answerIndex(new Map(memories));
  expect(new Set(index.words.keys())).toEqual(new Set(whole.words.keys()));
  expect(index.slots.get("user")?.get("own")?.size).toBe(1);
});
