import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMemory } from "../../src/memory.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-reader-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const filesHold = (word: string): boolean =>
  readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(word));

it("an erasure that a reader kept from the file is never told complete before it is, and completes by itself", async () => {
  const path = join(folder, "memory.db");
  await using memory = await createMemory({ path });
  const ana = memory.scope({ user: "ana" });
  await ana.remember("My cat is called Readerina. I like tea.");
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM sqlite_master").get();
  const first = await ana.forget("Readerina");
  expect(first.complete).toBe(false);
  const again = await ana.forget("Readerina");
  expect(again.erased.messages).toBe(0);
  expect(again.complete).toBe(false);
  expect(again.verified.some(({ found }) => found > 0)).toBe(true);
  expect(filesHold("Readerina")).toBe(true);

  reader.close();
  await expect.poll(async () => (await ana.erasures()).map(({ complete }) => complete)).toEqual([true]);
  expect(filesHold("Readerina")).toBe(false);
  expect((await ana.forget("Readerina")).complete).toBe(true);
});
