import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { isMemoryError } from "../../errors.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { memoryStoreConformance } from "../../testing/memory-store/memory-store-conformance.ts";
import { openSqliteStore } from "./index.ts";
import { openSqliteStoreInThread } from "./writing-thread.ts";

const WORKER = new URL("./writing-worker.ts", import.meta.url);
const ANN = { project: "p", user: "ann" };
const folder = mkdtempSync(join(tmpdir(), "keepsake-writing-"));
const paths = new WeakMap<MemoryStore, string>();
let count = 0;

afterAll(() => rmSync(folder, { recursive: true }));

async function open(path: string): Promise<MemoryStore> {
  const record = await openSqliteStoreInThread({ path });
  paths.set(record, path);
  return record;
}

function newPath(): string {
  count += 1;
  return join(folder, `${count}.db`);
}

const pathOf = (record: MemoryStore): string => paths.get(record) ?? "";

memoryStoreConformance({
  name: "sqlite in a file, written to in a thread",
  randomHistories: 10,
  open: () => open(newPath()),
  async reopen(record) {
    await record.close();
    return open(pathOf(record));
  },
  second: (record) => open(pathOf(record)),
});

/** SQLite waits 50 ms for a lock at a time, standing still: here, it would be once at least. */
const STANDS_STILL_MS = 45;

describe("the writing thread", () => {
  it("does not block readers while another program locks the file", async () => {
    const { DatabaseSync } = await import("node:sqlite");
    const rounds: number[] = [];
    // A machine that is busy stands still as well, but not each time.
    while (rounds.length < 5 && !rounds.some((ms) => ms < STANDS_STILL_MS)) {
      const path = newPath();
      const record = await open(path);
      await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
      const other = await openSqliteStore({ path });
      const holder = new DatabaseSync(path);
      holder.exec("BEGIN IMMEDIATE");
      const committed = record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
      const from = performance.now();
      for (let i = 0; i < 50; i += 1) expect(await record.revision(ANN)).toBe(1);
      rounds.push(performance.now() - from);
      holder.exec("COMMIT");
      expect(await committed).toBe(2);
      holder.close();
      await other.close();
    }
    expect(Math.min(...rounds)).toBeLessThan(STANDS_STILL_MS);
  });

  it("leaves the outcome of its current write unknown if it ends, and later writes run without it", async () => {
    const path = newPath();
    let thread: Worker | undefined;
    const record = await openSqliteStoreInThread({ path }, () => {
      thread = new Worker(WORKER, { workerData: { path } });
      return thread;
    });
    expect(await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }))).toBe(1);
    const asked = record
      .commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }))
      .catch((error: unknown) => error);
    // The question is on its way after a turn.
    await Promise.resolve();
    await Promise.resolve();
    await thread?.terminate();
    const outcome = await asked;
    const revision = await record.revision(ANN);
    if (outcome === 2) expect(revision).toBe(2);
    else expect(isMemoryError(outcome) && outcome.code).toBe("unavailable");
    expect(await record.commit(ANN, makeChangeSet({ base: revision, messages: [makeMessage("m3")] }))).toBe(
      revision + 1,
    );
    await record.close();
  });

  it("is replaced by the calling thread if it cannot start", async () => {
    const path = newPath();
    const record = await openSqliteStoreInThread(
      { path },
      () => new Worker("throw new Error()", { eval: true }),
    );
    expect(await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }))).toBe(1);
    await record.close();
  });
});
