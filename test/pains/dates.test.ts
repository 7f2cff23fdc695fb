import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { createMemory, type InputMessage, type Keepsake, type ScopedMemory } from "../../src/index.ts";

let memory: Keepsake;
let ann: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({
    record: createInMemoryStore(),
    clock: () => new Date("2026-11-21T09:00:00Z"),
  });
  ann = memory.scope({ user: "ann" });
});
afterEach(() => memory.close());

/** A chat of 2023, told in a zone eight hours ahead, with what its words mean there. */
const CHAT: readonly (readonly [at: string, said: string, asked: string, day: string])[] = [
  // In UTC it is still the day before.
  [
    "2023-03-11T00:30:00+08:00",
    "I saw the eye doctor yesterday.",
    "When did I see the eye doctor?",
    "2023-03-10",
  ],
  [
    "2023-05-01T07:00:00+08:00",
    "We adopted a goat called Mina today.",
    "When did we adopt Mina?",
    "2023-05-01",
  ],
  ["2023-06-30T23:50:00+08:00", "My piano exam is tomorrow.", "When is my piano exam?", "2023-07-01"],
  ["2023-09-06T06:15:00+08:00", "I sold my kayak last Saturday.", "When did I sell my kayak?", "2023-09-02"],
];

async function importChat(): Promise<void> {
  const messages = CHAT.map(([at, content], i): InputMessage => ({ id: `m${i}`, role: "user", content, at }));
  for await (const _ of ann.import(messages));
}

describe("a chat of 2023 imported in 2026 (mem0#4402, MemOS#2369)", () => {
  it("keeps its dates: none of them is of the day of the import", async () => {
    await importChat();
    for await (const { at, when, validFrom, sources } of ann.list({ status: "all" })) {
      for (const time of [at, when, validFrom, ...sources.map((source) => source.at)]) {
        expect(time ?? "2023").toMatch(/^2023/);
      }
    }
    const { items } = await ann.recall("goat");
    expect(items.map(({ at }) => at.slice(0, 7))).toContain("2023-04");
  });

  it.each(CHAT)("%s: %s", async (_at, _said, asked, day) => {
    await importChat();
    expect((await ann.answer(asked)).text).toContain(day);
  });

  it("gives its zone away again with an export, and reads it back alike", async () => {
    await importChat();
    const lines: InputMessage[] = [];
    for await (const line of ann.export())
      if (line.type === "message") lines.push(line.message as InputMessage);
    expect(lines.map(({ at }) => at)).toContain("2023-03-11T00:30:00.000+08:00");
    const bo = memory.scope({ user: "bo" });
    const messages = lines.map(
      ({ id = "", role, content, at = "" }): InputMessage => ({ id, role, content, at }),
    );
    for await (const _ of bo.import(messages));
    expect((await bo.answer(CHAT[0]?.[2] ?? "")).text).toContain("2023-03-10");
  });
});
