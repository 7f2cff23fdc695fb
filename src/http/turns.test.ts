import { expect, it } from "vitest";
import { createFairQueue } from "./dispatch.ts";

it("starts requests in order of arrival, with started work continuing in between", async () => {
  const turn = createFairQueue();
  const done: string[] = [];
  const began = Promise.withResolvers<void>();
  const request = async (name: string): Promise<void> => {
    await turn();
    done.push(name);
    if (name !== "first") return;
    // As the answer of a thread comes: in a turn of the loop after this one.
    setImmediate(() => done.push("first goes on"));
    began.resolve();
  };
  const names = ["first", "second", "third", "fourth"];
  await Promise.all(names.map(request));
  await began.promise;
  expect(done.filter((name) => names.includes(name))).toEqual(names);
  expect(done.indexOf("first goes on")).toBeLessThan(done.indexOf("third"));
});

it("starts requests that arrive later", async () => {
  const turn = createFairQueue();
  await turn();
  await turn();
  await Promise.all([turn(), turn()]);
});
