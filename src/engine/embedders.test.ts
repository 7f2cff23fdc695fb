import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../adapters/memory/index.ts";
import { openSqliteStore } from "../adapters/sqlite/index.ts";
import { MemoryError } from "../errors.ts";
import type { Keepsake } from "../index.ts";
import { createMemory } from "../memory.ts";
import type { MemoryOptions } from "../memory-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import { spaceOf } from "./search-index/search-units.ts";

const ANA = { project: "default", user: "ana" };
const BEN = { project: "default", user: "ben" };

/** Words of ana, and of ben: each belongs to one of them, and so to one space. */
const OF_ANA = "The user keeps a walrus named Piet.";
const OF_BEN = "The user collects brass compasses.";
const ANA_WORDS = /walrus|piet|marine/i;
const BEN_WORDS = /compass|brass|navigation/i;

interface TestEmbedder extends Embedder {
  readonly asked: string[];
}

/**
 * An embedder with dimensions of its own, which throws if it is given words that it must never see. Its texts about animals of the
 * sea, and those about instruments, have one direction each.
 */
function makeEmbedder(
  name: string,
  dimensions: number,
  forbidden?: RegExp,
  more: Partial<Embedder> = {},
): TestEmbedder {
  const asked: string[] = [];
  return {
    fingerprint: `${name}/${dimensions}`,
    dimensions,
    local: true,
    floor: 0.4,
    asked,
    async embed(texts) {
      return texts.map((text) => {
        if (forbidden?.test(text)) throw new Error(`${name} was given a text of another space`);
        asked.push(text);
        const vector = new Float32Array(dimensions);
        vector[ANA_WORDS.test(text) ? 0 : BEN_WORDS.test(text) ? 1 : 2 + (text.length % (dimensions - 2))] =
          1;
        return vector;
      });
    },
    ...more,
  };
}

async function embedAll(memory: Keepsake): Promise<void> {
  for await (const _step of memory.reindex());
}

