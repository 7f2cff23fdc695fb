import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { createMemory } from "../../memory.ts";
import { makeChangeSet, makeMemory } from "../../testing/memory-store/change-sets.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let now: Date;
let rut: ScopedMemory;

beforeEach(async () => {
  now = new Date("2026-03-02T10:00:00Z");
  const memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  rut = memory.scope({ user: "rut" });
});

async function tell(...lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    now = new Date(now.getTime() + 60_000);
    await rut.remember(line);
  }
}

const LIFE = [
  "My name is Rut Olander.",
  "I live in Lund.",
  "I speak Swedish, German and Polish.",
  "My sister Maj is a vet.",
  "I work as a stonemason at Hagberg.",
  "I use Procreate and Blender at work.",
  "I hate coriander.",
  "I'm allergic to latex.",
  "My salary is 41k.",
  "I have a dentist appointment on 12 March.",
  "Always answer me in short sentences.",
];

describe("a profile", () => {
  it("is a short page, grouped and merged into sentences", async () => {
    await tell(...LIFE);
    const { text } = await rut.profile();
    expect(text).toContain("Who they are\n- Rut Olander.\n");
    expect(text).toContain("- Speaks Swedish, German and Polish.");
    expect(text).toContain("People and animals\n- Sister Maj: a vet.");
    expect(text).toContain("- Uses Procreate and Blender at work.");
    expect(text).toContain("Health (sensitive)\n- Is allergic to latex.");
    expect(text).toContain("Plans and dates\n- Has a dentist appointment on 12 March 2026.");
    expect(text).toContain("How to answer\n- Always answer them in short sentences.");
    expect(text).not.toContain("The user");
  });

  it("names the sources of each line, and marks sensitive ones", async () => {
    await tell(...LIFE);
    const { sections } = await rut.profile();
    const lines = sections.flatMap((section) => section.lines);
    for (const line of lines) {
      expect(line.memories.length).toBeGreaterThan(0);
      expect(line.sources.length).toBeGreaterThan(0);
      for (const id of line.memories) expect((await rut.get(id)).status).toBe("current");
    }
    expect(lines.filter(({ sensitive }) => sensitive).map(({ text }) => text)).toEqual(
      expect.arrayContaining(["Is allergic to latex.", "Salary: 41k."]),
    );
    expect(lines.find(({ text }) => text.startsWith("Speaks"))?.memories).toHaveLength(3);
  });

  it("leaves out past events", async () => {
    await tell("I use Zotero.", "I don't use Zotero anymore.", "I broke my wrist in 2019.");
    await tell("I'm on a diet until Friday.", "I lived in Umeå from 2010 to 2014.");
    expect((await rut.profile()).text).toContain("diet");
    now = new Date("2026-03-20T10:00:00Z");
    expect((await rut.profile()).text).toBe("");
  });

  it("has the same bytes while nothing changes", async () => {
    await tell(...LIFE);
    const before = (await rut.profile()).text;
    now = new Date(now.getTime() + 3 * 86_400_000);
    await rut.recall("sister");
    await rut.remember("What is my sister called?");
    expect((await rut.profile()).text).toBe(before);
  });

  it("lists the hundred newest memories of a kind, and counts the rest", async () => {
    const record = createInMemoryStore();
    const memories = Array.from({ length: 250 }, (_, i) => makeMemory(`a${i}`));
    await record.commit({ project: "default", user: "rut" }, makeChangeSet({ memories }));
    const full = await createMemory({ record, clock: () => now });
    const { kinds, leftOfKinds } = await full.scope({ user: "rut" }).profile();
    expect(kinds.fact?.map(({ id }) => id)).toEqual(memories.slice(150).map(({ id }) => id));
    expect(leftOfKinds).toEqual({ fact: 150 });
  });

  it("shortens a line of 800 likes to its budget instead of leaving it out", async () => {
    for (const maxTokens of [100, 1000]) {
      const record = createInMemoryStore();
      const memories = Array.from({ length: 800 }, (_, i) =>
        makeMemory(`a${i}`, 1, {
          text: `The user likes thing${i}.`,
          kind: "preference",
          claim: { subject: "user", relation: "like", value: `thing${i}` },
        }),
      );
      await record.commit({ project: "default", user: "rut" }, makeChangeSet({ memories }));
      const full = await createMemory({ record, clock: () => now });
      const { text, sections, left } = await full.scope({ user: "rut" }).profile({ maxTokens });
      expect(estimateTokens(text)).toBeLessThanOrEqual(maxTokens);
      expect(estimateTokens(text)).toBeGreaterThan(maxTokens * 0.7);
      expect(text).toContain("thing799");
      expect(left).toBe(1);
      expect(sections.flatMap(({ lines }) => lines).length).toBe(1);
    }
  });

  it("stays within a budget, and drops the least important lines first", async () => {
    await tell(...LIFE, "My name is Rut Olander.", "I live in Lund.");
    const { text, left } = await rut.profile({ maxTokens: 40 });
    expect(estimateTokens(text)).toBeLessThanOrEqual(40);
    expect(text).toContain("Rut Olander");
    expect(left).toBeGreaterThan(0);
    await expect(rut.profile({ maxTokens: 0 })).rejects.toMatchObject({ code: "invalid_input" });
  });
});
