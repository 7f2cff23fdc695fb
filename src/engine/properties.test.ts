import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../adapters/memory/index.ts";
import { openSqliteStore } from "../adapters/sqlite/index.ts";
import { createMemory } from "../memory.ts";
import type { MemoryStore } from "../ports/memory-store.ts";
import { hashEmbedder } from "../testing/index.ts";
import type { Keepsake } from "./api/keepsake.ts";
import type { ScopedMemory } from "./api/scoped-memory.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-properties-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RECORDS: readonly (readonly [string, () => Promise<MemoryStore>])[] = [
  ["memory", async () => createInMemoryStore()],
  ["sqlite", () => openSqliteStore({ path: join(folder, `${randomUUID()}.db`) })],
];

const START = Date.parse("2026-01-05T09:00:00Z");
const HOUR = 3_600_000;

/** What can happen to a memory, but for an erasure. */
const SAID = [
  "I live in Oulu.",
  "I moved to Pori.",
  "I use Zotero and Tana.",
  "I don't use Tana anymore.",
  "I switched from Zotero to Mendeley.",
  "My sister Aino is a vet.",
  "Sorry, Aino is a nurse.",
  "I'm in Rome until Friday.",
  "I have a dentist appointment next Tuesday.",
  "I prefer tea to coffee.",
  "I drive a Saab.",
  "I sold the Saab.",
  "From 2015 to 2019 I lived in Kemi.",
  "What do I drive?",
];

interface World {
  readonly keepsake: Keepsake;
  readonly scope: ScopedMemory;
  /** Goes on by some hours, and gives the new time. */
  pass(hours: number): Date;
  close(): Promise<void>;
}

async function world(open: () => Promise<MemoryStore>): Promise<World> {
  let now = START;
  const record = await open();
  const keepsake = await createMemory({ record, embedder: hashEmbedder(), clock: () => new Date(now) });
  return {
    keepsake,
    scope: keepsake.scope({ user: "ann" }),
    pass(hours) {
      now += hours * HOUR;
      return new Date(now);
    },
    async close() {
      await keepsake.close();
      await record.close();
    },
  };
}

const QUESTIONS = ["Where do I live?", "What do I use?", "What is Aino?", "What do I drive?"];

interface Seen {
  readonly listed: readonly unknown[];
  readonly told: readonly string[];
  readonly profile: string;
  /** What recall says of each text that it gives. Which texts are relevant enough hangs on all there is to compare with. */
  readonly statuses: ReadonlyMap<string, string>;
}

/** Everything that a reader can see of what is so, and was so. */
async function reads(scope: ScopedMemory, knownAt?: Date): Promise<Seen> {
  const listed: unknown[] = [];
  for await (const { text, status, validTo, claim, evidence } of scope.list({ status: "all" })) {
    if (status !== "retracted") listed.push({ text, status, validTo, claim, evidence });
  }
  const statuses = new Map<string, string>();
  const told: string[] = [];
  const options = knownAt ? { knownAt } : {};
  for (const question of QUESTIONS) {
    const { items } = await scope.recall(question, { ...options, limit: 20, types: ["memory"] });
    for (const { text, status } of items) if (status !== "retracted") statuses.set(text, status);
    const { text, used, abstained } = await scope.answer(question, options);
    // What is quoted hangs on what recall found, as the texts of recall do.
    const isClaim = used.length > 0 && !abstained && !/ said: “/.test(text);
    told.push(isClaim && !used.some((id) => id.includes("#")) ? text : "no claim");
  }
  return { listed, told, profile: (await scope.profile()).text, statuses };
}

/** Of the texts that both give, both say the same. */
function agree(one: Seen["statuses"], other: Seen["statuses"]): void {
  for (const [text, status] of one)
    if (other.has(text)) expect([text, other.get(text)]).toEqual([text, status]);
}

const steps = fc.array(fc.record({ say: fc.constantFrom(...SAID), hours: fc.integer({ min: 1, max: 60 }) }), {
  minLength: 1,
  maxLength: 7,
});

describe.each(RECORDS)("properties of the %s store", (name, open) => {
  const numRuns = name === "memory" ? 40 : 15;

  it("undo restores the reads from before the reverted revision", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(...SAID), async (before, last) => {
        const { scope, pass, close } = await world(open);
        try {
          for (const { say, hours } of before) {
            pass(hours);
            await scope.remember(say);
          }
          const { statuses, ...seen } = await reads(scope);
          const { revision } = await scope.remember(last);
          await scope.undo(revision);
          const { statuses: after, ...again } = await reads(scope);
          expect(again).toEqual(seen);
          agree(statuses, after);
        } finally {
          await close();
        }
      }),
      { numRuns },
    );
  }, 120_000);

  it("the state known at a time equals a replay up to that time", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (said, seed) => {
        const [lived, replayed] = [await world(open), await world(open)];
        const until = seed % said.length;
        try {
          let then = new Date(START);
          for (const [i, { say, hours }] of said.entries()) {
            const now = lived.pass(hours);
            await lived.scope.remember(say);
            if (i > until) continue;
            then = now;
            replayed.pass(hours);
            await replayed.scope.remember(say);
          }
          const known = await reads(lived.scope, then);
          const own = await reads(replayed.scope);
          expect(known.told).toEqual(own.told);
          agree(known.statuses, own.statuses);
          const stored = JSON.stringify(own.listed);
          for (const text of known.statuses.keys()) expect(stored).toContain(JSON.stringify(text));
        } finally {
          await lived.close();
          await replayed.close();
        }
      }),
      { numRuns },
    );
  }, 120_000);

  it("an expiring memory is present until its exact millisecond, and then in no read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 500 }), async (hours) => {
        const { scope, pass, close } = await world(open);
        try {
          const expiresAt = new Date(START + hours * HOUR);
          const { memories } = await scope.add({ text: "The gate code is on the fridge", expiresAt });
          const id = memories[0]?.id ?? "";
          pass(hours - 1 / HOUR);
          expect((await scope.get(id)).id).toBe(id);
          const { id: seen, items } = await scope.recall("gate code");
          expect(items).toHaveLength(1);
          expect((await scope.list()).total).toBe(1);
          expect((await scope.profile()).text).toContain("gate code");
          pass(1 / HOUR);
          await expect(scope.get(id)).rejects.toMatchObject({ code: "not_found" });
          expect((await scope.recall("gate code")).items).toEqual([]);
          expect((await scope.list({ status: "all" })).total).toBe(0);
          expect((await scope.profile()).text).toBe("");
          expect((await scope.answer("Where is the gate code?")).abstained).toBe(true);
          expect(JSON.stringify((await scope.profile()).kinds)).not.toContain("gate");
          await expect(scope.history(id)).rejects.toMatchObject({ code: "not_found" });
          for await (const line of scope.export()) expect(JSON.stringify(line)).not.toContain("gate");
          expect(JSON.stringify(await scope.explain(seen))).not.toContain("fridge");
        } finally {
          await close();
        }
      }),
      { numRuns: 10 },
    );
  }, 60_000);
});
