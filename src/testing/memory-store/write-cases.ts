import { expect } from "vitest";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeTrace,
  makeUnit,
} from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, readContents } from "./store-contents.ts";

/** Guarantees of `commit`. */
export const WRITE_CASES: MemoryStoreCases = {
  "raises the revision by one with each commit, and logs its ids, newest first": async (store) => {
    expect(await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }))).toBe(1);
    const second = makeChangeSet({ base: 1, cause: "undo", undoes: 1, memories: [makeMemory("a")] });
    expect(await store.commit(ANN, second)).toBe(2);
    expect(await store.revision(ANN)).toBe(2);
    expect(await store.log(ANN, { limit: 10 })).toEqual([
      {
        revision: 2,
        at: BASE_TIME,
        cause: "undo",
        undoes: 1,
        messages: [],
        memories: [{ id: "a", version: 1, action: "added" }],
        erased: [],
      },
      { revision: 1, at: BASE_TIME, cause: "remember", messages: ["m1"], memories: [], erased: [] },
    ]);
    expect((await store.log(ANN, { limit: 1, before: 2 })).map(({ revision }) => revision)).toEqual([1]);
  },

  "names in the log who read stored messages": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    await store.commit(ANN, makeChangeSet({ base: 1, cause: "digest", extractor: "local" }));
    await store.commit(ANN, makeChangeSet({ base: 2, cause: "digest", extractor: "model" }));
    const log = await store.log(ANN, { limit: 10 });
    expect(log.map(({ extractor }) => extractor)).toEqual(["model", "local", undefined]);
  },

  "rejects a change-set with another base and changes nothing": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const before = await readContents(store, ANN);
    for (const base of [0, 2]) {
      await expect(
        store.commit(ANN, makeChangeSet({ base, messages: [makeMessage("m2")] })),
      ).rejects.toMatchObject({
        code: "conflict",
      });
    }
    expect(await readContents(store, ANN)).toEqual(before);
  },

  "applies a change-set completely or not at all": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")], memories: [makeMemory("a")] }));
    const before = await readContents(store, ANN);
    const wrong = [
      makeChangeSet({
        base: 1,
        memories: [makeMemory("b")],
        messages: [makeMessage("m2"), makeMessage("m1")],
      }),
      makeChangeSet({ base: 1, messages: [makeMessage("m2"), makeMessage("m2")] }),
      makeChangeSet({
        base: 1,
        messages: [makeMessage("m2")],
        memories: [makeMemory("b"), makeMemory("a", 3)],
      }),
      makeChangeSet({
        base: 1,
        tombstones: [{ hash: "t", of: "claim", at: BASE_TIME }],
        memories: [makeMemory("a", 1)],
      }),
      makeChangeSet({ base: 1, messages: [makeMessage("m2")], digests: [{ id: "nobody", digest: "done" }] }),
      makeChangeSet({
        base: 1,
        messages: [makeMessage("m2")],
        links: [{ from: "a", type: "extends", to: "nobody", strength: 1 }],
      }),
    ];
    for (const one of wrong) await expect(store.commit(ANN, one)).rejects.toMatchObject({ code: "conflict" });
    expect(await readContents(store, ANN)).toEqual(before);
  },

  "numbers the turns of messages in order, across commits": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("z"), makeMessage("a")] }));
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m")] }));
    const { messages } = await store.since(ANN, 0);
    expect(messages.map(({ id, turn }) => [id, turn])).toEqual([
      ["z", 1],
      ["a", 2],
      ["m", 3],
    ]);
  },

  "stores versions of a memory in order, also several in one change-set, and returns the newest": async (
    store,
  ) => {
    await store.commit(
      ANN,
      makeChangeSet({ memories: [makeMemory("a", 1), makeMemory("b", 1), makeMemory("a", 2)] }),
    );
    await store.commit(ANN, makeChangeSet({ base: 1, memories: [makeMemory("a", 3)] }));
    expect((await store.versions(ANN, "a")).map(({ version, revision }) => [version, revision])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ]);
    expect((await store.since(ANN, 0)).memories.map(({ id, version }) => [id, version])).toEqual([
      ["a", 3],
      ["b", 1],
    ]);
    expect((await store.since(ANN, 1)).memories.map(({ id }) => id)).toEqual(["a"]);
  },

  "sets, changes and removes links, and logs them by id": async (store) => {
    const link = (from: string, strength: number) => ({
      from,
      type: "depends_on" as const,
      to: "b",
      strength,
    });
    const memories = ["a", "b", "c"].map((id) => makeMemory(id));
    await store.commit(ANN, makeChangeSet({ memories, links: [link("c", 0), link("a", 0.25)] }));
    await store.commit(BOB, makeChangeSet({ memories, links: [link("a", 1)] }));
    expect((await store.since(ANN, 0)).links).toEqual([link("a", 0.25), link("c", 0)]);
    const other = { ...link("a", 1), type: "extends" as const };
    const changed = { base: 1, dropLinks: [link("a", 0.25), other], links: [link("a", 0.75)] };
    await store.commit(ANN, makeChangeSet(changed));
    expect((await store.since(ANN, 1)).links).toEqual([link("a", 0.75), link("c", 0)]);
    await store.commit(ANN, makeChangeSet({ base: 2, dropLinks: [link("a", 0.75), link("nobody", 1)] }));
    expect((await store.since(ANN, 0)).links).toEqual([link("c", 0)]);
    expect((await store.since(BOB, 0)).links).toEqual([link("a", 1)]);
    const log = await store.log(ANN, { limit: 10 });
    expect(log.map(({ linked, unlinked }) => [linked, unlinked])).toEqual([
      [undefined, [link("a", 0.75), link("nobody", 1)]],
      [[link("a", 0.75)], [link("a", 0.25), other]],
      [[link("c", 0), link("a", 0.25)], undefined],
    ]);
  },

  "keeps tombstones until they are lifted": async (store) => {
    await store.commit(
      ANN,
      makeChangeSet({
        tombstones: [
          { hash: "b", of: "words", at: BASE_TIME },
          { hash: "a", of: "claim", at: BASE_TIME },
        ],
      }),
    );
    expect((await store.since(ANN, 1)).tombstones.map(({ hash }) => hash)).toEqual(["a", "b"]);
    await store.commit(ANN, makeChangeSet({ base: 1, liftTombstones: ["a", "nobody"] }));
    expect((await store.since(ANN, 2)).tombstones).toEqual([{ hash: "b", of: "words", at: BASE_TIME }]);
  },

  "finds a receipt under its key, with its revision": async (store) => {
    const receipt = {
      key: "k",
      body: "b",
      messages: ["m1"],
      memories: [{ id: "a", action: "added" as const, version: 1 }],
      pending: 0,
    };
    await store.commit(ANN, makeChangeSet({ receipt }));
    expect(await store.receipt(ANN, "k")).toEqual({ ...receipt, revision: 1 });
    expect(await store.receipt(BOB, "k")).toBeUndefined();
  },

  "returns data that the caller may keep": async (store) => {
    const given = makeMessage("m1", { metadata: { tag: "x" } });
    await store.commit(ANN, makeChangeSet({ messages: [given], units: [makeUnit("m1#0", "passage", "m1")] }));
    const [unit] = (await store.since(ANN, 0)).units;
    unit?.vector.fill(9);
    Object.assign(given.metadata ?? {}, { tag: "y" });
    const again = await store.since(ANN, 0);
    expect(again.units[0]?.vector[0]).toBe(0.5);
    expect(again.messages[0]?.metadata).toEqual({ tag: "x" });
  },

  "marks an undone message, and can restore it": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1", { digest: "pending" })] }));
    await store.commit(
      ANN,
      makeChangeSet({ base: 1, digests: [{ id: "m1", digest: "done", undone: true }] }),
    );
    expect((await store.since(ANN, 1)).messages[0]).toMatchObject({ digest: "done", undone: true });
    await store.commit(ANN, makeChangeSet({ base: 2, digests: [{ id: "m1", digest: "never" }] }));
    expect((await store.since(ANN, 2)).messages[0]).toMatchObject({ digest: "never", undone: true });
    await store.commit(
      ANN,
      makeChangeSet({ base: 3, digests: [{ id: "m1", digest: "done", undone: false }] }),
    );
    expect((await store.since(ANN, 3)).messages[0]).not.toHaveProperty("undone");
  },

  "marks a message that waits for a model as heard until it is done": async (store) => {
    const waiting = makeMessage("m1", { digest: "pending", heard: true });
    await store.commit(ANN, makeChangeSet({ messages: [waiting, makeMessage("m2", { digest: "pending" })] }));
    expect((await store.since(ANN, 0)).messages.map(({ heard }) => heard)).toEqual([true, undefined]);
    const heard = { id: "m2", digest: "pending", heard: true } as const;
    await store.commit(ANN, makeChangeSet({ base: 1, digests: [heard, { id: "m1", digest: "pending" }] }));
    expect((await store.since(ANN, 0)).messages.map(({ heard: is }) => is)).toEqual([true, true]);
    await store.commit(ANN, makeChangeSet({ base: 2, digests: [{ id: "m1", digest: "done" }] }));
    expect((await store.since(ANN, 2)).messages[0]).not.toHaveProperty("heard");
  },

  "keeps units that a change-set drops and puts again": async (store) => {
    const [old, fresh] = [
      makeUnit("m1#0", "passage", "m1", "old"),
      makeUnit("m1#0", "passage", "m1", "fresh"),
    ];
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")], units: [old] }));
    await store.commit(ANN, makeChangeSet({ base: 1, dropUnits: ["m1#0"], units: [fresh] }));
    expect(await store.since(ANN, 1)).toMatchObject({ units: [fresh], gone: { units: [] } });
  },
};

