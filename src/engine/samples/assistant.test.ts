import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { openaiEmbedder, openaiModel } from "../../adapters/openai/index.ts";
import { createMemory } from "../../memory.ts";
import { hashEmbedder, itemsAnswer, type OpenaiServer, openaiServer } from "../../testing/index.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

// The dialogues and samples of the document about a memory for an assistant, as calls of the library.

const TOLD = "I use Shram and Magnet as productivity tools";
const ENDED = "I don't use Magnet anymore";

const clock = () => new Date("2026-01-05T12:00:00Z");
let memory: Keepsake;
let ana: ScopedMemory;

const listTexts = async (scope: ScopedMemory): Promise<string[]> =>
  (await scope.list()).items.map(({ text }) => text).sort();

describe("an assistant with a memory", () => {
  beforeEach(async () => {
    memory = await createMemory({ path: ":memory:", clock });
    ana = memory.scope({ user: "ana" });
  });
  afterEach(() => memory.close());

  it("answers in a new conversation with the tools that were named in an earlier one", async () => {
    await ana.converse(TOLD, { session: "monday" });
    const { text } = await ana.converse("What are the productivity tools that I use", {
      session: "tuesday",
    });
    expect(text).toMatch(/^You use Shram and Magnet\b/);
  });

  it("makes one memory of each fact of a message", async () => {
    const { memories } = await ana.remember(TOLD);
    expect(memories.map(({ text }) => text)).toEqual([
      "The user uses Shram as a productivity tool.",
      "The user uses Magnet as a productivity tool.",
    ]);
  });

  it("no longer answers with a tool that is no longer used, and keeps it in the history", async () => {
    await ana.remember(TOLD);
    await ana.remember(ENDED);
    const { text } = await ana.answer("What productivity tools do I use?");
    expect(text).toMatch(/^You use Shram\b/);
    expect(text).not.toContain("Magnet");
    const { items } = await ana.list({ status: "superseded" });
    expect(items.map((item) => item.text)).toEqual(["The user uses Magnet as a productivity tool."]);
  });

  it("ends what one user no longer uses, and leaves another user's memories alone", async () => {
    const eva = memory.scope({ user: "eva" });
    for (const scope of [ana, eva]) await scope.remember(TOLD);
    await ana.remember(ENDED);
    expect(await listTexts(ana)).not.toContain("The user uses Magnet as a productivity tool.");
    expect(await listTexts(eva)).toContain("The user uses Magnet as a productivity tool.");
  });

  it("recalls no more memories than asked for", async () => {
    for (const text of ["Ana uses Shram.", "Ana uses Magnet.", "Ana uses Zettlr.", "Ana uses Bear."])
      await ana.add({ text });
    expect((await ana.recall("What does Ana use?", { limit: 3 })).items).toHaveLength(3);
  });

  it("recalls what is removed last and marked, gives it to no model, and takes it back by an undo", async () => {
    for (const text of ["Ana uses Shram.", "Ana uses Magnet."]) await ana.add({ text });
    const removed = (await ana.list()).items.find(({ text }) => text.includes("Magnet"));
    const { revision } = await ana.remove(removed?.id ?? "");
    const { items } = await ana.recall("What does Ana use?");
    expect(items.map(({ text, status }) => [text, status])).toEqual([
      ["Ana uses Shram.", "current"],
      ["Ana uses Magnet.", "retracted"],
    ]);
    const question = "What does Ana use?";
    expect((await ana.context(question)).text).toContain("Shram");
    expect((await ana.context(question)).text).not.toContain("Magnet");
    expect((await ana.answer(question)).text).not.toContain("Magnet");
    await ana.undo(revision);
    expect((await ana.context(question)).text).toContain("Magnet");
  });

  it("erases for good what is asked to be forgotten, with a receipt", async () => {
    await ana.remember(TOLD);
    const receipt = await ana.forget("Magnet");
    expect(receipt).toMatchObject({ complete: true, erased: { memories: 1 } });
    expect(JSON.stringify((await ana.list({ status: "all" })).items)).not.toContain("Magnet");
  });

  it("gives the relevant memories as lines for a prompt", async () => {
    await ana.remember(TOLD);
    const { context } = await ana.recall("productivity tools");
    expect(context.split("\n").filter((line) => /Shram|Magnet/.test(line)).length).toBeGreaterThan(1);
  });
});

describe("a memory in a file", () => {
  it("has, opened again, what was stored in it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-sample-"));
    try {
      const path = join(folder, "memories.db");
      for (const words of [TOLD, ENDED]) {
        const opened = await createMemory({ path, clock });
        await opened.scope({ user: "ana" }).remember(words);
        await opened.close();
      }
      const opened = await createMemory({ path, clock });
      expect(await listTexts(opened.scope({ user: "ana" }))).toEqual([
        "The user uses Shram as a productivity tool.",
      ]);
      await opened.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a memory that is given its parts", () => {
  it("stores, finds and ends with a store, an embedder and an extractor of the caller's", async () => {
    await using given = await createMemory({
      record: createInMemoryStore(),
      embedder: hashEmbedder(),
      extractor: "rules",
      clock,
    });
    const scope = given.scope({ user: "ana" });
    await scope.remember(TOLD);
    await scope.remember(ENDED);
    expect(await listTexts(scope)).toEqual(["The user uses Shram as a productivity tool."]);
    expect((await scope.recall("Which tools?")).context).toContain("Shram");
  });
});

describe("an assistant with OpenAI's models", () => {
  let server: OpenaiServer;
  beforeEach(async () => {
    server = await openaiServer();
    memory = await createMemory({
      path: ":memory:",
      clock,
      extractor: "model",
      model: openaiModel({ baseUrl: server.url, model: "gpt-4-turbo", tries: 1 }),
      embedder: openaiEmbedder({ baseUrl: server.url, model: "text-embedding-3-small", tries: 1 }),
    });
    ana = memory.scope({ user: "ana" });
  });
  afterEach(async () => {
    await memory.close();
    await server.close();
  });

  it("stores the facts that the model extracts, with the vectors of the embeddings endpoint", async () => {
    server.reply = () =>
      itemsAnswer({ quote: "Shram runs my whole week", what: "Shram", how: "for planning the week" });
    await ana.remember("Honestly, Shram runs my whole week.");
    await ana.understand();
    expect(await listTexts(ana)).toEqual(["The user uses Shram for planning the week."]);
    for await (const { left } of memory.reindex()) expect(left).toBeGreaterThanOrEqual(0);
    const embedded = server.received.filter(({ path }) => path.endsWith("/embeddings"));
    expect(embedded[0]?.body).toMatchObject({ model: "text-embedding-3-small" });
  });

  it("keeps the words of a message, and finds them, when the model's answer is not JSON", async () => {
    server.reply = () => "Sure! Here are some facts about the user.";
    await ana.remember("Honestly, Shram runs my whole week.");
    await ana.understand();
    const { items } = await ana.recall("Shram");
    expect(items[0]?.text).toContain("Shram runs my whole week");
  });

  it("gives the model the relevant memories with the question, and replies in its words", async () => {
    await ana.add({ text: "The user uses Shram as a productivity tool." });
    server.reply = () => "Shram [1].";
    const { text, by } = await ana.answer("What productivity tools do I use?");
    expect([text, by]).toEqual(["Shram.", "model"]);
    const asked = server.received.find(({ path }) => path.endsWith("/chat/completions"));
    expect(asked?.body).toMatchObject({ model: "gpt-4-turbo" });
    expect(asked?.turns.at(-1)?.text).toContain("The user uses Shram as a productivity tool.");
  });
});
