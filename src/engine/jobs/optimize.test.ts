import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { Memory } from "../../domain/memory.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMessage, makeMemory as stored } from "../../testing/memory-store/change-sets.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { Optimized, OptimizeOptions } from "../api/maintenance-types.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

const ANN = { project: "default", user: "ann" };
let record: MemoryStore;
let memory: Keepsake;
let ann: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-01T10:00:00Z");
  record = createInMemoryStore();
  memory = await createMemory({ record, clock: () => now });
  ann = memory.scope(ANN);
});
afterEach(() => memory.close());

/** Puts memories into the record as they are; ids in the order given. */
async function put(...memories: readonly Partial<Memory>[]): Promise<void> {
  const base = await record.revision(ANN);
  const made = memories.map((fields, i) => stored(fields.id ?? `m${base}-${i}`, 1, fields));
  await record.commit(ANN, makeChangeSet({ base, memories: made }));
}

const of = ({ jobs }: Optimized, name: string) => jobs.find((job) => job.name === name)?.memories ?? [];
const texts = async (): Promise<string[]> => (await ann.list()).items.map(({ text }) => text).sort();
const later = (days: number): void => {
  now = new Date(now.getTime() + days * 86_400_000);
};

describe("consolidation", () => {
  beforeEach(() =>
    put(
      { id: "one", text: "The user doesn't eat meat.", evidence: 2, at: "2026-01-01T00:00:00.000Z" },
      { id: "two", text: "User does not eat meat", at: "2026-02-01T00:00:00.000Z", confidence: 0.95 },
      { id: "other", text: "The user does not eat fish." },
    ),
  );

  it("previews what it would merge, then merges it with the evidence of all", async () => {
    const plan = await ann.optimize({ dryRun: true });
    expect(of(plan, "consolidation")).toEqual([
      {
        id: "two",
        action: "merged",
        by: "one",
        byText: "The user doesn't eat meat.",
        text: "User does not eat meat",
        why: "it says the same as another memory",
      },
    ]);
    expect([plan.revision, (await texts()).length]).toEqual([1, 3]);
    const done = await ann.optimize();
    expect(of(done, "consolidation")).toEqual(of(plan, "consolidation"));
    expect(await texts()).toEqual(["The user does not eat fish.", "The user doesn't eat meat."]);
    expect(await ann.get("one")).toMatchObject({
      evidence: 3,
      confidence: 0.95,
      at: "2026-02-01T00:00:00.000Z",
    });
    expect(await ann.get("two")).toMatchObject({ status: "retracted", archived: true, supersededBy: "one" });
  });

  it("is one change-set, which undo reverts, and is not repeated afterwards", async () => {
    const { jobs } = await ann.optimize();
    const [revision = 0] = jobs[1]?.revisions ?? [];
    expect((await ann.history())[0]).toMatchObject({ revision, cause: "optimize" });
    await ann.undo(revision);
    expect(await texts()).toHaveLength(3);
    expect(await ann.get("one")).toMatchObject({ evidence: 2, confidence: 0.9 });
    expect((await ann.recall("eat meat")).items.map(({ id }) => id)).toContain("two");
    expect(of(await ann.optimize(), "consolidation")).toEqual([]);
  });

  it("lets merged memories be erased with the remaining one", async () => {
    await ann.optimize();
    const plan = await ann.forget({ ids: ["one"] }, { dryRun: true });
    expect(plan.memories.map(({ id }) => id).sort()).toEqual(["one", "two"]);
    await ann.forget({ ids: ["one"] });
    await expect(ann.get("two")).rejects.toMatchObject({ code: "not_found" });
    const words = JSON.stringify(await record.versions(ANN));
    expect(words).not.toContain("eat meat");
  });

  it("leaves the source words current", async () => {
    const base = await record.revision(ANN);
    await record.commit(
      ANN,
      makeChangeSet({ base, messages: [makeMessage("said", { content: "I use Shram. I really do." })] }),
    );
    const sources = [{ message: "said", start: 0, end: 12, quote: "I use Shram." }];
    await put(
      { id: "a", text: "The user uses Shram.", sources },
      { id: "b", text: "User uses Shram.", sources },
    );
    await ann.optimize();
    expect((await ann.get("b")).archived).toBe(true);
    await ann.remove("a");
    await ann.undo(await record.revision(ANN));
    const { items } = await ann.recall("Shram");
    expect(items.filter(({ status }) => status !== "current")).toEqual([]);
  });
});

