import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

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
  it("gives later the same explanation as the recall did", async () => {
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

  it("survives the process, with the sources of the answer", async () => {
    await tell("I use Zotero and Tana as research tools.");
    const { recall, used } = await ida.answer("What research tools do I use?");
    await memory.close();
    memory = await createMemory({ record, clock: () => now });
    const explained = await memory.scope({ user: "ida" }).explain(recall.id);
    expect(explained).toMatchObject({ kind: "answer", used });
  });

  it("contains no word of the query or of the results", async () => {
    await tell("I keep bees behind the chapel.");
    await ida.answer("Where do I keep my bees, dear xylophone?");
    await memory.close();
    const kept = JSON.stringify(
      await record.recallReceipts.list({ project: "default", user: "ida" }, { limit: 9 }),
    );
    expect(kept).toContain('"kind":"answer"');
    for (const word of ["bees", "chapel", "xylophone", "keep"]) expect(kept).not.toContain(word);
  });

  it("reports only the erasure of an item that was erased later", async () => {
    await tell("I use Zotero and Tana as research tools.", "I live in Turku.");
    const { recall } = await ida.answer("What research tools do I use?");
    const id = await idOf("Tana");
    await ida.forget("Tana");
    const { items } = await ida.explain(recall.id);
    expect(items.find((item) => item.id === id)).toEqual({ id, type: "memory", now: "erased" });
    expect(JSON.stringify(items)).not.toContain("Tana");
    expect((await ida.explain(recall.id, { about: id })).about).toMatchObject({ reason: "erased" });
  });

  it("is not visible to another user", async () => {
    await tell("I live in Turku.");
    const { id } = await ida.recall("Turku");
    const other = memory.scope({ user: "bo" });
    await expect(other.explain(id)).rejects.toMatchObject({ code: "not_found" });
    await expect(ida.explain(id, { about: "nobody" })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("explain with about", () => {
  it("names the reason: superseded, quarantined, filtered, another session, stored later, or beyond the limit", async () => {
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

  it("names expiry as the reason for an expired memory", async () => {
    await ida.add({ text: "The code of the gate is on the fridge", expiresAt: "2026-03-12T00:00:00Z" });
    const id = await idOf("gate");
    now = new Date("2026-03-13T10:00:00Z");
    const { id: recall, items } = await ida.recall("code of the gate");
    expect(items).toEqual([]);
    expect((await ida.explain(recall, { about: id })).about?.reason).toBe("expired");
  });
});

describe("a question about the last answer", () => {
  const ask = async (line: string, session = "one"): Promise<string> => {
    now = new Date(now.getTime() + 60_000);
    return (await ida.converse(line, { session })).text;
  };

  it("names the sources of the last answer, with date and quote", async () => {
    await tell("I rent a loft in Vaasa.");
    expect(await ask("Where do I rent a loft?")).toContain("Vaasa");
    expect(await ask("How do you know that?")).toBe(
      "Because on 11 March 2026 you said: “I rent a loft in Vaasa”.",
    );
    expect(await ask("Why did you say that?")).toContain("I rent a loft in Vaasa");
  });

  it("explains why something was left out", async () => {
    await tell("I use Zotero and Tana as research tools.");
    now = new Date("2026-05-02T10:00:00Z");
    await tell("I don't use Tana anymore.");
    expect(await ask("What research tools do I use?")).toBe("You use Zotero.");
    expect(await ask("Why didn't you mention Tana?")).toContain(
      "on 2 May 2026 you said: “I don't use Tana anymore”",
    );
  });

  it("admits that the answer was unknown, and repeats no erased text", async () => {
    await tell("I rent a loft in Vaasa.");
    await ask("Where do I rent a loft?");
    await ida.forget("Vaasa");
    const told = await ask("How do you know that?");
    expect(told).toBe("Its sources have been erased since.");
    await ask("What is my shoe size?");
    expect(await ask("Why did you say that?")).toBe("I did not know: nothing you told me answers it.");
    expect(await ask("Why did you say that?", "two")).toBe("I have not answered anything from memory yet.");
  });
});
