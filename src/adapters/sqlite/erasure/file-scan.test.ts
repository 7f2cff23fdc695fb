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
