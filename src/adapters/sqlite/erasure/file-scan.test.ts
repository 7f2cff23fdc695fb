import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { scanFiles } from "./scrub.ts";

const FILLER_BYTES = 40_000_000;
const LEFT = "a parrot called Quetzalcoatl";
const LIVE = "a locker that opens with Zweiundvierzig";

/** A database with a live text on the page that its writer changes, and a text in bytes of no row. */
function openFilled(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec("PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 1");
  database.exec("CREATE TABLE filler (body BLOB); CREATE TABLE changed (text TEXT, count INTEGER)");
  database.exec(`INSERT INTO filler VALUES (zeroblob(${FILLER_BYTES}))`);
  database.prepare("INSERT INTO changed VALUES (?, 0)").run(LIVE);
  database.exec("CREATE TABLE scraps (text TEXT)");
  database.prepare("INSERT INTO scraps VALUES (?)").run(LEFT);
  database.exec("DELETE FROM scraps; DROP TABLE scraps");
  return database;
}

it("tells leftovers from live rows while others commit, and does not hold up their commits", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-scan-"));
  const path = join(folder, "memory.db");
  const database = openFilled(path);
  try {
    const count = database.prepare("UPDATE changed SET count = count + 1");
    let [isOver, longest, commits] = [false, 0, 0];
    const begun = performance.now();
    const scan = scanFiles({
      scan: "leftovers",
      path,
      files: [path, `${path}-wal`],
      texts: [LEFT, LIVE, "words that are nowhere"],
    }).finally(() => {
      isOver = true;
    });
    for (; !isOver; commits += 1) {
      const from = performance.now();
      count.run();
      longest = Math.max(longest, performance.now() - from);
      await setImmediate();
    }
    const taken = performance.now() - begun;
    expect(await scan).toEqual([1, 0, 0]);
    expect(commits).toBeGreaterThan(10);
    expect(longest, `of ${taken} ms`).toBeLessThan(taken / 3);
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
});

it("counts the values of rows one by one, and bytes of any kind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-scan-"));
  const path = join(folder, "memory.db");
  const database = new DatabaseSync(path);
  const sample = Buffer.from([0xff, 0xff, 0xfe, 7, 8, 9, 0xff, 1]);
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF");
    database.exec(
      "CREATE TABLE parts (text, again); CREATE INDEX twice ON parts (again); CREATE TABLE scraps (text)",
    );
    const add = database.prepare("INSERT INTO parts VALUES (?, ?)");
    for (const [text, again] of [
      ["Quetzal", "coatl"],
      ["Zweiundvierzig", "Zweiundvierzig"],
      [sample, null],
      [`${"x".repeat(2_000_000)} long value`, null],
    ] as const)
      add.run(text, again);
    database.prepare("INSERT INTO scraps VALUES (?)").run("Quetzalcoatl");
    database.exec("DELETE FROM scraps; DROP TABLE scraps");
    const texts = ["Quetzalcoatl", "zweiundvierzig", "long value"];
    const request = { scan: "leftovers", path, files: [path, `${path}-wal`] } as const;
    expect(await scanFiles({ ...request, texts })).toEqual([1, 0, 0]);
    expect(await scanFiles({ ...request, texts: [...texts, { base64: sample.toString("base64") }] })).toEqual(
      [1, 0, 0, 0],
    );
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
});

it("explains a text that is in live rows from the end of one column into the next, and no other", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-scan-"));
  const path = join(folder, "memory.db");
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF");
    database.exec(
      "CREATE TABLE units (number INTEGER PRIMARY KEY, terms TEXT, vector BLOB, note TEXT) STRICT",
    );
    database.exec(
      "CREATE TABLE pairs (id TEXT, count INTEGER, rest TEXT, PRIMARY KEY (id, count)) WITHOUT ROWID",
    );
    database.exec("CREATE INDEX by_note ON units (note); CREATE TABLE scraps (text TEXT)");
    const unit = database.prepare("INSERT INTO units VALUES (?, ?, ?, ?)");
    unit.run(1, "cellar bridg", Buffer.from("E\u0001"), null);
    unit.run(2, "market harbou", null, "Rest");
    unit.run(0x4167, "short", null, "Winter");
    const pair = database.prepare("INSERT INTO pairs VALUES (?, ?, ?)");
    pair.run("Quetzal", 0x636f6174, "lost");
    database.prepare("INSERT INTO scraps VALUES (?)").run("theatre");
    database.exec("DELETE FROM scraps; DROP TABLE scraps");
    // In turn: text and blob, text and text over NULL, an index and the number of its row, text and integer.
    const texts = ["bridge", "harbourest", "winterag", "quetzalcoat", "theatre"];
    const found = await scanFiles({ scan: "leftovers", path, files: [path, `${path}-wal`], texts });
    expect(found).toEqual([0, 0, 0, 0, 1]);
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
});
