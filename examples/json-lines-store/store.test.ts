import { mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemory, type MemoryStore } from "keepsake";
import { memoryStoreConformance } from "keepsake/testing";
import { afterAll, expect, it } from "vitest";
import { openJsonLinesStore } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "json-lines-"));
const files = new WeakMap<MemoryStore, string>();
let count = 0;

afterAll(() => rmSync(folder, { recursive: true }));

async function open(file: string): Promise<MemoryStore> {
  const store = await openJsonLinesStore(file);
  files.set(store, file);
  return store;
}

function newFile(): string {
  count += 1;
  return join(folder, `${count}.jsonl`);
}

memoryStoreConformance({
  name: "a toy in a file of JSON lines",
  lacks: ["maintenance", "webhooks"],
  randomHistories: 20,
  open: () => open(newFile()),
  async reopen(store) {
    await store.close();
    return open(files.get(store) ?? "");
  },
});

it("keeps a memory across a reopening, and no erased word in the file", async () => {
  const file = newFile();
  const secret = "a-secret-of-sixteen-or-more";
  const first = await createMemory({ record: () => openJsonLinesStore(file), secret });
  const ana = first.scope({ user: "ana" });
  await ana.remember("I'm allergic to peanuts.");
  await ana.remember("My sister is called Quillon.");
  await first.close();
  const second = await createMemory({ record: () => openJsonLinesStore(file), secret });
  const again = second.scope({ user: "ana" });
  expect((await again.recall("allergic foods")).items.length).toBeGreaterThan(0);
  expect(readFileSync(file, "utf8")).toContain("Quillon");
  expect((await again.forget("Quillon")).complete).toBe(true);
  expect(readFileSync(file, "utf8")).not.toContain("Quillon");
  await second.close();
});

it("keeps a text that looks like stored bytes, and bytes of any view, across a reopening", async () => {
  const file = newFile();
  const store = await open(file);
  const scope = { project: "default", user: "ann" };
  const at = "2026-01-01T00:00:00.000Z";
  const pool = Buffer.from("....bytes of a picture");
  const attachment = { digest: "d", mediaType: "image/png", at, bytes: pool.subarray(4) };
  await store.commit(scope, { at, cause: "add", base: 0, attachments: [attachment] });
  const note = { name: "\0bytes:AAAA", at, bytes: 1, digest: "\0text:\0" };
  await store.backups.save(note);
  await store.close();
  const reopened = await open(file);
  expect((await reopened.attachments?.read(scope, "d"))?.bytes).toEqual(Uint8Array.from(attachment.bytes));
  expect(await reopened.backups.list()).toEqual([note]);
  await reopened.close();
});

it("ignores a last line that a crash cut off", async () => {
  const file = newFile();
  const store = await open(file);
  const scope = { project: "default", user: "ann" };
  const change = { at: "2026-01-01T00:00:00.000Z", cause: "add" } as const;
  expect(await store.commit(scope, { ...change, base: 0 })).toBe(1);
  expect(await store.commit(scope, { ...change, base: 1 })).toBe(2);
  await store.close();
  truncateSync(file, readFileSync(file).length - 5);
  const reopened = await open(file);
  expect(await reopened.revision(scope)).toBe(1);
  await reopened.close();
});