describe("embedders of users and projects", () => {
  let folder: string;
  let path: string;
  const opened: Keepsake[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keepsake-embedders-"));
    path = join(folder, "memory.db");
  });
  afterEach(async () => {
    for (const memory of opened.splice(0)) await memory.close();
    rmSync(folder, { recursive: true });
  });

  async function open(options: MemoryOptions): Promise<Keepsake> {
    const memory = await createMemory({ path, jobs: "elsewhere", ...options });
    opened.push(memory);
    return memory;
  }

  /** The spaces and dimensions of a user's vectors, as they are stored. */
  async function readSpaces(user: string): Promise<string[]> {
    const store = await openSqliteStore({ path });
    const { units } = await store.since({ project: "default", user }, 0);
    await store.close();
    return [...new Set(units.map(({ space, vector }) => `${space} ${vector.length}`))];
  }

  const lineOf = (embedder: Embedder): string => `${spaceOf(embedder)} ${embedder.dimensions}`;

  for (const store of ["a file", "memory", "a file with threads"]) {
    it(`keep the texts, queries and vectors of two users apart, in ${store}`, async () => {
      const small = makeEmbedder("small", 8, ANA_WORDS);
      const large = makeEmbedder("large", 16, BEN_WORDS);
      const record = store === "memory" ? { record: createInMemoryStore() } : {};
      const memory = await open({
        embedder: small,
        embedders: { large },
        ...record,
        ...(store === "a file with threads" ? { inThreads: true } : {}),
      });
      expect(await memory.embedders.choose("large", ANA)).toEqual({
        ...ANA,
        embedder: "large",
        from: "user",
      });
      const [ana, ben] = [memory.scope(ANA), memory.scope(BEN)];
      await ana.remember("I keep a walrus named Piet.");
      await ana.add({ text: OF_ANA });
      await ben.add({ text: OF_BEN });
      // No word in common: only a vector finds it.
      const byVector = await Promise.all([ana.recall("marine?"), ben.recall("navigation?")]);
      expect(byVector.map(({ items }) => items.some(({ text }) => [OF_ANA, OF_BEN].includes(text)))).toEqual([
        true,
        true,
      ]);
      await ana.answer("What is my walrus called?");
      await ana.context("marine?");
      await ana.clusters();
      await ana.optimize({ dryRun: true });
      expect((await ana.list()).total).toBeGreaterThan(0);
      for await (const line of ana.export()) expect(line).toBeDefined();
      const parts: string[] = [];
      for await (const part of ana.answerStream("What is my walrus called?")) parts.push(part);
      expect(parts.join("")).toContain("Piet");
      await ana.converse("What is my walrus called?");
      expect((await ana.forget("walrus")).complete).toBe(true);
      expect((await ana.recall("marine?")).items).toEqual([]);
      expect((await ben.recall("navigation?")).items).toHaveLength(1);
      expect(large.asked.some((text) => ANA_WORDS.test(text))).toBe(true);
      expect(small.asked.some((text) => BEN_WORDS.test(text))).toBe(true);
      expect(await memory.embedding()).toMatchObject({ left: 0 });
    });
  }

  it("apply to a whole project, unless a user has a choice of their own", async () => {
    const memory = await open({
      embedder: makeEmbedder("small", 8),
      embedders: { large: makeEmbedder("large", 16) },
    });
    const { embedders } = memory;
    expect(embedders.names).toEqual(["default", "large"]);
    expect(await embedders.get(ANA)).toEqual({ ...ANA, embedder: "default", from: "default" });
    await embedders.choose("large");
    expect(await embedders.get(ANA)).toEqual({ ...ANA, embedder: "large", from: "project" });
    expect(await embedders.choose("default", { user: "ben" })).toMatchObject({
      embedder: "default",
      from: "user",
    });
    expect(await embedders.get({ project: "other" })).toMatchObject({ embedder: "default", from: "default" });
    for (const user of ["ana", "ben"]) await memory.scope({ user }).add({ text: OF_ANA });
    await memory.scope({ project: "other", user: "ana" }).add({ text: OF_ANA });
    expect(await readSpaces("ana")).toEqual([lineOf(makeEmbedder("large", 16))]);
    expect(await readSpaces("ben")).toEqual([lineOf(makeEmbedder("small", 8))]);
    expect(await memory.embedding()).toMatchObject({ left: 0 });
    expect(await embedders.list()).toEqual([
      { project: "default", embedder: "large" },
      { ...BEN, embedder: "default" },
    ]);
    expect(await embedders.choose(null, { user: "ben" })).toMatchObject({
      embedder: "large",
      from: "project",
    });
    expect(await memory.embedding()).toMatchObject({ left: 1 });
    await expect(embedders.choose("unknown", ANA)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(embedders.choose("large", { user: "" })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("change while the memory runs: what is stored is embedded anew, and a search uses one space only", async () => {
    const small = makeEmbedder("small", 8);
    const large = makeEmbedder("large", 16, BEN_WORDS);
    const memory = await open({ embedder: small, embedders: { large } });
    const [ana, ben] = [memory.scope(ANA), memory.scope(BEN)];
    await ana.add({ text: OF_ANA });
    await ben.add({ text: OF_BEN });
    expect((await ana.recall("marine?")).items).toHaveLength(1);
    await memory.embedders.choose("large", ANA);
    const asked = small.asked.length;
    // The old vector is not compared with the new query; the words still find it.
    expect((await ana.recall("marine?")).items).toEqual([]);
    expect((await ana.recall("walrus")).items).toHaveLength(1);
    expect(await memory.embedding()).toMatchObject({ left: 1 });
    await embedAll(memory);
    expect((await ana.recall("marine?")).items).toHaveLength(1);
    expect((await ana.recall("walrus")).items).toHaveLength(1);
    expect(small.asked).toHaveLength(asked);
    expect(await readSpaces("ana")).toEqual([lineOf(large)]);
    expect(await readSpaces("ben")).toEqual([lineOf(small)]);
    await memory.embedders.choose(null, ANA);
    await embedAll(memory);
    expect(await readSpaces("ana")).toEqual([lineOf(small)]);
    expect((await ana.recall("marine?")).items).toHaveLength(1);
  });

  it("start embedding anew by themselves after a change", async () => {
    const large = makeEmbedder("large", 16);
    const memory = await open({ embedder: makeEmbedder("small", 8), embedders: { large }, jobs: "here" });
    await memory.scope(ANA).add({ text: OF_ANA });
    await memory.embedders.choose("large", ANA);
    await expect.poll(() => memory.embedding(), { timeout: 10_000 }).toMatchObject({ left: 0 });
    expect(await readSpaces("ana")).toEqual([lineOf(large)]);
  });

  it("are changed by another process on the same file, and apply here at the next call", async () => {
    const options = () => ({
      embedder: makeEmbedder("small", 8),
      embedders: { large: makeEmbedder("large", 16) },
    });
    const [here, there] = [await open(options()), await open(options())];
    const ana = here.scope(ANA);
    await ana.add({ text: OF_ANA });
    expect((await ana.recall("marine?")).items).toHaveLength(1);
    await there.embedders.choose("large", ANA);
    expect((await ana.recall("marine?")).items).toEqual([]);
    await embedAll(there);
    expect((await ana.recall("marine?")).items).toHaveLength(1);
    await ana.add({ text: "The user feeds the walrus herring." });
    expect(await readSpaces("ana")).toEqual([lineOf(makeEmbedder("large", 16))]);
  });

  it("are left alone by a process that lacks one: it searches by words and embeds nothing for these users", async () => {
    const small = makeEmbedder("small", 8);
    const all = await open({ embedder: small, embedders: { large: makeEmbedder("large", 16) } });
    await all.embedders.choose("large", ANA);
    await all.scope(ANA).add({ text: OF_ANA });
    const other = makeEmbedder("small", 8, ANA_WORDS);
    const lacking = await open({
      embedder: other,
      embedders: { third: makeEmbedder("third", 4, ANA_WORDS) },
    });
    const ana = lacking.scope(ANA);
    expect((await ana.recall("marine?")).items).toEqual([]);
    expect((await ana.recall("walrus")).items).toHaveLength(1);
    await ana.add({ text: "The user feeds the walrus herring." });
    expect((await ana.answer("Who does the user keep?")).text).toBeDefined();
    await embedAll(lacking);
    expect(await lacking.embedding()).toMatchObject({ left: 0 });
    expect(await all.embedding()).toMatchObject({ left: 1 });
    const bare = await open({ embedder: small });
    await embedAll(bare);
    expect(await all.embedding()).toMatchObject({ left: 1 });
    await embedAll(all);
    expect(await readSpaces("ana")).toEqual([lineOf(makeEmbedder("large", 16))]);
  });

  it("do not prevent the start if one cannot be opened: its users are searched by words, and told why", async () => {
    const missing = new MemoryError("unsupported", "the package is missing: npm install it");
    const small = makeEmbedder("small", 8);
    const large = makeEmbedder("large", 16);
    const all = await open({ embedder: small, embedders: { large } });
    await all.embedders.choose("large", ANA);
    await all.scope(ANA).add({ text: OF_ANA });
    const memory = await open({
      embedder: makeEmbedder("small", 8, ANA_WORDS),
      embedders: { large: () => Promise.reject(missing), third: makeEmbedder("third", 4) },
    });
    expect(memory.notices).toEqual([
      'The embedder "large" cannot be opened; texts of its users are found by their words. The package is missing: npm install it',
    ]);
    expect(memory.embedders.names).toEqual(["default", "large", "third"]);
    const ana = memory.scope(ANA);
    expect((await ana.recall("marine?")).items).toEqual([]);
    expect((await ana.recall("walrus")).items).toHaveLength(1);
    await ana.add({ text: "The user feeds the walrus herring." });
    const opening = { code: "unsupported", message: expect.stringContaining('"large" could not be opened') };
    await expect(embedAll(memory)).rejects.toMatchObject(opening);
    await expect(memory.embedders.choose("large", BEN)).rejects.toMatchObject(opening);
    await memory.scope(BEN).add({ text: OF_BEN });
    expect((await memory.scope(BEN).recall("navigation?")).items).toHaveLength(1);
    await embedAll(all);
    expect(await readSpaces("ana")).toEqual([lineOf(large)]);
  });

  it("prevent the start if an option of one is wrong", async () => {
    const wrong = new MemoryError("invalid_input", "dimensions: a number from 1 to 4096");
    await expect(open({ embedders: { large: () => Promise.reject(wrong) } })).rejects.toBe(wrong);
  });

  it("are not held up by one that is down", async () => {
    const down = makeEmbedder("down", 8, undefined, {
      async embed() {
        throw new Error("it is down");
      },
    });
    const memory = await open({
      embedder: makeEmbedder("small", 8),
      embedders: { down, large: makeEmbedder("large", 16) },
    });
    for (const scope of [ANA, BEN]) await memory.scope(scope).add({ text: OF_ANA });
    await memory.embedders.choose("down", ANA);
    await memory.embedders.choose("large", BEN);
    await expect(embedAll(memory)).rejects.toThrow("it is down");
    expect(await readSpaces("ben")).toEqual([lineOf(makeEmbedder("large", 16))]);
    expect(await readSpaces("ana")).toEqual([lineOf(makeEmbedder("small", 8))]);
  });

  it("leave nothing of what is erased while it is embedded anew, in either space", async () => {
    const evicted: string[] = [];
    const small = makeEmbedder("small", 8, undefined, { cache: { clear: () => void evicted.push("small") } });
    let onEmbed: (() => Promise<void>) | undefined;
    const large = makeEmbedder("large", 16, undefined, {
      local: false,
      patienceMs: 1000,
      cache: { clear: () => void evicted.push("large") },
    });
    const slow: Embedder = {
      ...large,
      async embed(texts) {
        await onEmbed?.();
        return large.embed(texts);
      },
    };
    const memory = await open({ embedder: small, embedders: { large: slow } });
    const ana = memory.scope(ANA);
    for (let i = 0; i < 150; i += 1)
      await ana.add({ text: `The user has put key ${i * 7} into drawer ${i}.` });
    await ana.add({ text: OF_ANA });
    expect((await ana.recall("marine?")).items).toHaveLength(1);
    await memory.embedders.choose("large", ANA);
    expect((await ana.recall("walrus")).items).toHaveLength(1);
    let receipt: Awaited<ReturnType<typeof ana.forget>> | undefined;
    onEmbed = async () => {
      onEmbed = undefined;
      receipt = await ana.forget("walrus");
    };
    await embedAll(memory);
    expect(receipt).toMatchObject({ complete: true, erased: { memories: 1 } });
    expect(new Set(evicted)).toEqual(new Set(["small", "large"]));
    await embedAll(memory);
    expect(await memory.embedding()).toMatchObject({ left: 0 });
    expect(await readSpaces("ana")).toEqual([lineOf(large)]);
    for (const query of ["marine?", "walrus"]) expect((await ana.recall(query)).items).toEqual([]);
    expect(await memory.check()).toEqual([]);
    // The choice is a setting: it is no memory, and stays.
    expect(await memory.embedders.get(ANA)).toMatchObject({ embedder: "large" });
  });

  it("are named by letters and digits, and none is called default", async () => {
    for (const name of ["default", "", "two words", "-x"]) {
      await expect(open({ embedders: { [name]: makeEmbedder("large", 16) } })).rejects.toMatchObject({
        code: "invalid_input",
      });
    }
  });
});
