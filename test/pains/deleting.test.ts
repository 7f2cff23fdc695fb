import { afterEach, expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { createMemory, type Keepsake, type ScopedMemory } from "../../src/index.ts";

let memory: Keepsake | undefined;
afterEach(() => memory?.close());

const CHAT = [
  { id: "c1", role: "user", content: "I use Magnet to tidy my windows.", at: "2026-01-03T10:00:00Z" },
  { id: "c2", role: "assistant", content: "Noted: you use Magnet.", at: "2026-01-03T10:00:05Z" },
  { id: "c3", role: "user", content: "I live in Ghent.", at: "2026-01-03T10:01:00Z" },
] as const;

async function imported(): Promise<ScopedMemory> {
  memory = await createMemory({
    record: createInMemoryStore(),
    clock: () => new Date("2026-02-01T00:00:00Z"),
  });
  const ann = memory.scope({ user: "ann" });
  for await (const _progress of ann.import(CHAT));
  return ann;
}

/** Everything that can be read of a user, as one text. */
async function everything(ann: ScopedMemory): Promise<string> {
  const lines: unknown[] = [];
  for await (const line of ann.export()) lines.push(line);
  for await (const one of ann.list({ status: "all" })) lines.push(one, await ann.history(one.id));
  const { id: _id, ...recalled } = await ann.recall("window tidying tool", { explain: true });
  lines.push(recalled, await ann.profile(), (await ann.answer("What tools do I use?")).text);
  // The recalls of this function are counted, and change nothing else.
  return JSON.stringify(lines, (key, value) => (key === "usage" ? undefined : value));
}

it("what was deleted does not come back with the same chat (mem0#3695, MemOS#2331)", async () => {
  const ann = await imported();
  expect(await everything(ann)).toContain("Magnet");
  await ann.forget("Magnet");
  expect(await everything(ann)).not.toContain("Magnet");
  // The same chat, then under other ids, as another export of it would have.
  for await (const _progress of ann.import(CHAT));
  for await (const _progress of ann.import(
    CHAT.map((message) => ({ ...message, id: `again-${message.id}` })),
  ));
  expect(await everything(ann)).not.toContain("Magnet");
  expect((await ann.answer("Where do I live?")).text).toContain("Ghent");
});

it.each([
  ["an empty filter", { where: {} }],
  ["no ids", { ids: [] }],
  ["no words", ""],
  ["nothing at all", {}],
])("a deletion by %s is refused, and takes nothing (mem0#3746)", async (_name, what) => {
  const ann = await imported();
  const before = await everything(ann);
  await expect(ann.forget(what as string)).rejects.toMatchObject({ code: "invalid_input" });
  expect((await everything(ann)) === before).toBe(true);
});