/** Guarantees of an erasure. */
export const ERASURE_CASES: MemoryStoreCases = {
  "erases memories with all versions, units and links, and words of messages, and keeps the log": async (
    store,
  ) => {
    const first = makeChangeSet({
      messages: [
        makeMessage("m1", {
          content: "zebra and lion",
          metadata: { tag: "zebra" },
          parts: [{ type: "text", text: "zebra and lion" }],
        }),
      ],
      memories: [
        makeMemory("a", 1, { text: "zebra" }),
        makeMemory("a", 2, { text: "zebras" }),
        makeMemory("b", 1, { text: "lion" }),
      ],
      units: [
        makeUnit("a", "memory", "a", "zebra"),
        makeUnit("m1#0", "passage", "m1", "zebra lion"),
        makeUnit("b", "memory", "b"),
      ],
      links: [{ from: "b", type: "extends", to: "a", strength: 1 }],
    });
    await store.commit(ANN, first);
    const log = await store.log(ANN, { limit: 10 });
    await store.commit(
      ANN,
      makeChangeSet({
        base: 1,
        cause: "forget",
        dropUnits: ["m1#0"],
        units: [makeUnit("m1#0", "passage", "m1", "lion")],
        erase: {
          messages: [{ id: "m1", content: "lion", keepMetadata: false }],
          memories: ["a"],
          rewrites: [
            makeMemory("b", 1, {
              text: "lion",
              sources: [{ message: "m1", start: 0, end: 4, quote: "lion" }],
              revision: 1,
            }),
          ],
          receipt: makeErasureReceipt("e1"),
        },
      }),
    );
    const left = await readContents(store, ANN);
    expect(JSON.stringify(left)).not.toContain("zebra");
    expect(left.all.links).toEqual([]);
    expect(left.all.memories.map(({ id, sources }) => [id, sources.length])).toEqual([["b", 1]]);
    expect((await store.since(ANN, 1)).gone.memories).toEqual(["a"]);
    expect((await store.since(ANN, 1)).memories.map(({ id }) => id)).toEqual(["b"]);
    expect((await store.log(ANN, { limit: 10 })).slice(1)).toEqual(log);
    expect((await store.log(ANN, { limit: 1 }))[0]?.erased).toEqual(["m1", "a"]);
    expect((await store.erasures.scrub(ANN, ["zebra"])).every(({ found }) => found === 0)).toBe(true);
    expect((await store.erasures.scrub(ANN, ["LION"])).some(({ found }) => found === 1)).toBe(true);
  },

  "erases the name of the speaker with the last words of a message, and not before": async (store) => {
    const messages = ["m1", "m2"].map((id) => makeMessage(id, { name: "Zebra", content: "zebra and lion" }));
    await store.commit(ANN, makeChangeSet({ messages }));
    const erase = {
      messages: [
        { id: "m1", content: "lion", keepMetadata: false },
        { id: "m2", content: "", keepMetadata: false },
      ],
      memories: [],
      rewrites: [],
      receipt: makeErasureReceipt("e1"),
    };
    await store.commit(ANN, makeChangeSet({ base: 1, cause: "forget", erase }));
    expect((await store.since(ANN, 0)).messages.map(({ name }) => name)).toEqual(["Zebra", undefined]);
  },

  "returns erasure receipts in the order in which they were made, and seals them again": async (store) => {
    const erase = (id: string) => ({
      messages: [],
      memories: [],
      rewrites: [],
      receipt: makeErasureReceipt(id),
    });
    await store.commit(ANN, makeChangeSet({ erase: erase("z") }));
    await store.commit(BOB, makeChangeSet({ erase: erase("b") }));
    await store.commit(ANN, makeChangeSet({ base: 1, erase: erase("a") }));
    await store.erasures.seal(ANN, makeErasureReceipt("z", { complete: true }));
    expect((await store.erasures.list()).map(({ id }) => id)).toEqual(["z", "b", "a"]);
    expect((await store.erasures.list(ANN)).map(({ id, complete }) => [id, complete])).toEqual([
      ["z", true],
      ["a", false],
    ]);
    await expect(store.erasures.seal(ANN, makeErasureReceipt("b"))).rejects.toMatchObject({
      code: "not_found",
    });
  },

  "a complete receipt stays as it is when it is sealed again": async (store) => {
    const erase = { messages: [], memories: [], rewrites: [], receipt: makeErasureReceipt("z") };
    await store.commit(ANN, makeChangeSet({ erase }));
    const verified = [{ place: "x", found: 0 }];
    await store.erasures.seal(ANN, makeErasureReceipt("z", { verified: [{ place: "x", found: 1 }] }));
    await store.erasures.seal(ANN, makeErasureReceipt("z", { verified, complete: true }));
    await store.erasures.seal(ANN, makeErasureReceipt("z", { verified: [{ place: "late", found: 0 }] }));
    expect(await store.erasures.list(ANN)).toMatchObject([{ id: "z", verified, complete: true }]);
    await store.erasures.seal(ANN, makeErasureReceipt("z", { verified: [], complete: true }));
    expect(await store.erasures.list(ANN)).toMatchObject([{ id: "z", verified, complete: true }]);
  },

  "returns traces by ids and positions in the order of the erasures, and never changes them": async (
    store,
  ) => {
    const erase = (id: string, user: string) => ({
      messages: [],
      memories: [],
      rewrites: [],
      receipt: makeErasureReceipt(id),
      trace: makeTrace(id, user),
    });
    await store.commit(ANN, makeChangeSet({ erase: erase("z", "ann") }));
    await store.commit(BOB, makeChangeSet({ erase: erase("b", "bob") }));
    const { trace: _none, ...bare } = erase("old", "ann");
    await store.commit(ANN, makeChangeSet({ base: 1, erase: bare }));
    await store.commit(ANN, makeChangeSet({ base: 2, erase: erase("a", "ann") }));
    await store.erasures.seal(ANN, makeErasureReceipt("z", { complete: true }));
    expect(await store.erasures.traces()).toEqual([
      makeTrace("z", "ann"),
      makeTrace("b", "bob"),
      makeTrace("a", "ann"),
    ]);
    expect(await store.erasures.traces(BOB)).toEqual([makeTrace("b", "bob")]);
    const mark = { project: "default", user: "ann", hasTrace: true, isVerified: false, isComplete: false };
    expect(await store.erasures.summaries()).toEqual([
      { ...mark, receipt: "z", isComplete: true },
      { ...mark, receipt: "b", user: "bob" },
      { ...mark, receipt: "old", hasTrace: false },
      { ...mark, receipt: "a" },
    ]);
    const again = { verified: [{ place: "x", found: 1 }], replays: "z" };
    await store.erasures.seal(ANN, makeErasureReceipt("a", again));
    expect((await store.erasures.summaries()).at(-1)).toEqual({
      ...mark,
      receipt: "a",
      replays: "z",
      isVerified: true,
    });
    await expect(store.commit(ANN, makeChangeSet({ base: 1, erase: erase("c", "ann") }))).rejects.toThrow();
    expect(await store.erasures.traces()).toHaveLength(3);
  },

  "counts what depends on memories in its own scope, each thing once": async (store) => {
    const receipt = (key: string, ...ids: string[]) => ({
      key,
      body: "b",
      messages: [],
      memories: ids.map((id) => ({ id, action: "added" as const, version: 1 })),
      pending: 0,
    });
    const memories = ["a", "b", "c"].map((id) => makeMemory(id));
    const link = (from: string, to: string) => ({ from, type: "extends" as const, to, strength: 1 });
    for (const scope of [ANN, BOB]) {
      await store.commit(
        scope,
        makeChangeSet({
          memories,
          links: [link("a", "b"), link("b", "c")],
          receipt: receipt("k1", "a", "b"),
        }),
      );
      await store.commit(scope, makeChangeSet({ base: 1, receipt: receipt("k2", "c") }));
    }
    await store.searchIndexes.save(ANN, { revision: 2, bytes: Uint8Array.of(1) });
    expect(await store.erasures.countDependents(ANN, ["a", "b"])).toEqual({
      links: 2,
      blocks: 1,
      answers: 1,
    });
    expect(await store.erasures.countDependents(BOB, ["a"])).toEqual({ links: 1, blocks: 0, answers: 1 });
    expect(await store.erasures.countDependents(ANN, ["nobody"])).toEqual({
      links: 0,
      blocks: 1,
      answers: 0,
    });
    expect(await store.erasures.countDependents({ project: "default", user: "nobody" }, ["a"])).toEqual({
      links: 0,
      blocks: 0,
      answers: 0,
    });
  },
};