describe("expiry", () => {
  beforeEach(async () => {
    await ann.add({ text: "The user is on call this week.", expiresAt: "2026-03-08T00:00:00Z" });
    await ann.add({ text: "The user works at Vantor." });
  });

  it("ends expired memories in the history and the search; reads exclude them earlier", async () => {
    later(8);
    expect(await texts()).toEqual(["The user works at Vantor."]);
    const done = await ann.optimize();
    const [gone] = of(done, "expiry");
    expect(gone).toMatchObject({ action: "expired", why: "its time was over" });
    expect(await texts()).toEqual(["The user works at Vantor."]);
    const { units, memories } = await record.since(ANN, 0);
    expect(units.map(({ id }) => id)).not.toContain(gone?.id);
    expect(memories.find(({ id }) => id === gone?.id)).toMatchObject({
      status: "superseded",
      validTo: "2026-03-08T00:00:00.000Z",
    });
    expect(of(await ann.optimize(), "expiry")).toEqual([]);
  });

  it("does nothing before the expiry time", async () => {
    later(6);
    expect(of(await ann.optimize(), "expiry")).toEqual([]);
  });
});

describe("decay", () => {
  it("reports faded memories and writes nothing", async () => {
    await put({ id: "old", at: "2025-01-01T00:00:00.000Z", importance: 0.9 }, { id: "new" });
    const done = await ann.optimize();
    expect(of(done, "decay")).toEqual([
      {
        id: "old",
        action: "faded",
        text: "Memory old, version 1.",
        why: "last said 424 days ago; being new halves every 90 days",
      },
    ]);
    expect(done.revision).toBe(1);
  });

  it("ranks by age alone, with the configured half-life", async () => {
    const open = (decayDays: number) => createMemory({ path: ":memory:", clock: () => now, decayDays });
    const share: number[] = [];
    for (const decayDays of [90, 10_000]) {
      await using quick = await open(decayDays);
      const user = quick.scope(ANN);
      await user.add({ text: "The user keeps bees.", at: "2024-03-01T10:00:00Z" });
      await user.add({ text: "The user keeps goats.", at: "2026-03-01T10:00:00Z" });
      const { items } = await user.recall("What does the user keep?");
      const score = (word: string) => items.find(({ text }) => text.includes(word))?.score ?? 0;
      share.push(score("bees") / score("goats"));
    }
    expect(share[0]).toBeLessThan((share[1] ?? 0) - 0.03);
  });

  it("refuses an invalid number of days", async () => {
    await expect(createMemory({ path: ":memory:", decayDays: 0 })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("clean-up", () => {
  const OLD = { at: "2024-01-01T00:00:00.000Z", storedAt: "2024-01-01T00:00:00.000Z", importance: 0.3 };

  it("archives memories that are old, unimportant, stated once and never recalled; undo restores them", async () => {
    await put({ id: "left", ...OLD, kind: "event", when: "2024-01-01" });
    const plan = await ann.optimize({ dryRun: true });
    expect(of(plan, "clean-up")).toMatchObject([{ id: "left", action: "archived" }]);
    const done = await ann.optimize();
    const [revision = 0] = done.jobs[3]?.revisions ?? [];
    expect(await texts()).toEqual([]);
    await ann.undo(revision);
    expect(await texts()).toEqual(["Memory left, version 1."]);
    expect(of(await ann.optimize(), "clean-up")).toEqual([]);
  });

  it.each<[string, Partial<Memory>]>([
    ["an instruction", { kind: "instruction" }],
    ["a commitment", { kind: "commitment" }],
    ["a preference", { kind: "preference" }],
    ["what is sensitive", { sensitive: true }],
    ["what matters", { importance: 0.6 }],
    ["what was said twice", { evidence: 2 }],
    ["what was said lately", { at: "2026-01-01T00:00:00.000Z" }],
    ["what was taken in lately", { storedAt: "2026-01-01T00:00:00.000Z" }],
    ["what is still to come", { kind: "event", when: "2027-01-01" }],
    ["what was changed by hand", { action: "updated" }],
    ["what waits for people to look at", { quarantined: true }],
    ["where somebody lives", { claim: { subject: "user", relation: "live in", value: "Porto" } }],
    ["an allergy", { claim: { subject: "user", relation: "be allergic to", value: "nuts" } }],
  ])("leaves %s alone", async (_what, fields) => {
    await put({ ...OLD, ...fields }, { id: "left", ...OLD });
    expect(of(await ann.optimize(), "clean-up").map(({ id }) => id)).toEqual(["left"]);
  });

  it("leaves memories alone that others depend on", async () => {
    const [left, ground] = ["left", "ground"].map((id) => stored(id, 1, OLD));
    if (!left || !ground) return;
    await record.commit(
      ANN,
      makeChangeSet({
        memories: [left, ground],
        links: [{ from: "left", type: "depends_on", to: "ground", strength: 1 }],
      }),
    );
    expect(of(await ann.optimize(), "clean-up")).toEqual([]);
    expect(await texts()).toHaveLength(2);
  });

  it("archives by the age, importance and kinds that are named, and still leaves the rest alone", async () => {
    const lately = { at: "2026-01-01T00:00:00.000Z", storedAt: "2026-01-01T00:00:00.000Z" };
    await put(
      { ...OLD, ...lately, id: "young", importance: 0.2 },
      { ...OLD, ...lately, id: "matters", importance: 0.3 },
      { ...OLD, ...lately, id: "liked", kind: "preference", importance: 0.2 },
      { ...OLD, ...lately, id: "twice", importance: 0.2, evidence: 2 },
    );
    const archived = async (options: OptimizeOptions): Promise<string[]> =>
      of(await ann.optimize({ dryRun: true, ...options }), "clean-up")
        .map(({ id }) => id)
        .sort();
    expect(await archived({})).toEqual([]);
    expect(await archived({ maxAgeDays: 1, minImportance: 0.3 })).toEqual(["young"]);
    expect(await archived({ maxAgeDays: 1, minImportance: 1 })).toEqual(["matters", "young"]);
    expect(await archived({ maxAgeDays: 1, kinds: ["preference"] })).toEqual(["liked"]);
    expect(await archived({ maxAgeDays: 1, kinds: ["semantic"] })).toEqual(["liked", "matters", "young"]);
    expect(await archived({ maxAgeDays: 1, kinds: ["episodic", "procedural"] })).toEqual([]);
    expect(await archived({ maxAgeDays: 1000, minImportance: 1 })).toEqual([]);
    const done = await ann.optimize({ maxAgeDays: 1, minImportance: 0.3 });
    expect(of(done, "clean-up").map(({ id }) => id)).toEqual(["young"]);
    expect((await ann.get("young")).archived).toBe(true);
  });

  it.each<[string, object]>([
    ["an unknown option", { max_age_days: 30 }],
    ["a negative age", { maxAgeDays: -1 }],
    ["an importance above 1", { minImportance: 2 }],
    ["an unknown kind", { kinds: ["opinion"] }],
    ["a kind outside a list", { kinds: "fact" }],
  ])("refuses %s, and changes nothing", async (_what, options) => {
    await put(OLD);
    const before = await ann.revision();
    await expect(ann.optimize(options)).rejects.toMatchObject({ code: "invalid_input" });
    expect(await ann.revision()).toBe(before);
  });

  it("moves the associations of a merged memory to the one it is merged into, and back by an undo", async () => {
    const ids = ["one", "same", "other"];
    const texts = ["The user is tall.", "The user is tall!", "The user plays."];
    await record.commit(
      ANN,
      makeChangeSet({
        memories: ids.map((id, i) => stored(id, 1, { text: texts[i] ?? "", evidence: i === 0 ? 2 : 1 })),
        links: [
          { from: "same", type: "extends", to: "other", strength: 0.5 },
          { from: "same", type: "related_to", to: "one", strength: 0.5 },
        ],
      }),
    );
    const before = await ann.links();
    const done = await ann.optimize();
    expect(of(done, "consolidation")).toMatchObject([{ id: "same", by: "one" }]);
    expect((await ann.links()).items).toEqual([{ from: "one", type: "extends", to: "other", strength: 0.5 }]);
    const revision = done.jobs.flatMap(({ revisions }) => revisions ?? [])[0] ?? 0;
    await ann.undo(revision);
    expect(await ann.links()).toEqual(before);
  });

  it("leaves recalled memories alone", async () => {
    await ann.add({ text: "The user saw a grey heron.", kind: "event", importance: 0.2 });
    await ann.add({ text: "The user bought a bucket.", kind: "event", importance: 0.2 });
    later(500);
    expect(of(await ann.optimize({ dryRun: true }), "clean-up")).toHaveLength(2);
    const { items } = await ann.recall("grey heron", { limit: 1 });
    expect(items).toHaveLength(1);
    expect(of(await ann.optimize({ dryRun: true }), "clean-up").map(({ text }) => text)).toEqual([
      "The user bought a bucket.",
    ]);
  });

  it("leaves statements from the hundred turns before the current turn alone", async () => {
    const said = [1, 2].map((number) => makeMessage(`said${number}`));
    await record.commit(ANN, makeChangeSet({ messages: said }));
    await put(
      ...said.map(({ id }) => ({
        ...OLD,
        id: `of-${id}`,
        sources: [{ message: id, start: 0, end: 5, quote: "Words" }],
      })),
    );
    const plan = await ann.optimize({ dryRun: true, currentTurn: 101 });
    expect(of(plan, "clean-up").map(({ id }) => id)).toEqual(["of-said1"]);
    expect(of(await ann.optimize({ dryRun: true }), "clean-up")).toHaveLength(2);
  });
});

it("a message stored with extraction off stays unread, whatever job runs", async () => {
  await ann.remember("I use Magnet.", { extract: "never" });
  await ann.optimize();
  expect(await texts()).toEqual([]);
  const { messages, memories } = await record.since(ANN, 0);
  expect([messages.map(({ digest }) => digest), memories]).toEqual([["never"], []]);
});
