import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { makeChangeSet, makeMessage, makeUnit } from "../../src/testing/memory-store/change-sets.ts";
import { type Filled, SHARED } from "./record-child.ts";

const CHILD = join(import.meta.dirname, "record-child.ts");
const run = promisify(execFile);
const PROCESSES = ["one", "two", "three"];
const EACH = 40;

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-processes-"));
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

it("processes that make and write one file at the same time lose nothing", { timeout: 60_000 }, async () => {
  await Promise.all(
    PROCESSES.map((name) => run(process.execPath, [CHILD, "share", path, name, String(EACH)])),
  );
  const record = await openSqliteStore({ path });
  const { revision, messages, memories, units } = await record.since(SHARED, 0);
  const all = PROCESSES.length * EACH;
  expect([revision, messages.length, memories.length, units.length]).toEqual([all, all, all, 2 * all]);
  expect(messages.map(({ turn }) => turn)).toEqual(Array.from({ length: all }, (_, i) => i + 1));
  for (const name of PROCESSES) {
    const own = messages.filter(({ id }) => id.startsWith(`${name}-`)).map(({ id }) => id);
    expect(own).toEqual(Array.from({ length: EACH }, (_, i) => `${name}-${i}`));
  }
  expect(await record.check()).toEqual([]);
  await record.close();
});

it("an open record shows what another process committed, at once", { timeout: 60_000 }, async () => {
  const record = await openSqliteStore({ path });
  await record.commit(
    SHARED,
    makeChangeSet({ messages: [makeMessage("m0")], units: [makeUnit("m0#0", "passage", "m0")] }),
  );
  await run(process.execPath, [CHILD, "share", path, "other", "3"]);
  expect(await record.revision(SHARED)).toBe(4);
  expect((await record.since(SHARED, 1)).messages.map(({ id }) => id)).toEqual([
    "other-0",
    "other-1",
    "other-2",
  ]);
  await expect(record.commit(SHARED, makeChangeSet({ base: 1 }))).rejects.toMatchObject({ code: "conflict" });
  await record.close();
});

it("a file that may not grow refuses the commit whole, and takes more once it may", {
  timeout: 60_000,
}, async () => {
  const limited = 'ulimit -f 1600; exec "$0" "$@"';
  const { stdout } = await run("sh", ["-c", limited, process.execPath, CHILD, "fill", path]);
  const filled = JSON.parse(stdout) as Filled;
  expect(filled).toMatchObject({ code: "unavailable", message: expect.stringContaining(path) });
  expect(filled.acknowledged).toBeGreaterThan(1);
  expect([filled.revision, filled.messages]).toEqual([filled.acknowledged, filled.acknowledged]);

  const record = await openSqliteStore({ path });
  expect(await record.revision(SHARED)).toBe(filled.acknowledged);
  expect(await record.check()).toEqual([]);
  const more = { messages: [makeMessage("more")], units: [makeUnit("more#0", "passage", "more")] };
  expect(await record.commit(SHARED, makeChangeSet({ base: filled.acknowledged, ...more }))).toBe(
    filled.acknowledged + 1,
  );
  await record.close();
});
