import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let folder: string;
let memory: Keepsake;
let ana: ScopedMemory;

async function open(): Promise<void> {
  memory = await createMemory({
    path: join(folder, "m.db"),
    clock: () => new Date("2026-11-01T12:00:00Z"),
  });
  ana = memory.scope({ user: "ana" });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "asked-"));
  await open();
  await ana.remember("I was let go from Brightwell last month. The redundancy money is 14,000.");
  await ana.remember("Brightwell owe me holiday pay too.");
});

afterEach(async () => {
  await memory.close();
  rmSync(folder, { recursive: true });
});

async function stored(): Promise<string> {
  let all = "";
  for await (const line of ana.export()) all += `${JSON.stringify(line)}\n`;
  return all;
}

const REQUEST = "Forget everything about Brightwell.";

describe("a request that is sure in part", () => {
  it("erases the sure part and asks about the rest, with its words", async () => {
    const { erasures, waiting } = await ana.remember(REQUEST);
    expect(erasures).toMatchObject([{ complete: true }]);
    expect(await stored()).not.toContain("Brightwell");
    expect(waiting).toMatchObject([{ action: "erase", quotes: [{ quote: "[…] owe me holiday pay too." }] }]);
    expect(await stored()).toContain("holiday pay");
  });

  it("says both in the reply of a conversation", async () => {
    const { text } = await ana.converse(REQUEST);
    expect(text).toMatch(/^Done\. I have forgotten what I am sure of: .* are erased\. Shall I forget this\?/);
    expect(text).toContain("1. “[…] owe me holiday pay too.”");
  });

  it.each(["yes, forget them", "Yes.", "only the first"])("erases the rest after “%s”", async (yes) => {
    await ana.remember(REQUEST);
    const { erasures, waiting } = await ana.remember(yes);
    expect(erasures).toMatchObject([{ complete: true, erased: { messages: 1 } }]);
    expect(waiting).toBeUndefined();
    expect(await stored()).not.toContain("holiday pay");
    expect(await stored()).toContain("redundancy");
  });

  it("erases the rest after a yes in another process", async () => {
    await ana.remember(REQUEST);
    await memory.close();
    await open();
    await ana.remember("yes, forget them");
    expect(await stored()).not.toContain("holiday pay");
  });

  it.each(["No.", "no, keep that", "I play the oboe."])("drops the rest after “%s”", async (other) => {
    await ana.remember(REQUEST);
    await ana.remember(other);
    expect((await ana.remember("yes, forget them")).erasures).toBeUndefined();
    expect(await stored()).toContain("holiday pay");
  });

  it("drops the rest after another erasure, which moves the words", async () => {
    await ana.remember(REQUEST);
    await ana.forget("redundancy money");
    await ana.remember("yes, forget them");
    expect(await stored()).toContain("holiday pay");
  });

  it("accepts a yes only in the same session and by who may erase", async () => {
    await ana.remember(REQUEST, { session: "one" });
    await ana.remember("yes, forget them", { session: "two" });
    await ana.remember("yes, forget them", { session: "one", mayErase: false });
    expect(await stored()).toContain("holiday pay");
  });

  it("takes a yes to another question for no answer", async () => {
    await ana.remember(REQUEST, { session: "one" });
    await ana.remember({ role: "assistant", content: "Shall I play some music?" }, { session: "one" });
    await ana.remember("yes", { session: "one" });
    expect(await stored()).toContain("holiday pay");
  });
});
