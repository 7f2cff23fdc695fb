import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { openSqliteStore } from "../../adapters/sqlite/index.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import { copyStore, digestStore } from "./copy-store.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-move-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

let source: MemoryStore;
beforeEach(async () => {
  source = createInMemoryStore();
  const memory = await createMemory({ record: source, embedder: hashEmbedder(8) });
  for (const user of ["ana", "bo"]) {
    const of = memory.scope({ user });
    await of.remember("I use a kettle and a teapot. I live in Ghent.");
    await of.remember("I moved to Porto.");
    await of.forget("teapot");
    await of.recall("Where do I live?");
  }
  await memory.close();
});

let count = 0;
const sqlite = () => {
  count += 1;
  return openSqliteStore({ path: join(folder, `${count}.db`) });
};
const digestOf = async ({ dump: whole }: MemoryStore) =>
  whole && (await digestStore(whole, { limit: 100 })).digest;
/** The same record, whose `put` fails at the count-th page. */
const failingAt = (record: MemoryStore, at: number): MemoryStore => {
  const { dump: whole } = record;
  if (!whole) throw new Error("no whole");
  let pages = 0;
  const put: typeof whole.putRows = async (part, rows) => {
    pages += 1;
    if (pages === at) throw new Error("cut off");
    await whole.putRows(part, rows);
  };
  return { ...record, dump: { ...whole, putRows: put } };
};

describe("copying a store", () => {
  it("copies from memory to a file and back, with the same digest everywhere", async () => {
    const [file, back] = [await sqlite(), createInMemoryStore()];
    const there = await copyStore(source, file, { limit: 3 });
    const again = await copyStore(file, back, { limit: 5 });
    expect(again).toEqual(there);
    expect(there.digest).toBe(await digestOf(source));
    expect(there.rows).toMatchObject({ users: 2, messages: 4, erasures: 2 });
    expect(await file.check()).toEqual([]);
    expect(await file.identity()).toBe(await source.identity());
    await file.close();
  });

  it("copies the saved search indexes", async () => {
    const file = await sqlite();
    const scope = { project: "default", user: "bo" };
    const block = { revision: await source.revision(scope), bytes: Uint8Array.of(1, 2, 3) };
    await source.searchIndexes.save(scope, block);
    await copyStore(source, file);
    expect(await file.searchIndexes.read(scope)).toEqual(block);
    await file.close();
  });

  it("resumes after an interruption at any point", async () => {
    const whole = await digestOf(source);
    for (let at = 1; ; at += 3) {
      const file = await sqlite();
      const cut = await copyStore(source, failingAt(file, at), { limit: 2 }).catch(() => undefined);
      if (cut) break;
      await expect(createMemory({ record: file })).rejects.toMatchObject({ code: "unavailable" });
      const moved = await copyStore(source, file, { limit: 2 });
      expect([moved.digest, await digestOf(file)]).toEqual([whole, whole]);
      if (at > 1) expect(moved.resumedAt).toBeGreaterThan(0);
      await (await createMemory({ record: file })).close();
      await file.close();
    }
  });

  it("starts over when the source has changed since the interruption", async () => {
    const file = await sqlite();
    await expect(copyStore(source, failingAt(file, 12), { limit: 2 })).rejects.toThrow("cut off");
    const memory = await createMemory({ record: source, embedder: hashEmbedder(8) });
    await memory.scope({ user: "ana" }).remember("I have a cat.");
    await memory.close();
    expect((await copyStore(source, file, { limit: 2 })).resumedAt).toBe(0);
    expect(await digestOf(file)).toBe(await digestOf(source));
    await file.close();
  });

  it("fails when the source is written to meanwhile, and succeeds when it is not", async () => {
    const file = await sqlite();
    let turn = 0;
    const writing = async (part: string): Promise<void> => {
      if (part !== "log") return;
      turn += 1;
      const base = await source.revision({ project: "default", user: "ana" });
      await source.commit(
        { project: "default", user: "ana" },
        {
          base,
          at: "2026-01-01T00:00:00.000Z",
          cause: "add",
          tombstones: [{ hash: `h${turn}`, of: "words", at: "2026-01-01T00:00:00.000Z" }],
        },
      );
    };
    const { dump: whole } = source;
    if (!whole) throw new Error("no whole");
    const written: MemoryStore = {
      ...source,
      dump: {
        ...whole,
        page: async (part, options) => {
          await writing(part);
          return whole.page(part, options);
        },
      },
    };
    await expect(copyStore(written, file)).rejects.toMatchObject({ code: "conflict" });
    await expect(createMemory({ record: file })).rejects.toMatchObject({ code: "unavailable" });
    expect((await copyStore(source, file)).digest).toBe(await digestOf(file));
    await file.close();
  });

  it("refuses a target with content, one with another unfinished move, and an unfinished source", async () => {
    const [file, other] = [await sqlite(), createInMemoryStore()];
    await expect(copyStore(source, failingAt(file, 5), { limit: 2 })).rejects.toThrow("cut off");
    await expect(copyStore(other, file)).rejects.toMatchObject({ code: "conflict" });
    await expect(copyStore(file, other)).rejects.toMatchObject({ code: "conflict" });
    await expect(copyStore(other, source)).rejects.toMatchObject({ code: "conflict" });
    const { dump: _whole, ...closed } = other;
    await expect(copyStore(closed, other)).rejects.toMatchObject({ code: "unsupported" });
    await file.close();
  });

  it("leaves out index cursors, and detects a row with a swapped position", async () => {
    const scope = { project: "default", user: "ana" };
    await source.jobs.saveProgress("following chroma", [{ scope, visit: { revision: 3 } }]);
    const other = createInMemoryStore();
    await copyStore(source, other);
    expect(
      (await other.jobs.jobProgress("following chroma", { limit: 9 })).users.every(({ visit }) => !visit),
    ).toBe(true);
    const { dump: whole } = other;
    if (!whole) throw new Error("no whole");
    const page: typeof whole.page = async (part, options) => {
      const found = await whole.page(part, options);
      return part === "versions" ? { ...found, rows: found.rows.toReversed() } : found;
    };
    expect((await digestStore({ ...whole, page }, { limit: 100 })).digest).not.toBe(await digestOf(source));
  });
});
