import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createMemory } from "../memory.ts";

// Made up, and put together here so that no scanner takes them for real ones.
const KEY = `sk-${"proj1Ab2Cd3Ef4Gh5"}`;
const CARD = ["4111", "1111", "1111", "1111"].join(" ");

const folder = mkdtempSync(join(tmpdir(), "keepsake-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("Secrets", () => {
  it("of machines appear in no byte of the store (pain: secret patterns in bytes, vectors, index, logs)", async () => {
    const memory = await createMemory({ path: join(folder, "memory.db") });
    const user = memory.scope({ user: "ana" });
    const receipt = await user.remember(`Deploy with ${KEY}, and pay with ${CARD}. I live in Turin.`);
    await user.remember([{ role: "assistant", content: `I used ${KEY}.` }]);
    expect(receipt.memories.map(({ action, why }) => [action, why])).toEqual([
      ["refused", "a credential (API key) was left out of the message"],
      ["refused", "a credential (card number) was left out of the message"],
      ["added", "home and work"],
    ]);
    expect((await user.recall("deploy key")).context).toContain("[API key left out]");
    await memory.close();
    const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file), "latin1"));
    for (const secret of [KEY, KEY.slice(3), CARD, CARD.replaceAll(" ", "")])
      expect(bytes.filter((one) => one.includes(secret))).toEqual([]);
  });

  it("in words make no memory, stay in their message, and appear in no answer or prompt", async () => {
    await using memory = await createMemory({ path: ":memory:" });
    const user = memory.scope({ user: "ana" });
    await user.remember("my wifi password is hunter2");
    expect((await user.list()).items).toEqual([]);
    const { text, recall } = await user.answer("What is my wifi password?");
    expect(text).not.toContain("hunter2");
    expect(recall.context).not.toContain("hunter2");
    expect(recall.items[0]?.text).toContain("hunter2");
  });

  it("do not include a household code, which is found until it is forgotten", async () => {
    await using memory = await createMemory({ path: ":memory:" });
    const user = memory.scope({ user: "ana" });
    await user.remember("The keypad code is 5821.");
    expect((await user.recall("keypad code")).context).toContain("5821");
  });

  it("stay verbatim when redaction is off", async () => {
    await using memory = await createMemory({ path: ":memory:", redact: false });
    const user = memory.scope({ user: "ana" });
    const { memories } = await user.remember(`Deploy with ${KEY}.`);
    expect(memories).toEqual([]);
    expect((await user.recall("deploy")).items[0]?.text).toContain(KEY);
  });
});
