import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

// The samples of the document about the memory of an agent, as calls of the library.

const DAY_MS = 86_400_000;

let now: number;
let folder: string;
let memory: Keepsake;
let eva: ScopedMemory;

beforeEach(async () => {
  now = Date.parse("2026-01-05T12:00:00Z");
  folder = mkdtempSync(join(tmpdir(), "keepsake-sample-"));
  memory = await createMemory({
    path: join(folder, "memory.db"),
    sqlite: { cacheSize: -64_000, mmapBytes: 64 * 1024 * 1024, hasTempInMemory: true },
    clock: () => new Date(now),
  });
  eva = memory.scope({ user: "eva" });
});
afterEach(async () => {
  await memory.close();
  rmSync(folder, { recursive: true });
});

describe("conversations and messages", () => {
  it("are kept by session with role, time and metadata, and are gone together once the session is erased", async () => {
    await eva.remember(
      [
        { role: "user", content: "I sail on Sundays.", metadata: { client: "web" } },
        { role: "assistant", content: "Fair winds." },
      ],
      { session: "s1" },
    );
    const { items } = await eva.session("s1");
    expect(items).toMatchObject([
      {
        role: "user",
        content: "I sail on Sundays.",
        at: "2026-01-05T12:00:00.000Z",
        metadata: { client: "web" },
      },
      { role: "assistant", content: "Fair winds." },
    ]);
    await eva.forget({ session: "s1" });
    expect((await eva.sessions()).items).toEqual([]);
    expect((await eva.list({ status: "all" })).items).toEqual([]);
  });

  it("are in a file with a write-ahead log", async () => {
    await eva.add({ text: "Eva sails." });
    const file = new DatabaseSync(join(folder, "memory.db"), { readOnly: true });
    expect(file.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    file.close();
  });
});

describe("facts", () => {
  it("have a type, a text, a confidence and categories, and are found by a category", async () => {
    await eva.add({
      text: "Eva works as a pilot and likes tea.",
      kind: "fact",
      confidence: 1,
      metadata: { categories: ["work", "taste"] },
    });
    await eva.add({ text: "Eva likes the sea.", kind: "fact", metadata: { categories: ["taste"] } });
    const { items } = await eva.list({ where: { categories: "work" } });
    expect(items).toMatchObject([{ text: "Eva works as a pilot and likes tea.", confidence: 1 }]);
  });

  it.each([-0.1, 1.1])("are refused with a confidence of %d, and nothing is stored", async (confidence) => {
    await expect(eva.add({ text: "Eva sails.", confidence })).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect((await eva.list()).items).toEqual([]);
  });

  it("are found by a question with their whole record, at most as many as asked for", async () => {
    for (const place of ["Faro", "Porto", "Ghent", "Bergen", "Cork", "Utrecht"])
      await eva.add({ text: `Eva has sailed to ${place}.`, metadata: { source: "user_input" } });
    const { items } = await eva.recall("Where has Eva sailed to?", { limit: 5 });
    expect(items).toHaveLength(5);
    for (const { id } of items)
      expect(await eva.get(id)).toMatchObject({ kind: "fact", metadata: { source: "user_input" } });
  });

  it("are narrowed by type, metadata and words of the text", async () => {
    await eva.add({ text: "Eva's boat is moored in Faro.", kind: "fact", metadata: { session_id: "s1" } });
    await eva.add({ text: "Eva's boat is painted red.", kind: "fact", metadata: { session_id: "s1" } });
    await eva.add({
      text: "Eva likes her boat in Faro.",
      kind: "preference",
      metadata: { session_id: "s1" },
    });
    await eva.add({ text: "Eva's boat left Faro.", kind: "fact", metadata: { session_id: "s2" } });
    const { items } = await eva.recall("Eva's boat", {
      limit: 5,
      kinds: ["fact"],
      where: { session_id: "s1" },
      whereText: { $contains: "Faro" },
    });
    expect(items.map(({ text }) => text)).toEqual(["Eva's boat is moored in Faro."]);
  });
});

describe("the context of a conversation", () => {
  it("is a kind of memory with what it relates to and a confidence", async () => {
    await eva.add({
      text: "Eva would rather work on servers than on pages.",
      kind: "context",
      confidence: 0.95,
      metadata: { related_to: "occupation" },
    });
    const { items } = await eva.recall("What does Eva work on?", {
      kinds: ["context"],
      where: { related_to: "occupation" },
    });
    expect(items).toHaveLength(1);
    expect(await eva.get(items[0]?.id ?? "")).toMatchObject({ kind: "context", confidence: 0.95 });
  });

  it("is learnt from a sentence about what somebody prefers to work on", async () => {
    await eva.remember("I prefer working on backend systems");
    expect((await eva.answer("What do I prefer working on?")).text).toMatch(/backend systems/);
  });
});

describe("a session", () => {
  const STATE = {
    topic: "Charts of the coast",
    context: { last_message_id: "m1", state: "active" },
    preferences: { technical_level: "expert" },
  };

  it("has a topic, a context and preferences, is changed, and ends a day after its last change", async () => {
    await eva.startSession({ id: "s1", ...STATE });
    now += DAY_MS / 2;
    await eva.updateSession("s1", { topic: "Tides" });
    now += DAY_MS / 2 + 1;
    expect(await eva.sessionState("s1")).toMatchObject({ ...STATE, topic: "Tides" });
    now += DAY_MS / 2;
    await expect(eva.sessionState("s1")).rejects.toMatchObject({ code: "not_found" });
  });

  it("shows its last hundred messages, the oldest of them first", async () => {
    const messages = Array.from({ length: 120 }, (_, number) => ({
      role: "user" as const,
      content: `Buoy number ${number}.`,
    }));
    await eva.remember(messages, { session: "s1", extract: "never" });
    const first = await eva.session("s1", { limit: 20 });
    const last = await eva.session("s1", { limit: 100, ...(first.cursor ? { cursor: first.cursor } : {}) });
    expect([first.total, last.items.length]).toEqual([120, 100]);
    expect(last.items.map(({ content }) => content)).toEqual(
      messages.slice(20).map(({ content }) => content),
    );
  });

  it("is listed with those that were spoken in", async () => {
    for (const session of ["s1", "s2"]) await eva.remember("The sea was calm.", { session });
    expect((await eva.sessions()).items.map(({ id }) => id).sort()).toEqual(["s1", "s2"]);
  });
});

describe("a write", () => {
  it("of several messages stores all of them, or none if one is wrong", async () => {
    const wrong = { role: "nobody" as "user", content: "I row." };
    await expect(eva.remember([{ role: "user", content: "I sail." }, wrong])).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect((await eva.list()).items).toEqual([]);
    expect((await eva.recall("sail")).items).toEqual([]);
  });
});

describe("the upkeep of the file", () => {
  it("is a check that finds no fault, and a command that gives space back", async () => {
    await eva.remember("I sail on Sundays.");
    expect(await memory.check()).toEqual([]);
    expect(await memory.vacuum()).toEqual({ before: expect.any(Number), after: expect.any(Number) });
  });
});
