import { expect } from "vitest";
import { memoryRecord } from "../adapters/memory/index.ts";
import type { Record } from "../ports/record.ts";
import { AT, changes, erasure, memory, message, recallReceipt, trace, unit } from "./change-sets.ts";
import { ANN, BOB, dump, full, type RecordCases } from "./record-dump.ts";
import { pour, wholeOf, wholeRows } from "./whole-rows.ts";

const LIMITS = { outdated: AT, abandoned: AT };
const OTHER = { project: "other", user: "ann" };

/** Something in every part, of three users; two versions, an erasure with its trace, answers that are done and begun. */
async function history(record: Record): Promise<void> {
  await record.commit(BOB, full("b"));
  await record.commit(ANN, changes({ memories: [memory("z"), memory("a")] }));
  await record.commit(ANN, { ...full("0"), base: 1 });
  await record.commit(OTHER, changes({ messages: [message("m1"), message("m2", { digest: "pending" })] }));
  await record.beginAnswer(ANN, { key: "done", request: "r", at: AT }, LIMITS);
  await record.endAnswer(ANN, "done", { status: 201, headers: { location: "/x" }, body: "{}" }, []);
  await record.beginAnswer(BOB, { key: "begun", request: "r", at: AT }, LIMITS);
  await record.beginAnswer({ project: "p", user: "nobody" }, { key: "k", request: "r", at: AT }, LIMITS);
  await record.commit(
    ANN,
    changes({
      base: 2,
      memories: [memory("a", 2), memory("memory-0", 2, { status: "superseded" })],
      units: [{ ...unit("a", "memory", "a"), space: "", vector: new Float32Array(0) }],
      dropUnits: ["message-0#0"],
    }),
  );
  await record.commit(
    BOB,
    changes({
      base: 1,
      erase: {
        messages: [{ id: "message-b", content: "", keepMetadata: false }],
        memories: ["other-b"],
        rewrites: [],
        receipt: erasure("e2"),
        trace: trace("e2", "bob"),
      },
    }),
  );
  for (const id of ["r2", "r1"]) await record.keepRecalls([{ scope: ANN, receipts: [recallReceipt(id)] }]);
  await record.noteVisits("expiry", [{ scope: ANN, visit: { revision: 2, due: AT, found: 1 } }]);
  const failed = { attempts: 2, problem: "internal", at: AT };
  await record.noteVisits("decay", [{ scope: BOB, visit: { revision: 1, failed } }]);
  await record.noteJob({ name: "expiry", at: AT, tookMs: 1.5, done: 2, attempts: 0 });
  for (const name of ["second.db", "first.db"]) {
    await record.noteBackup({ name, at: AT, bytes: 7, digest: "d" });
  }
}

const everything = async (record: Record) => ({
  dumps: await Promise.all([ANN, BOB, OTHER].map((scope) => dump(record, scope))),
  recalls: await record.recalls(ANN, { limit: 10 }),
  visits: await record.visits("expiry", { limit: 10 }),
  waiting: await record.usersWaiting("2030-01-01T00:00:00.000Z", 10),
  marks: await record.erasureMarks(),
  current: await record.currentMemories(ANN, { limit: 10 }),
  jobs: await record.jobs(),
});

/** A record as a whole, out of one database and into another. */
export const WHOLE_CASES: RecordCases = {
  "a whole record is copied from here to elsewhere, and is the same there": async (record) => {
    const elsewhere = memoryRecord();
    await history(record);
    await pour(wholeOf(record), wholeOf(elsewhere));
    expect(await everything(elsewhere)).toEqual(await everything(record));
    expect(await wholeRows(wholeOf(elsewhere))).toEqual(await wholeRows(wholeOf(record)));
  },

  "a whole record is copied from elsewhere to here, and goes on being written to": async (record) => {
    const elsewhere = memoryRecord();
    await history(elsewhere);
    await pour(wholeOf(elsewhere), wholeOf(record), 2);
    expect(await wholeRows(wholeOf(record))).toEqual(await wholeRows(wholeOf(elsewhere)));
    expect(await everything(record)).toEqual(await everything(elsewhere));
    expect(await record.identity()).toBe("there");
    for (const each of [elsewhere, record]) {
      await each.commit(ANN, changes({ base: 3, messages: [message("new")], memories: [memory("z", 2)] }));
      await each.commit(
        BOB,
        changes({ base: 2, erase: { ...full("x").erase, receipt: erasure("e3") } as never }),
      );
      await each.endAnswer(BOB, "begun", { status: 200, headers: {}, body: "{}" }, []);
    }
    expect(await everything(record)).toEqual(await everything(elsewhere));
    expect(await wholeRows(wholeOf(record))).toEqual(await wholeRows(wholeOf(elsewhere)));
  },

  "pages of one row give what large ones do, and their counts": async (record) => {
    await history(record);
    const whole = wholeOf(record);
    const rows = await wholeRows(whole);
    expect(await wholeRows(whole, 1)).toEqual(rows);
    const counts = Object.fromEntries(Object.entries(rows).map(([part, all]) => [part, all.length]));
    expect(await whole.counts()).toEqual(counts);
  },

  "a page ends where its rows become long, and the next one begins behind it": async (record) => {
    const ids = ["m1", "m2", "m3", "m4", "m5"];
    const content = "so long a story ".repeat(100_000);
    await record.commit(ANN, changes({ messages: ids.map((id) => message(id, { content })) }));
    const whole = wholeOf(record);
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
    const elsewhere = memoryRecord();
    await history(elsewhere);
    const [from, to] = [wholeOf(elsewhere), wholeOf(record)];
    await to.fill({ from: "there", part: "users", done: 0, of: 0 });
    for (const part of from.parts) {
      const { rows } = await from.page(part, { limit: 1000 });
      await to.put(part, rows.slice(0, 1));
      await to.put(part, rows);
    }
    await to.filled();
    expect(await wholeRows(to)).toEqual(await wholeRows(from));
  },

  "what a filling is at is kept until its end, and one that begins anew begins with nothing": async (
    record,
  ) => {
    const whole = wholeOf(record);
    const note = { from: "there", part: "users", done: 0, of: 9 } as const;
    expect(await whole.filling()).toBeUndefined();
    await whole.fill(note);
    await whole.put("users", [{ project: "default", user: "ann", revision: 1, turns: 0 }]);
    await whole.noteFilling({ ...note, part: "units", after: "x", done: 3 });
    expect(await whole.filling()).toEqual({ ...note, part: "units", after: "x", done: 3 });
    await whole.fill(note);
    expect([await whole.filling(), await record.users("default")]).toEqual([note, []]);
    await whole.filled();
    expect(await whole.filling()).toBeUndefined();
  },

  "a record that holds something is not filled, and one that is not being filled takes no rows": async (
    record,
  ) => {
    const whole = wholeOf(record);
    const note = { from: "there", part: "users", done: 0, of: 0 } as const;
    await expect(whole.put("users", [])).rejects.toMatchObject({ code: "conflict" });
    await expect(whole.noteFilling(note)).rejects.toMatchObject({ code: "conflict" });
    await expect(whole.filled()).rejects.toMatchObject({ code: "conflict" });
    const identity = await record.identity();
    await record.noteJob({ name: "expiry", at: AT, tookMs: 1, done: 0, attempts: 0 });
    await expect(whole.fill(note)).rejects.toMatchObject({ code: "conflict" });
    expect([await record.identity(), (await record.jobs()).length]).toEqual([identity, 1]);
  },
};
