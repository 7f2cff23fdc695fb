import { expect } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
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

/** Something in every part, of three users; two versions, an erasure with its trace, answers that are done and begun. */
async function writeHistory(record: MemoryStore): Promise<void> {
  await record.commit(BOB, makeFullChangeSet("b"));
  await record.commit(ANN, makeChangeSet({ memories: [makeMemory("z"), makeMemory("a")] }));
  await record.commit(ANN, { ...makeFullChangeSet("0"), base: 1 });
  await record.commit(
    OTHER,
    makeChangeSet({ messages: [makeMessage("m1"), makeMessage("m2", { digest: "pending" })] }),
  );
  await record.beginAnswer(ANN, { key: "done", request: "r", at: BASE_TIME }, LIMITS);
  await record.endAnswer(ANN, "done", { status: 201, headers: { location: "/x" }, body: "{}" }, []);
  await record.beginAnswer(BOB, { key: "begun", request: "r", at: BASE_TIME }, LIMITS);
  await record.beginAnswer(
    { project: "p", user: "nobody" },
    { key: "k", request: "r", at: BASE_TIME },
    LIMITS,
  );
  await record.commit(
    ANN,
    makeChangeSet({
      base: 2,
      memories: [makeMemory("a", 2), makeMemory("memory-0", 2, { status: "superseded" })],
      units: [{ ...makeUnit("a", "memory", "a"), space: "", vector: new Float32Array(0) }],
      dropUnits: ["message-0#0"],
    }),
  );
  await record.commit(
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
    await record.saveRecallReceipts([{ scope: ANN, receipts: [makeRecallReceipt(id)] }]);
  await record.saveProgress("expiry", [{ scope: ANN, visit: { revision: 2, due: BASE_TIME, found: 1 } }]);
  const failed = { attempts: 2, problem: "internal", at: BASE_TIME };
  await record.saveProgress("decay", [{ scope: BOB, visit: { revision: 1, failed } }]);
  await record.saveJobRun({ name: "expiry", at: BASE_TIME, tookMs: 1.5, done: 2, attempts: 0 });
  for (const name of ["second.db", "first.db"]) {
    await record.saveBackupNote({ name, at: BASE_TIME, bytes: 7, digest: "d" });
  }
}

const readEverything = async (record: MemoryStore) => ({
  dumps: await Promise.all([ANN, BOB, OTHER].map((scope) => readContents(record, scope))),
  recalls: await record.recallReceipts(ANN, { limit: 10 }),
  visits: await record.jobProgress("expiry", { limit: 10 }),
  waiting: await record.usersWithPendingMessages("2030-01-01T00:00:00.000Z", 10),
  marks: await record.erasureSummaries(),
  current: await record.currentMemories(ANN, { limit: 10 }),
  jobs: await record.jobRuns(),
});

/** A record as a whole, out of one database and into another. */
export const STORE_DUMP_CASES: MemoryStoreCases = {
  "a whole record is copied from here to elsewhere, and is the same there": async (record) => {
    const elsewhere = createInMemoryStore();
    await writeHistory(record);
    await copyAll(requireStoreDump(record), requireStoreDump(elsewhere));
    expect(await readEverything(elsewhere)).toEqual(await readEverything(record));
    expect(await readAllRows(requireStoreDump(elsewhere))).toEqual(
      await readAllRows(requireStoreDump(record)),
    );
  },

  "a whole record is copied from elsewhere to here, and goes on being written to": async (record) => {
    const elsewhere = createInMemoryStore();
    await writeHistory(elsewhere);
    await copyAll(requireStoreDump(elsewhere), requireStoreDump(record), 2);
    expect(await readAllRows(requireStoreDump(record))).toEqual(
      await readAllRows(requireStoreDump(elsewhere)),
    );
    expect(await readEverything(record)).toEqual(await readEverything(elsewhere));
    expect(await record.identity()).toBe("there");
    for (const each of [elsewhere, record]) {
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
      await each.endAnswer(BOB, "begun", { status: 200, headers: {}, body: "{}" }, []);
    }
    expect(await readEverything(record)).toEqual(await readEverything(elsewhere));
    expect(await readAllRows(requireStoreDump(record))).toEqual(
      await readAllRows(requireStoreDump(elsewhere)),
    );
  },

  "pages of one row give what large ones do, and their counts": async (record) => {
    await writeHistory(record);
    const whole = requireStoreDump(record);
    const rows = await readAllRows(whole);
    expect(await readAllRows(whole, 1)).toEqual(rows);
    const counts = Object.fromEntries(Object.entries(rows).map(([part, all]) => [part, all.length]));
    expect(await whole.counts()).toEqual(counts);
  },

  "a page ends where its rows become long, and the next one begins behind it": async (record) => {
    const ids = ["m1", "m2", "m3", "m4", "m5"];
    const content = "so long a story ".repeat(100_000);
    await record.commit(ANN, makeChangeSet({ messages: ids.map((id) => makeMessage(id, { content })) }));
    const whole = requireStoreDump(record);
    const pages: string[][] = [];
    for (let after: string | undefined, isOver = false; !isOver; isOver = after === undefined) {
      const page = await whole.page("messages", { limit: 1000, ...(after === undefined ? {} : { after }) });
      pages.push(page.rows.map((row) => row.message.id));
      after = page.cursor;
    }
    expect(pages).toEqual([
      ["m1", "m2", "m3"],
      ["m4", "m5"],
    ]);
  },

  "rows that are put again are there once": async (record) => {
    const elsewhere = createInMemoryStore();
    await writeHistory(elsewhere);
    const [from, to] = [requireStoreDump(elsewhere), requireStoreDump(record)];
    await to.beginCopy({ from: "there", part: "users", done: 0, of: 0 });
    for (const part of from.parts) {
      const { rows } = await from.page(part, { limit: 1000 });
      await to.putRows(part, rows.slice(0, 1));
      await to.putRows(part, rows);
    }
    await to.finishCopy();
    expect(await readAllRows(to)).toEqual(await readAllRows(from));
  },

  "what a filling is at is kept until its end, and one that begins anew begins with nothing": async (
    record,
  ) => {
    const whole = requireStoreDump(record);
    const note = { from: "there", part: "users", done: 0, of: 9 } as const;
    expect(await whole.copyProgress()).toBeUndefined();
    await whole.beginCopy(note);
    await whole.putRows("users", [{ project: "default", user: "ann", revision: 1, turns: 0 }]);
    await whole.saveCopyProgress({ ...note, part: "units", after: "x", done: 3 });
    expect(await whole.copyProgress()).toEqual({ ...note, part: "units", after: "x", done: 3 });
    await whole.beginCopy(note);
    expect([await whole.copyProgress(), await record.users("default")]).toEqual([note, []]);
    await whole.finishCopy();
    expect(await whole.copyProgress()).toBeUndefined();
  },

  "a record that holds something is not filled, and one that is not being filled takes no rows": async (
    record,
  ) => {
    const whole = requireStoreDump(record);
    const note = { from: "there", part: "users", done: 0, of: 0 } as const;
    await expect(whole.putRows("users", [])).rejects.toMatchObject({ code: "conflict" });
    await expect(whole.saveCopyProgress(note)).rejects.toMatchObject({ code: "conflict" });
    await expect(whole.finishCopy()).rejects.toMatchObject({ code: "conflict" });
    const identity = await record.identity();
    await record.saveJobRun({ name: "expiry", at: BASE_TIME, tookMs: 1, done: 0, attempts: 0 });
    await expect(whole.beginCopy(note)).rejects.toMatchObject({ code: "conflict" });
    expect([await record.identity(), (await record.jobRuns()).length]).toEqual([identity, 1]);
  },
};
