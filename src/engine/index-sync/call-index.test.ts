import { expect, it } from "vitest";
import { createInMemoryVectorIndex } from "../../adapters/memory/index.ts";
import { callIndex, callIndexInTurn } from "./call-index.ts";

const ANN = { project: "default", user: "ann" };
const never = (): Promise<never> => new Promise(() => {});

it("a call that never comes back ends at its deadline, whatever it makes of its signal", async () => {
  await expect(callIndex({ name: "x" }, 20, never)).rejects.toMatchObject({ code: "unavailable" });
});

it("a call that never comes back holds up none of the next", async () => {
  const follower = createInMemoryVectorIndex();
  const first = callIndexInTurn(follower, ANN, 30, never);
  const second = callIndexInTurn(follower, ANN, 1000, async () => "done");
  await expect(first).rejects.toMatchObject({ code: "unavailable" });
  expect(await second).toBe("done");
});

it("calls of one user come one after the other, and those of two beside each other", async () => {
  const follower = createInMemoryVectorIndex();
  const order: string[] = [];
  const slowly = (name: string, ms: number) => async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    order.push(name);
  };
  const bob = { project: "default", user: "bob" };
  await Promise.all([
    callIndexInTurn(follower, ANN, 1000, slowly("ann 1", 40)),
    callIndexInTurn(follower, ANN, 1000, slowly("ann 2", 0)),
    callIndexInTurn(follower, bob, 1000, slowly("bob", 5)),
  ]);
  expect(order).toEqual(["bob", "ann 1", "ann 2"]);
});

it("passes on the reason of whoever breaks off, and what the call throws", async () => {
  const reason = new Error("enough");
  const stopping = new AbortController();
  const call = callIndex({ name: "x" }, 1000, never, stopping.signal);
  stopping.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect(
    callIndex({ name: "x" }, 1000, () => Promise.reject(new TypeError("a mistake"))),
  ).rejects.toThrow("a mistake");
});
