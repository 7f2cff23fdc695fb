import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { createMemory } from "../../src/index.ts";
import { plantAll, TEXTS, WITHOUT_CONTENT } from "./planted.ts";
import { copyDatabase, makeBase } from "./planted-base.ts";

// Fifty are planted in `.ci/run`, and a thousand by `node test/faults/planted.ts`.
it("the doctor finds each inconsistency that is planted in a database, and none in one that is sound", {
  timeout: 180_000,
}, async () => {
  const result = await plantAll({ seed: 16, count: 25 });
  expect(result).toMatchObject({ planted: 25, found: 25, missed: [], falseAlarms: 0 });
  expect(result.controls).toBeGreaterThan(1);
});

it("every table that holds what was said or learnt is one in which bytes are changed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-tables-"));
  try {
    const path = join(folder, "memory.db");
    await (await createMemory({ path })).close();
    const handle = new DatabaseSync(path);
    const tables = handle
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all()
      .map(({ name }) => String(name));
    handle.close();
    // Only there while an erasure of much is under way.
    const planted = new Set([...TEXTS.map(([table]) => table), "erasing"]);
    expect([...planted, ...Object.keys(WITHOUT_CONTENT)].sort()).toEqual(tables);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("the doctor finds a changed media type and a changed size of an image, and takes both from its bytes", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-labels-"));
  try {
    const base = await makeBase(folder);
    const path = join(folder, "memory.db");
    copyDatabase(base.path, path);
    const handle = new DatabaseSync(path);
    const labels = () => handle.prepare("SELECT media_type, size FROM attachments ORDER BY number").all();
    const before = labels();
    handle.exec("UPDATE attachments SET media_type = 'audio/ogg' WHERE number = 1");
    handle.exec("UPDATE attachments SET size = size + 1 WHERE number = 2");
    await using memory = await createMemory({ path });
    const { faults, remedies } = await memory.examine();
    expect(faults.map(({ place }) => place)).toContain("attachments");
    expect(remedies).toEqual([{ from: "itself", what: "rows", count: 2 }]);
    const fixed = await memory.examine({ fix: true });
    expect([fixed.repaired, fixed.faults, labels()]).toEqual([2, [], before]);
    handle.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("the doctor finds a changed byte and a lost row of an image, and takes both back from a backup", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-images-"));
  try {
    const base = await makeBase(folder);
    const path = join(folder, "memory.db");
    copyDatabase(base.path, path);
    const handle = new DatabaseSync(path);
    handle.exec("UPDATE attachments SET bytes = CAST('x' || substr(bytes, 2) AS BLOB) WHERE number = 1");
    handle.exec("DELETE FROM attachments WHERE number = 2");
    handle.close();
    await using memory = await createMemory({ path });
    const { faults, remedies } = await memory.examine({ backups: [base.path] });
    expect(faults.map(({ place, count, problem }) => [place, count, problem]).sort()).toEqual([
      ["attachments", 1, "missing, or not as their message says"],
      ["attachments", 1, "whose bytes are not those that were stored"],
    ]);
    expect(faults.flatMap(({ rows = [] }) => rows)).toMatchObject([{ table: "attachments", user: "ana" }]);
    expect(remedies).toEqual([{ from: "backup", what: "rows", count: 2, file: base.path }]);
    const fixed = await memory.examine({ fix: true, backups: [base.path] });
    expect([fixed.repaired, fixed.faults]).toEqual([2, []]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
