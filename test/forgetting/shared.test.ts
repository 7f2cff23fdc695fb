import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../src/memory.ts";

/** What one user shares, and every byte of the files once its owner has it forgotten. */

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-shared-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const filesWith = (word: string): string[] =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(word));

describe("words that a reader recalled, was answered and was told as context", () => {
  it("are in no byte of the files after the owner's erasure, nor is a condition of a grant that held them", async () => {
    const path = join(folder, "memory.db");
    const memory = await createMemory({ path });
    const [ana, ben] = ["ana", "ben"].map((user) => memory.scope({ user }));
    if (!ana || !ben) throw new Error("no scopes");
    await ben.remember("I live in Ghent.");
    await ana.remember("I keep the spare key at the Zwirbelhof bakery. I live in Porto.");
    await ana.share({ user: "ben", about: ["Zwirbelhof"] });
    await ana.share({ user: "ben", whereText: { $regex: "(?i)zwirbelhof" }, messages: true });
    const recalled = await ben.recall("Where is the Zwirbelhof bakery?", { explain: true });
    expect(recalled.items.map(({ owner }) => owner)).toContain("ana");
    expect((await ben.answer("Where is the spare key of ana?")).text).toContain("Zwirbelhof");
    expect((await ben.context("the spare key of ana")).text).toContain("Zwirbelhof");
    expect((await ben.shared()).total).toBe(1);
    expect(await ben.explain(recalled.id)).toMatchObject({ shared: recalled.items.length });
    expect(filesWith("Zwirbelhof")).not.toEqual([]);
    const receipt = await ana.forget("Zwirbelhof");
    expect([receipt.complete, receipt.erased.grants]).toEqual([true, 2]);
    expect((await ben.recall("Where is the Zwirbelhof bakery?")).items).toEqual([]);
    expect((await ben.grants({ all: true })).received).toEqual([]);
    await memory.close();
    for (const word of ["Zwirbelhof", "zwirbelhof"]) expect([word, filesWith(word)]).toEqual([word, []]);
  });
});
