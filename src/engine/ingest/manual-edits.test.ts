import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let now = "2026-03-09T12:00:00.000Z";
let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  now = "2026-03-09T12:00:00.000Z";
  memory = await createMemory({ path: ":memory:", clock: () => new Date(now) });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

async function addOne(): Promise<string> {
  const { memories } = await ana.add({ text: "The user lives in Porto.", validFrom: "2026-01-01" });
  return memories[0]?.id ?? "";
}

describe("times that are cleared by hand", () => {
  it("leave the memory, and the history keeps them", async () => {
    const id = await addOne();
    await ana.update(id, { validTo: "2027-01-01", expiresAt: "2028-01-01" });
    await ana.update(id, { clear: ["validFrom", "validTo", "expiresAt"] });
    const cleared = await ana.get(id);
    expect([cleared.validFrom, cleared.validTo, cleared.expiresAt]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(cleared.status).toBe("current");
    const before = (await ana.history(id)).at(-2);
    expect(before?.validTo).toBe("2027-01-01T00:00:00.000Z");
  });

  it("make a memory current again that had ended, before and after its end has passed", async () => {
    const id = await addOne();
    await ana.update(id, { validTo: "2026-02-01" });
    expect((await ana.get(id)).status).toBe("superseded");
    await ana.update(id, { clear: ["validTo"] });
    expect((await ana.get(id)).status).toBe("current");
    await ana.update(id, { validTo: "2026-04-01" });
    now = "2026-05-01T12:00:00.000Z";
    await ana.update(id, { clear: ["validTo"] });
    expect((await ana.list()).items.map(({ text, validTo }) => [text, validTo])).toEqual([
      ["The user lives in Porto.", undefined],
    ]);
  });

  it("make no memory current again that another one replaced", async () => {
    const id = await addOne();
    await ana.supersede("Porto", { text: "The user lives in Faro." });
    await ana.update(id, { clear: ["validTo"] });
    expect((await ana.get(id)).status).toBe("superseded");
  });

  it("are refused together with a new time, and by an unknown name", async () => {
    const id = await addOne();
    const wrong = [{ clear: ["validTo"], validTo: "2027-01-01" }, { clear: ["text"] }, { clear: "validTo" }];
    for (const changes of wrong)
      await expect(ana.update(id, changes as object)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(ana.update(id, { clear: [] })).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("a text that is changed by hand", () => {
  async function change(said: string, text: (old: string) => string): Promise<string> {
    await ana.remember(said);
    const [one] = (await ana.list()).items;
    await ana.update(one?.id ?? "", { text: text(one?.text ?? "") });
    return one?.id ?? "";
  }

  it("gives its claim the new value where nothing else has changed, and answers tell it", async () => {
    const id = await change("I live in Porto.", (old) => old.replace("Porto", "Ghent"));
    expect((await ana.get(id)).claim?.value).toBe("Ghent");
    const { text, abstained } = await ana.answer("Where do I live?");
    expect([text, abstained]).toEqual(["You live in Ghent.", false]);
  });

  it("is answered with where it tells something else than its claim, not the words that it was read from", async () => {
    const id = await change("I live in Porto.", () => "The user moved to Ghent in May, above a bakery.");
    expect((await ana.get(id)).claim).toBeUndefined();
    const { text } = await ana.answer("Where do I live?");
    expect(text).toContain("Ghent");
    expect(text).not.toContain("Porto");
  });
});
