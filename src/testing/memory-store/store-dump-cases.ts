import { expect } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeAttachment } from "./attachment-cases.ts";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeRecallReceipt,
  makeTrace,
  makeUnit,
} from "./change-sets.ts";
import { makeGrant, makeGroup } from "./sharing-cases.ts";
import {
  ANN,
  BOB,
  copyAll,
  type MemoryStoreCases,
  makeFullChangeSet,
  readAllRows,
  readContents,
  requireStoreDump,
} from "./store-contents.ts";

const LIMITS = { outdated: BASE_TIME, abandoned: BASE_TIME };
const OTHER = { project: "other", user: "ann" };

/**
 * Rows in every part, for three users: two versions, an erasure with its trace, finished and started answers.
 */
export async function writeHistory(store: MemoryStore): Promise<void> {
  await store.commit(BOB, makeFullChangeSet("b"));
  await store.commit(ANN, makeChangeSet({ memories: [makeMemory("z"), makeMemory("a")] }));
  await store.commit(ANN, { ...makeFullChangeSet("0"), base: 1 });
  await store.commit(
    OTHER,
    makeChangeSet({
      messages: [makeMessage("m1"), makeMessage("m2", { digest: "pending" })],
      attachments: [makeAttachment("d2"), makeAttachment("d1", [1])],
    }),
  );
  await store.answers.beginAnswer(ANN, { key: "done", request: "r", at: BASE_TIME }, LIMITS);
  await store.answers.endAnswer(ANN, "done", { status: 201, headers: { location: "/x" }, body: "{}" }, []);
  await store.answers.beginAnswer(BOB, { key: "begun", request: "r", at: BASE_TIME }, LIMITS);
  await store.answers.beginAnswer(
    { project: "p", user: "nobody" },
    { key: "k", request: "r", at: BASE_TIME },
    LIMITS,
  );
  await store.commit(
    ANN,
    makeChangeSet({
      base: 2,
      memories: [makeMemory("a", 2), makeMemory("memory-0", 2, { status: "superseded" })],
      units: [{ ...makeUnit("a", "memory", "a"), space: "", vector: new Float32Array(0) }],
      dropUnits: ["message-0#0"],
    }),
  );
  await store.commit(
    BOB,
    makeChangeSet({
      base: 1,
      erase: {
        messages: [{ id: "message-b", content: "", keepMetadata: false }],
        memories: ["other-b"],
        rewrites: [],
        receipt: makeErasureReceipt("e2"),
        trace: makeTrace("e2", "bob"),
      },
    }),
  );
  for (const id of ["r2", "r1"])
    await store.recallReceipts.save([{ scope: ANN, receipts: [makeRecallReceipt(id)] }]);
  await store.usage?.add([
    { scope: ANN, uses: [{ id: "z", count: 3, lastAt: BASE_TIME }] },
    { scope: BOB, uses: [{ id: "memory-b", count: 1, lastAt: BASE_TIME }] },
  ]);
  await store.sharing?.apply("default", {
    put: [makeGroup("home", ["bob"]), makeGrant("z", { reader: { group: "home" } }), makeGrant("a")],
  });
  await store.embedders?.save({ project: "other", embedder: "small" });
  await store.embedders?.save({ ...ANN, embedder: "large" });
  await store.sharing?.apply("other", { put: [makeGrant("a", { project: "other", owner: "nobody" })] });
  await store.jobs.saveProgress("expiry", [{ scope: ANN, visit: { revision: 2, due: BASE_TIME, found: 1 } }]);
  const failed = { attempts: 2, problem: "internal", at: BASE_TIME };
  await store.jobs.saveProgress("decay", [{ scope: BOB, visit: { revision: 1, failed } }]);
  await store.jobs.saveJobRun({ name: "expiry", at: BASE_TIME, tookMs: 1.5, done: 2, attempts: 0 });
  for (const name of ["second.db", "first.db"]) {
    await store.backups.save({ name, at: BASE_TIME, bytes: 7, digest: "d" });
  }
}

/** All data that the core and the capabilities of a store give of that history. */
export const readEverything = async (store: MemoryStore): Promise<unknown> => ({
  dumps: await Promise.all([ANN, BOB, OTHER].map((scope) => readContents(store, scope))),
  recalls: await Promise.all([ANN, BOB].map((scope) => store.recallReceipts.list(scope, { limit: 10 }))),
  uses: await store.usage?.read(ANN),
  shares: await Promise.all([ANN, BOB, OTHER].map((scope) => store.sharing?.read(scope))),
  attachments: await Promise.all(["d1", "d2"].map((digest) => store.attachments?.read(OTHER, digest))),
  embedders: await Promise.all(["default", "other"].map((project) => store.embedders?.list(project))),
  visits: await store.jobs.jobProgress("expiry", { limit: 10 }),
  waiting: await store.jobs.usersWithPendingMessages("2030-01-01T00:00:00.000Z", 10),
  marks: await store.erasures.summaries(),
  current: await store.jobs.currentMemories(ANN, { limit: 10 }),
  jobs: await store.jobs.jobRuns(),
});

