import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";

it("the receipts of recalls go with everything about a user, also those not written yet, and stay otherwise", async () => {
  const store = createInMemoryStore();
  const keepsake = await createMemory({ record: store });
  const [ana, ben] = ["ana", "ben"].map((user) => keepsake.scope({ user }));
  try {
    for (const scope of [ana, ben]) {
      await scope?.remember("I live in Porto. My sister is called Alma.");
      await scope?.recall("Where do I live?");
    }
    const count = async (user: string): Promise<number> =>
      (await store.recallReceipts.list({ project: "default", user }, { limit: 10 })).length;
    await expect.poll(() => count("ana")).toBe(1);
    await ana?.forget("Alma");
    expect(await count("ana")).toBe(1);
    await ana?.recall("Who is my sister?");
    await ana?.forget({ everything: true });
    // After the time in which a pending receipt would be written.
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await count("ana")).toBe(0);
    expect(await count("ben")).toBe(1);
  } finally {
    await keepsake.close();
  }
});
