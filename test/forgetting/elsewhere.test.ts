import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMemory, type Keepsake, type ScopedMemory } from "../../src/index.ts";

let folder = "";
let path = "";
let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-elsewhere-"));
  path = join(folder, "memory.db");
  memory = await createMemory({ path });
  ana = memory.scope({ user: "ana" });
});
afterEach(async () => {
  await memory.close();
  rmSync(folder, { recursive: true });
});

const bytes = (): string => readFileSync(path, "latin1").toLowerCase();

it("a word that stands in history alone is taken out of it, and the memory stays", async () => {
  const { memories } = await ana.add({
    text: "The user uses Magnetron.",
    claim: { subject: "user", relation: "use", value: "Magnetron" },
  });
  const id = memories[0]?.id ?? "";
  await ana.update(id, {
    text: "The user uses Shram.",
    claim: { subject: "user", relation: "use", value: "Shram" },
  });
  const receipt = await ana.forget("Magnetron");
  expect(receipt).toMatchObject({ complete: true, erased: { memories: 0, rewritten: 1 } });
  expect((await ana.history(id)).map(({ text }) => text)).toEqual([
    "The user uses […].",
    "The user uses Shram.",
  ]);
  expect(bytes()).not.toMatch(/magnetron/);
  expect(await memory.check()).toEqual([]);
  expect((await ana.forget("Magnetron")).erased).toMatchObject({ memories: 0, messages: 0 });
});

it("a word that stands in metadata alone takes that metadata with it, and nothing else", async () => {
  await ana.add({ text: "The user owns a bike.", metadata: { note: "Magnetron" } });
  await ana.remember({ role: "user", content: "I like tea.", metadata: { tag: "Magnetron" } });
  await ana.remember({ role: "user", content: "I like rye bread.", metadata: { tag: "kitchen" } });
  const receipt = await ana.forget("Magnetron");
  expect(receipt).toMatchObject({ complete: true, erased: { memories: 0, messages: 1, rewritten: 1 } });
  const lines = [];
  for await (const line of ana.export()) lines.push(JSON.stringify(line));
  expect(lines.join()).not.toMatch(/Magnetron/);
  expect(lines.join()).toMatch(/I like tea/);
  expect(lines.join()).toMatch(/owns a bike/);
  expect(lines.join()).toMatch(/kitchen/);
  expect(bytes()).not.toMatch(/magnetron/);
});

it("an older copy loses both again", async () => {
  const { memories } = await ana.add({ text: "The user uses Magnetron." });
  await ana.update(memories[0]?.id ?? "", { text: "The user uses Shram." });
  await ana.remember({ role: "user", content: "I like tea.", metadata: { tag: "Magnetron" } });
  await memory.close();
  copyFileSync(path, `${path}-copy`);
  memory = await createMemory({ path });
  await memory.scope({ user: "ana" }).forget("Magnetron");
  await memory.close();
  copyFileSync(`${path}-copy`, path);
  rmSync(`${path}-copy`);
  expect(bytes()).toMatch(/magnetron/);
  memory = await createMemory({ path });
  expect(bytes()).not.toMatch(/magnetron/);
  expect((await memory.audit()).broken).toEqual([]);
  expect((await memory.scope({ user: "ana" }).list()).items).toHaveLength(2);
});
