import { expect, it } from "vitest";
import { createInMemoryVectorIndex } from "../../adapters/memory/index.ts";
import { callIndex, callIndexInTurn } from "./call-index.ts";

const ANN = { project: "default", user: "ann" };
const never = (): Promise<never> => new Promise(() => {});

it("a call that never returns ends at its deadline, even when it ignores its signal", async () => {
  await expect(callIndex({ name: "x" }, 20, never)).rejects.toMatchObject({ code: "unavailable" });
});

it("a call that never returns does not block the next ones", async () => {
  const follower = createInMemoryVectorIndex();
  const first = callIndexInTurn(follower, ANN, 30, never);
  const second = callIndexInTurn(follower, ANN, 1000, async () => "done");
  await expect(first).rejects.toMatchObject({ code: "unavailable" });
  expect(await second).toBe("done");
});

it("calls of one user run in sequence, and those of two users in parallel", async () => {
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

it("rejects with the reason of the aborted signal, and with the error of the call", async () => {
  const reason = new Error("enough");
  const stopping = new AbortController();
  const call = callIndex({ name: "x" }, 1000, never, stopping.signal);
  stopping.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect(
    callIndex({ name: "x" }, 1000, () => Promise.reject(new TypeError("a mistake"))),
  ).rejects.toThrow("a mistake");
});
