import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChangeSet } from "../../../domain/change-set.ts";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeTrace,
  makeUnit,
} from "../../../testing/memory-store/change-sets.ts";
import { ANN, BOB, readContents } from "../../../testing/memory-store/store-contents.ts";
import { createInMemoryStore } from "../../memory/index.ts";
import { openSqliteStore, type SqliteStore } from "../index.ts";
import { openSqliteStoreInThread } from "../writing-thread.ts";
import { generateStagedRows } from "./staged-erasure.ts";

const MANY = 1200;
const IDS = Array.from({ length: MANY }, (_, i) => String(i));

const told: ChangeSet = makeChangeSet({
  messages: IDS.map((id) => makeMessage(`m${id}`, { content: `zebra ${id} and lion` })),
  memories: IDS.map((id) => makeMemory(`a${id}`, 1, { text: `zebra ${id}` })),
  units: IDS.flatMap((id) => [
    makeUnit(`a${id}`, "memory", `a${id}`, "zebra"),
    makeUnit(`m${id}#0`, "passage", `m${id}`, "zebra lion"),
  ]),
});

const erase = {
  messages: IDS.map((id) => ({ id: `m${id}`, content: "lion", keepMetadata: false })),
  memories: IDS.map((id) => `a${id}`),
  rewrites: [],
  receipt: makeErasureReceipt("e1", { revision: 2, ids: IDS }),
  trace: makeTrace("e1", "ann", { revision: 2, memories: IDS }),
};

/** Takes every memory, and leaves one word of each message. */
const much: ChangeSet & { erase: typeof erase } = {
  ...makeChangeSet({
    base: 1,
    cause: "forget",
    dropUnits: IDS.flatMap((id) => [`a${id}`, `m${id}#0`]),
    units: IDS.map((id) => makeUnit(`m${id}#0`, "passage", `m${id}`, "lion")),
    tombstones: IDS.map((id) => ({ hash: `t${id}`, of: "words" as const, at: BASE_TIME })),
  }),
  erase,
};

let folder = "";
let path = "";
let record: SqliteStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-erasing-"));
  path = join(folder, "memory.db");
  record = await openSqliteStore({ path });
  await record.commit(ANN, told);
});
afterEach(async () => {
  await record.close();
  rmSync(folder, { recursive: true });
});

/** The record behind an erasure that was never cut off. */
async function expected(): Promise<unknown> {
  const model = createInMemoryStore();
  await model.commit(ANN, told);
  await model.commit(ANN, much);
  return readContents(model, ANN);
}

/** Begins the erasure as its writer does, and takes some of its steps. */
async function begun(steps: number): Promise<void> {
  let rows = 0;
  for await (const row of generateStagedRows(much)) {
    await record.erasing.stage(ANN, "e1", [row]);
    rows += 1;
  }
  expect(await record.erasing.begin(ANN, "e1", { base: 1, rows })).toBe(true);
  for (let done = 0; done < steps; done += 1) expect(await record.erasing.step(ANN)).toBe(true);
}

async function reopened(): Promise<void> {
  await record.close();
  record = await openSqliteStore({ path });
}

describe("a large erasure", () => {
  it("in parts gives the same database as in one transaction", { timeout: 30_000 }, async () => {
    expect(await record.commit(ANN, much)).toBe(2);
    expect(await readContents(record, ANN)).toEqual(await expected());
    expect(await record.check()).toEqual([]);
  });

  it("that was interrupted after any part is completed when the file is next opened", {
    timeout: 60_000,
  }, async () => {
    for (const steps of [0, 1, 4, 9]) {
      record = await reset();
      await begun(steps);
      expect(await record.check()).toEqual([]);
      expect(await record.revision(ANN)).toBe(1);
      await reopened();
      expect(await readContents(record, ANN)).toEqual(await expected());
      expect(await record.check()).toEqual([]);
      expect((await record.erasures.summaries()).map(({ receipt }) => receipt)).toEqual(["e1"]);
    }
  });

  it("that was staged but never begun changes nothing and leaves no rows", async () => {
    for await (const row of generateStagedRows(much)) await record.erasing.stage(ANN, "e1", [row]);
    const before = await readContents(record, ANN);
    await reopened();
    expect(await readContents(record, ANN)).toEqual(before);
    expect(await record.erasing.begin(ANN, "e1", { base: 1, rows: 1 })).toBe(false);
  });

  it("is completed first by another process that writes to the same user", async () => {
    await begun(2);
    const other = await openedBeside();
    const late = makeChangeSet({ base: 1, messages: [makeMessage("late")] });
    await expect(other.commit(ANN, late)).rejects.toMatchObject({ code: "conflict" });
    expect(await other.commit(ANN, { ...late, base: 2 })).toBe(3);
    expect(await record.erasing.step(ANN)).toBe(false);
    expect((await record.since(ANN, 0)).memories).toEqual([]);
    await other.close();
  });

  it("prevents a copy of the database until it is finished", async () => {
    await begun(2);
    await expect(record.dump?.counts()).rejects.toMatchObject({ code: "unavailable" });
    while (await record.erasing.step(ANN));
    expect(await record.dump?.counts()).toMatchObject({ erasures: 1 });
  });

  it("lets another user write between two parts", async () => {
    await begun(2);
    expect(await record.commit(BOB, makeChangeSet({ messages: [makeMessage("b1")] }))).toBe(1);
    expect(await record.revision(ANN)).toBe(1);
    while (await record.erasing.step(ANN));
    expect(await record.revision(ANN)).toBe(2);
    expect((await record.since(BOB, 0)).messages).toHaveLength(1);
  });

  it("is applied once if two run at once for a user, and the slower one is refused", {
    timeout: 30_000,
  }, async () => {
    const other = await openedBeside();
    const second = {
      ...much,
      erase: { ...erase, receipt: makeErasureReceipt("e2", { revision: 2 }), trace: makeTrace("e2") },
    };
    const both = await Promise.allSettled([record.commit(ANN, much), other.commit(ANN, second)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find((one) => one.status === "rejected")?.reason).toMatchObject({ code: "conflict" });
    expect(await record.revision(ANN)).toBe(2);
    expect(await record.erasures.summaries()).toHaveLength(1);
    expect(await record.check()).toEqual([]);
    await other.close();
  });

  it("in a writing thread lets other writes run between its parts", { timeout: 30_000 }, async () => {
    await record.close();
    record = await openSqliteStoreInThread({ path });
    let passed = 0;
    let isOver = false;
    const erased = record.commit(ANN, much).finally(() => {
      isOver = true;
    });
    for (let base = 0; !isOver; base += 1) {
      await record.commit(BOB, makeChangeSet({ base, messages: [makeMessage(`b${base}`)] }));
      if (!isOver) passed += 1;
    }
    expect(await erased).toBe(2);
    expect(passed).toBeGreaterThan(5);
  });
});

async function reset(): Promise<SqliteStore> {
  await record.close();
  rmSync(folder, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), "keepsake-erasing-"));
  path = join(folder, "memory.db");
  const made = await openSqliteStore({ path });
  await made.commit(ANN, told);
  return made;
}

/**
 * A second connection in this process: SQLite keeps its locks apart by connection, as it does for two processes; the file itself is
 * closed by SQLite alone.
 */
function openedBeside(): Promise<SqliteStore> {
  return openSqliteStore({ path });
}
