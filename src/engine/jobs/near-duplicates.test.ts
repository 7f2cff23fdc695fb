import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createCalibration } from "../../adapters/shared/embedder-profiles/calibration.ts";
import { staticEmbedder } from "../../adapters/static/index.ts";
import { MemoryError } from "../../errors.ts";
import { englishVocabulary } from "../../language/en/vocabulary.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeMemory } from "../../testing/memory-store/change-sets.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { Optimized } from "../api/maintenance-types.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import { planMeaningMerges } from "./near-duplicates.ts";

const ANN = { project: "default", user: "ann" };
let record: MemoryStore;
let memory: Keepsake;
let ann: ScopedMemory;

beforeEach(async () => {
  record = createInMemoryStore();
  memory = await createMemory({ record });
  ann = memory.scope(ANN);
});
afterEach(() => memory.close());

const merges = ({ jobs }: Optimized) => jobs.find(({ name }) => name === "consolidation")?.memories ?? [];
const texts = async (): Promise<string[]> => (await ann.list()).items.map(({ text }) => text).sort();

async function add(...all: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of all) ids.push((await ann.add({ text })).memories[0]?.id ?? "");
  return ids;
}

describe("memories that say the same in other words", () => {
  it("are shown as pairs by a dry run, then merged with the evidence of both", async () => {
    const [bike = "", bicycle = ""] = await add(
      "The user bought a bike in Utrecht.",
      "The user purchased a bicycle in Utrecht.",
      "The user purchased a bicycle in Delft.",
    );
    const plan = merges(await ann.optimize({ dryRun: true }));
    expect(plan).toEqual([
      {
        id: bike,
        action: "merged",
        by: bicycle,
        text: "The user bought a bike in Utrecht.",
        byText: "The user purchased a bicycle in Utrecht.",
        why: expect.stringMatching(
          /^it says the same as another memory, in other words \(similarity 0\.\d\d\)$/,
        ),
      },
    ]);
    expect(await texts()).toHaveLength(3);
    expect(merges(await ann.optimize())).toEqual(plan);
    expect(await texts()).toEqual([
      "The user purchased a bicycle in Delft.",
      "The user purchased a bicycle in Utrecht.",
    ]);
    expect(await ann.get(bicycle)).toMatchObject({ evidence: 2 });
    expect(await ann.get(bike)).toMatchObject({ archived: true, supersededBy: bicycle });
  });

  it("come back both by undo, and are not merged again", async () => {
    await add("The user enjoys hiking.", "The user likes to go hiking.");
    const { jobs } = await ann.optimize();
    const [revision = 0] = jobs.flatMap((job) => job.revisions ?? []);
    expect(await texts()).toHaveLength(1);
    await ann.undo(revision);
    const { items } = await ann.list();
    expect(items.map(({ evidence }) => evidence)).toEqual([1, 1]);
    expect(merges(await ann.optimize())).toEqual([]);
  });

  it("are erased together, with no word left in the store", async () => {
    const ids = await add(
      "The user owns a marmoset.",
      "The user has a marmoset.",
      "User possesses a marmoset",
    );
    await ann.optimize();
    expect(await texts()).toHaveLength(1);
    await ann.forget("marmoset");
    for (const id of ids) await expect(ann.get(id)).rejects.toMatchObject({ code: "not_found" });
    expect(JSON.stringify(await record.versions(ANN))).not.toContain("marmoset");
  });

  it("add up with those in the same words, without losing evidence", async () => {
    await add("The user bought a bike.", "The user purchased a bicycle.", "User purchased a bicycle");
    await ann.optimize();
    await ann.optimize();
    expect((await ann.list()).items.map(({ evidence }) => evidence)).toEqual([3]);
  });

  it("stay apart if their claims are about different persons", async () => {
    const claim = { relation: "have", value: "a dog" };
    await ann.add({ text: "Has a dog.", claim: { subject: "user/sister", ...claim } });
    await ann.add({ text: "Owns a dog.", claim: { subject: "user/brother", ...claim } });
    expect(merges(await ann.optimize())).toEqual([]);
  });

  it("stay apart with an embedder that has no calibrated threshold, or a threshold that they do not reach", async () => {
    const { duplicateFloor: _floor, ...plain } = staticEmbedder();
    for (const embedder of [plain, { ...plain, duplicateFloor: 0.999 }]) {
      await using other = await createMemory({ record: createInMemoryStore(), embedder });
      const bob = other.scope({ user: "bob" });
      await bob.add({ text: "The user bought a bike." });
      await bob.add({ text: "The user purchased a bicycle." });
      expect(merges(await bob.optimize())).toEqual([]);
    }
  });

  it("are merged with an embedder whose threshold is measured at the first need, and an hour later if it could not be", async () => {
    const { duplicateFloor: _floor, ...plain } = staticEmbedder();
    let isDown = true;
    let measured = 0;
    const embed: typeof plain.embed = async (...given) => {
      measured += 1;
      if (isDown) throw new MemoryError("unavailable", "It is down.");
      return plain.embed(...given);
    };
    const calibration = createCalibration(embed, { id: "a space", folder: undefined });
    let at = Date.parse("2026-11-21T12:00:00Z");
    const embedder = { ...plain, calibration };
    await using other = await createMemory({
      record: createInMemoryStore(),
      embedder,
      clock: () => new Date(at),
    });
    const bob = other.scope({ user: "bob" });
    await bob.add({ text: "The user keeps a parrot." });
    await bob.optimize();
    expect(measured).toBe(0);
    await bob.add({ text: "The user bought a bike." });
    await bob.add({ text: "The user purchased a bicycle." });
    const { jobs } = await bob.optimize();
    expect([measured, jobs.map(({ memories }) => memories.length)]).toEqual([1, [0, 0, 0, 0]]);
    isDown = false;
    at += 3_600_000;
    expect(merges(await bob.optimize())).toMatchObject([{ action: "merged" }]);
    expect(measured).toBe(2);
  });

  it("make a user due again in an hour if the threshold could not be measured", async () => {
    const { duplicateFloor: _floor, ...plain } = staticEmbedder();
    const calibration = {
      duplicateFloor: () => Promise.reject(new MemoryError("unavailable", "It is down.")),
    };
    const memories = ["The user bought a bike.", "The user purchased a bicycle."].map((text, i) =>
      makeMemory(`m${i}`, 1, { text, kind: "fact" }),
    );
    const ports = {
      vocabulary: englishVocabulary,
      embedder: { ...plain, calibration },
      store: record,
      clock: () => new Date("2026-11-21T12:00:00Z"),
    };
    expect(await planMeaningMerges(ports, ANN, { memories, survivors: new Set() })).toEqual({
      edits: [],
      due: "2026-11-21T13:00:00.000Z",
    });
  });

  it("are merged within one user only", async () => {
    await add("The user bought a bike.");
    await memory.scope({ user: "bob" }).add({ text: "The user purchased a bicycle." });
    expect(merges(await ann.optimize())).toEqual([]);
  });
});
