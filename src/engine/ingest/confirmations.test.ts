import { beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let memory: Keepsake;
let ana: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-01T10:00:00Z");
  memory = await createMemory({ path: ":memory:", clock: () => now });
  ana = memory.scope({ user: "ana" });
  for (const said of ["I use Shram.", "I live in Porto.", "I play the oboe.", "My cat is called Quixote."])
    await ana.remember(said);
});

const count = async (): Promise<number> => (await ana.list()).total;
const talk = async (text: string, session = "s"): Promise<string> => {
  now = new Date(now.getTime() + 1000);
  return (await ana.converse(text, { session })).text;
};

describe("a request that would remove everything", () => {
  it("lists what it would remove, and waits for confirmation", async () => {
    const asked = await talk("Forget everything you know about me.");
    expect(asked).toMatch(/^That would forget 4 things: you use Shram; .*Say “yes, forget them” to do it\.$/);
    expect(await count()).toBe(4);
    expect(await talk("yes, forget them")).toMatch(/^Done\. I have forgotten everything/);
    expect(await count()).toBe(0);
  });

  it.each(["Yes.", "yes please", "Yes, do it!", "go ahead", "ok, delete everything", "I'm sure."])(
    "accepts %s as confirmation",
    async (yes) => {
      await talk("Please delete everything you know about me.");
      await talk(yes);
      expect(await count()).toBe(0);
    },
  );

  it.each(["No.", "Yes, I use Linear too.", "What do you know about me?", "yes but not my cat", "Not yet."])(
    "does not accept %s as confirmation",
    async (other) => {
      await talk("Forget everything about me.");
      await talk(other);
      expect(await count()).toBeGreaterThanOrEqual(4);
      await talk("yes, forget them");
      expect(await count()).toBeGreaterThanOrEqual(4);
    },
  );

  it("is dropped in another session, after a day, and when the assistant asked something else", async () => {
    await talk("Forget everything about me.", "one");
    await talk("yes, forget them", "two");
    expect(await count()).toBe(4);
    await talk("Forget everything about me.", "one");
    now = new Date(now.getTime() + 25 * 60 * 60 * 1000);
    await talk("yes, forget them", "one");
    expect(await count()).toBe(4);
    await talk("Forget everything about me.", "three");
    await ana.remember({ role: "assistant", content: "Shall I play some music?" }, { session: "three" });
    await talk("Yes.", "three");
    expect(await count()).toBeGreaterThanOrEqual(4);
  });

  it("also waits when it comes through the library, which reports it", async () => {
    const { waiting, erasures } = await ana.remember("Forget everything you know about me.");
    expect(erasures).toBeUndefined();
    expect(waiting).toMatchObject([{ action: "erase", memories: [{}, {}, {}, {}] }]);
    const { erasures: done } = await ana.remember("Yes, forget it all.");
    expect(done?.[0]?.erased.memories).toBe(4);
  });

  it("does not wait when it removes little, or names its target", async () => {
    await ana.remember(
      "My aunt Ida sails. My aunt Ida bakes. My aunt Ida paints. My aunt Ida lives in Bergen.",
    );
    const before = await count();
    await talk("Forget everything about my aunt Ida.");
    expect(before - (await count())).toBeGreaterThan(3);
    const bob = memory.scope({ user: "bob" });
    await bob.remember("I use Shram.");
    expect((await bob.converse("Forget everything you know about me.")).text).toMatch(/^Done/);
  });

  it("is executed at once when a program requests it", async () => {
    await ana.forget("Forget everything you know about me.");
    expect(await count()).toBe(0);
  });

  it("accepts only the user's own confirmation", async () => {
    await talk("Forget everything about me.");
    await ana.remember({ role: "assistant", content: "yes, forget them" }, { session: "s" });
    await ana.remember({ role: "tool", content: "yes, forget them" }, { session: "s" });
    expect(await count()).toBe(4);
  });
});
