import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Keepsake, ScopedMemory } from "../api.ts";

let record: MemoryStore;
let memory: Keepsake;
let ida: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-11T10:00:00Z");
  record = createInMemoryStore();
  memory = await createMemory({ record, clock: () => now });
  ida = memory.scope({ user: "ida" });
});

async function tell(...lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    now = new Date(now.getTime() + 60_000);
    await ida.remember(line);
  }
}

async function idOf(words: string): Promise<string> {
  for await (const one of ida.list({ status: "all" })) if (one.text.includes(words)) return one.id;
  throw new Error(`nothing holds ${words}`);
}

describe("the receipt of a recall", () => {
  it("tells later what was given and why, as it told then", async () => {
    await tell("I use Zotero and Tana as research tools.", "I live in Turku.");
    const found = await ida.recall("research tools", { explain: true });
    const explained = await ida.explain(found.id);
    expect(explained.items.map(({ id }) => id).sort()).toEqual(found.items.map(({ id }) => id).sort());
    for (const item of explained.items) {
      const own = found.items.find(({ id }) => id === item.id);
      if (item.now === "erased") throw new Error("nothing is erased");
      expect(item.text).toBe(own?.text);
      for (const [arm, { rank }] of Object.entries(own?.why?.arms ?? {}))
        expect(item.arms[arm]?.rank).toBe(rank);
    }
    expect(explained).toMatchObject({ kind: "recall", revision: 2, bounds: { limit: 10 } });
  });

  it("outlives the process, with what the answer rested on", async () => {
    await tell("I use Zotero and Tana as research tools.");
    const { recall, used } = await ida.answer("What research tools do I use?");
    await memory.close();
    memory = await createMemory({ record, clock: () => now });
    const explained = await memory.scope({ user: "ida" }).explain(recall.id);
    expect(explained).toMatchObject({ kind: "answer", used });
  });

  it("holds no word of the query, nor of what was found", async () => {
    await tell("I keep bees behind the chapel.");
    await ida.answer("Where do I keep my bees, dear xylophone?");
    await memory.close();
    const kept = JSON.stringify(
      await record.recallReceipts({ project: "default", user: "ida" }, { limit: 9 }),
    );
    expect(kept).toContain('"kind":"answer"');
    for (const word of ["bees", "chapel", "xylophone", "keep"]) expect(kept).not.toContain(word);
  });

  it("says of what has been erased since that it is, and nothing else", async () => {
    await tell("I use Zotero and Tana as research tools.", "I live in Turku.");
    const { recall } = await ida.answer("What research tools do I use?");
    const id = await idOf("Tana");
    await ida.forget("Tana");
    const { items } = await ida.explain(recall.id);
    expect(items.find((item) => item.id === id)).toEqual({ id, type: "memory", now: "erased" });
    expect(JSON.stringify(items)).not.toContain("Tana");
    expect((await ida.explain(recall.id, { about: id })).about).toMatchObject({ reason: "erased" });
  });

  it("is one user's alone", async () => {
    await tell("I live in Turku.");
    const { id } = await ida.recall("Turku");
    const other = memory.scope({ user: "bo" });
    await expect(other.explain(id)).rejects.toMatchObject({ code: "not_found" });
    await expect(ida.explain(id, { about: "nobody" })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("why something was not given", () => {
  it("was it superseded, quarantined by its bounds, in another session, too late, or beyond the limit", async () => {
    await tell("I use Zotero and Tana as research tools.", "I don't use Tana anymore.");
    const tana = await idOf("Tana");
    const answered = await ida.answer("What research tools do I use?");
    await tell("I play the kantele.");
    const late = await idOf("kantele");
    const narrow = await ida.recall("research tools", { kinds: ["preference"] });
    const single = await ida.recall("research tools", { limit: 1, types: ["memory"] });
    const session = await ida.recall("research tools", { session: "elsewhere" });
    const zotero = await idOf("Zotero");
    const reasonOf = async (recall: string, about: string): Promise<string | undefined> =>
      (await ida.explain(recall, { about })).about?.reason;
    expect(await reasonOf(answered.recall.id, tana)).toBe("superseded");
    expect(await reasonOf(answered.recall.id, zotero)).toBe("used");
    expect(await reasonOf(answered.recall.id, late)).toBe("not_yet_known");
    expect(await reasonOf(narrow.id, zotero)).toBe("other_kind");
    expect(await reasonOf(session.id, zotero)).toBe("other_session");
    expect(await reasonOf(single.id, late)).toBe("below_floor");
    expect([await reasonOf(single.id, zotero), await reasonOf(single.id, tana)]).toContain("given");
  });

  it("had it expired", async () => {
    await ida.add({ text: "The code of the gate is on the fridge", expiresAt: "2026-03-12T00:00:00Z" });
    const id = await idOf("gate");
    now = new Date("2026-03-13T10:00:00Z");
    const { id: recall, items } = await ida.recall("code of the gate");
    expect(items).toEqual([]);
    expect((await ida.explain(recall, { about: id })).about?.reason).toBe("expired");
  });
});

describe("in a conversation", () => {
  const ask = async (line: string, session = "one"): Promise<string> => {
    now = new Date(now.getTime() + 60_000);
    return (await ida.converse(line, { session })).text;
  };

  it("it says what its last answer rests on, with date and quote", async () => {
    await tell("I rent a loft in Vaasa.");
    expect(await ask("Where do I rent a loft?")).toContain("Vaasa");
    expect(await ask("How do you know that?")).toBe(
      "Because on 11 March 2026 you said: “I rent a loft in Vaasa”.",
    );
    expect(await ask("Why did you say that?")).toContain("I rent a loft in Vaasa");
  });

  it("it says why it left something out", async () => {
    await tell("I use Zotero and Tana as research tools.");
    now = new Date("2026-05-02T10:00:00Z");
    await tell("I don't use Tana anymore.");
    expect(await ask("What research tools do I use?")).toBe("You use Zotero.");
    expect(await ask("Why didn't you mention Tana?")).toContain(
      "on 2 May 2026 you said: “I don't use Tana anymore”",
    );
  });

  it("it owns that it did not know, and repeats nothing that was erased", async () => {
    await tell("I rent a loft in Vaasa.");
    await ask("Where do I rent a loft?");
    await ida.forget("Vaasa");
    const told = await ask("How do you know that?");
    expect(told).toBe("What it rested on has been erased since.");
    await ask("What is my shoe size?");
    expect(await ask("Why did you say that?")).toBe(
      "I did not know it: nothing that you told me answers it.",
    );
    expect(await ask("Why did you say that?", "two")).toBe("I have not answered anything from memory yet.");
  });
});
