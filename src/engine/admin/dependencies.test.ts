import { expect, it, vi } from "vitest";
import { createInMemoryStore, memoryCache } from "../../adapters/memory/index.ts";
import { watchDependencies } from "./dependencies.ts";

const clock = () => new Date("2026-11-21T10:00:00Z");

/** The state of a cache whose first `failures` answers fail. */
async function stateAfter(failures: number): Promise<string | undefined> {
  let asked = 0;
  const cache = {
    ...memoryCache({ clock }),
    get: async () => {
      asked += 1;
      if (asked <= failures) throw new Error("no answer in 50 ms");
      return undefined;
    },
  };
  const store = createInMemoryStore();
  const watch = watchDependencies({ store, cache, clock });
  try {
    const find = () => watch.states().find(({ kind }) => kind === "cache")?.state;
    await vi.waitUntil(() => find() !== undefined);
    return find();
  } finally {
    watch.stop();
    await store.close();
  }
}

it("a service whose first answer fails is up if its second comes, because the first request opens the connection", async () => {
  expect(await stateAfter(0)).toBe("up");
  expect(await stateAfter(1)).toBe("up");
});

it("a service that fails twice in a row is down", async () => {
  expect(await stateAfter(2)).toBe("down");
});
