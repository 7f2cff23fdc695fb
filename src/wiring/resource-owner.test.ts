import { expect, it } from "vitest";
import { createInMemoryStore, createInMemoryVectorIndex } from "../adapters/memory/index.ts";
import { createMemory } from "../memory.ts";
import { createResourceOwner } from "./resource-owner.ts";

/** Something that can be closed, and tells when. */
function closable<Port extends { close(): Promise<void> }>(port: Port, told: string[], name: string): Port {
  return { ...port, close: async () => void told.push(name) };
}

it("closes ports that a function opened, and leaves passed ports open", async () => {
  const told: string[] = [];
  const memory = await createMemory({
    record: () => closable(createInMemoryStore(), told, "record"),
    index: [
      async () => closable(createInMemoryVectorIndex({ name: "own" }), told, "own follower"),
      closable(createInMemoryVectorIndex({ name: "caller's" }), told, "caller's follower"),
    ],
  });
  await memory.scope({ user: "ana" }).remember("I use Shram.");
  await memory.close();
  await memory.close();
  expect(told).toEqual(["own follower", "record"]);
});

it("closes opened ports if another one fails to open", async () => {
  const told: string[] = [];
  const failing = createMemory({
    record: () => closable(createInMemoryStore(), told, "record"),
    index: () => {
      throw new Error("no index here");
    },
  });
  await expect(failing).rejects.toThrow("no index here");
  expect(told).toEqual(["record"]);
});

it("closes all ports, newest first, even if some reject or throw, and throws the first error", async () => {
  const told: string[] = [];
  const opening = createResourceOwner();
  const close = async () => void told.push("closed");
  await opening.open(() => ({ close }));
  await opening.open(() => ({
    close: async () => {
      told.push("failed");
      throw new Error("its server is gone");
    },
  }));
  // A port from outside may throw where it should reject.
  opening.own({
    close() {
      told.push("threw");
      throw new Error("it was closed before");
    },
  });
  opening.own({ close });
  expect(await opening.open(undefined)).toBeUndefined();
  await expect(opening.close()).rejects.toThrow("it was closed before");
  expect(told).toEqual(["closed", "threw", "failed", "closed"]);
  await opening.close();
});