/** Full dumps, from one database into another. */
export const STORE_DUMP_CASES: MemoryStoreCases = {
  "copies the whole store to another, with equal contents": async (store) => {
    const elsewhere = createInMemoryStore();
    await writeHistory(store);
    await copyAll(requireStoreDump(store), requireStoreDump(elsewhere));
    expect(await readEverything(elsewhere)).toEqual(await readEverything(store));
    expect(await readAllRows(requireStoreDump(elsewhere))).toEqual(
      await readAllRows(requireStoreDump(store)),
    );
  },

  "copies another store into this one, which then accepts writes": async (store) => {
    const elsewhere = createInMemoryStore();
    await writeHistory(elsewhere);
    await copyAll(requireStoreDump(elsewhere), requireStoreDump(store), 2);
    expect(await readAllRows(requireStoreDump(store))).toEqual(
      await readAllRows(requireStoreDump(elsewhere)),
    );
    expect(await readEverything(store)).toEqual(await readEverything(elsewhere));
    expect(await store.identity()).toBe("there");
    for (const each of [elsewhere, store]) {
      await each.commit(
        ANN,
        makeChangeSet({ base: 3, messages: [makeMessage("new")], memories: [makeMemory("z", 2)] }),
      );
      await each.commit(
        BOB,
        makeChangeSet({
          base: 2,
          erase: { ...makeFullChangeSet("x").erase, receipt: makeErasureReceipt("e3") } as never,
        }),
      );
      await each.answers.endAnswer(BOB, "begun", { status: 200, headers: {}, body: "{}" }, []);
    }
    expect(await readEverything(store)).toEqual(await readEverything(elsewhere));
    expect(await readAllRows(requireStoreDump(store))).toEqual(
      await readAllRows(requireStoreDump(elsewhere)),
    );
  },

  "returns the same rows in pages of one row as in large ones, and the same counts": async (store) => {
    await writeHistory(store);
    const dump = requireStoreDump(store);
    const rows = await readAllRows(dump);
    expect(await readAllRows(dump, 1)).toEqual(rows);
    const counts = Object.fromEntries(Object.entries(rows).map(([part, all]) => [part, all.length]));
    expect(await dump.counts()).toEqual(counts);
  },

  "ends a page when its rows get large, and continues after it": async (store) => {
    const ids = ["m1", "m2", "m3", "m4", "m5"];
    const content = "so long a story ".repeat(100_000);
    await store.commit(ANN, makeChangeSet({ messages: ids.map((id) => makeMessage(id, { content })) }));
    const dump = requireStoreDump(store);
    const pages: string[][] = [];
    for (let after: string | undefined, isOver = false; !isOver; isOver = after === undefined) {
      const page = await dump.page("messages", { limit: 1000, ...(after === undefined ? {} : { after }) });
      pages.push(page.rows.map((row) => row.message.id));
      after = page.cursor;
    }
    expect(pages).toEqual([
      ["m1", "m2", "m3"],
      ["m4", "m5"],
    ]);
  },

  "stores rows once that are put twice": async (store) => {
    const elsewhere = createInMemoryStore();
    await writeHistory(elsewhere);
    const [from, to] = [requireStoreDump(elsewhere), requireStoreDump(store)];
    await to.beginCopy({ from: "there", part: "users", done: 0, of: 0 });
    for (const part of from.parts) {
      const { rows } = await from.page(part, { limit: 1000 });
      await to.putRows(part, rows.slice(0, 1));
      await to.putRows(part, rows);
    }
    await to.finishCopy();
    expect(await readAllRows(to)).toEqual(await readAllRows(from));
  },

  "keeps the progress of a copy until its end, and starts a new copy from nothing": async (store) => {
    const dump = requireStoreDump(store);
    const note = { from: "there", part: "users", done: 0, of: 9 } as const;
    expect(await dump.copyProgress()).toBeUndefined();
    await dump.beginCopy(note);
    await dump.putRows("users", [{ project: "default", user: "ann", revision: 1, turns: 0 }]);
    await dump.saveCopyProgress({ ...note, part: "units", after: "x", done: 3 });
    expect(await dump.copyProgress()).toEqual({ ...note, part: "units", after: "x", done: 3 });
    await dump.beginCopy(note);
    expect([await dump.copyProgress(), await store.users("default")]).toEqual([note, []]);
    await dump.finishCopy();
    expect(await dump.copyProgress()).toBeUndefined();
  },

  "rejects a copy into a store with data, and rows without a copy under way": async (store) => {
    const dump = requireStoreDump(store);
    const note = { from: "there", part: "users", done: 0, of: 0 } as const;
    await expect(dump.putRows("users", [])).rejects.toMatchObject({ code: "conflict" });
    await expect(dump.saveCopyProgress(note)).rejects.toMatchObject({ code: "conflict" });
    await expect(dump.finishCopy()).rejects.toMatchObject({ code: "conflict" });
    const identity = await store.identity();
    await store.jobs.saveJobRun({ name: "expiry", at: BASE_TIME, tookMs: 1, done: 0, attempts: 0 });
    await expect(dump.beginCopy(note)).rejects.toMatchObject({ code: "conflict" });
    expect([await store.identity(), (await store.jobs.jobRuns()).length]).toEqual([identity, 1]);
  },
};
