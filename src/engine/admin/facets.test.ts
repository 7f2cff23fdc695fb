import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { FacetName } from "../api/listing-types.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let keepsake: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  ana = keepsake.scope({ user: "ana" });
  const add = (text: string, subject: string, relation: string, value: string, at: string) =>
    ana.add({ text, claim: { subject, relation, value }, at });
  await add("The user's sister is called Eva.", "user/sister", "be called", "Eva", "2026-01-05T10:00:00Z");
  await add("The user's sister's cat likes tuna.", "user/sister/cat", "like", "tuna", "2026-02-05T10:00:00Z");
  await add("The user married Eva Lund.", "user", "marry", "Eva Lund", "2026-02-06T10:00:00Z");
  await add("Eva works at Vantor.", "Eva", "work at", "Vantor", "2026-03-05T10:00:00Z");
  await ana.add({ text: "The sea is blue.", at: "2026-03-06T10:00:00Z" });
});
afterEach(() => keepsake.close());

const values = async (by: FacetName): Promise<[string, number][]> =>
  (await ana.facets({ by })).items.map(({ value, count }) => [value, count]);

const texts = async (subject: string): Promise<string[]> =>
  (await ana.list({ subject, sort: "oldest" })).items.map(({ text }) => text);

describe("facets", () => {
  it("count memories by person and thing: subjects with what is theirs, and values that are names", async () => {
    expect(await values("subject")).toEqual([
      ["Eva", 2],
      ["user/sister", 2],
      ["Eva Lund", 1],
      ["Vantor", 1],
      ["user/sister/cat", 1],
    ]);
    expect(await ana.facets({ by: "subject" })).toMatchObject({ total: 5, left: 1 });
  });

  it("give for each person and thing the number of memories that the list of that subject has", async () => {
    for (const [subject, count] of await values("subject"))
      expect([subject, (await texts(subject)).length]).toEqual([subject, count]);
  });

  it("count memories by kind, by month and by topic, within filters", async () => {
    expect(await values("kind")).toEqual([["fact", 5]]);
    expect(await values("month")).toEqual([
      ["2026-03", 2],
      ["2026-02", 2],
      ["2026-01", 1],
    ]);
    const work = await ana.facets({ by: "topic", from: "2026-03-01T00:00:00Z" });
    expect(work.items).toEqual([{ value: "work", count: 1 }]);
    expect(work).toMatchObject({ total: 2, left: 1 });
  });

  it("count months in a time zone, and in UTC without one", async () => {
    const bob = keepsake.scope({ user: "bob" });
    await bob.add({ text: "One thing", at: "2026-01-31T23:30:00Z" });
    const months = async (zone?: string) =>
      (await bob.facets({ by: "month", ...(zone ? { zone } : {}) })).items.map(({ value }) => value);
    expect(await months()).toEqual(["2026-01"]);
    expect(await months("Europe/Berlin")).toEqual(["2026-02"]);
    expect(await months("America/New_York")).toEqual(["2026-01"]);
    await expect(months("Nowhere")).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("count nothing of other agents, of other users, or of what was erased", async () => {
    const bob = keepsake.scope({ user: "bob" });
    expect(await bob.facets({ by: "kind" })).toEqual({ items: [], total: 0, left: 0 });
    await ana.forget("Eva");
    expect((await values("subject")).map(([value]) => value).join()).not.toContain("Eva");
  });

  it("refuse a name that they do not count by", async () => {
    await expect(ana.facets({ by: "mood" as FacetName })).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("a list", () => {
  it("has the memories of one subject, with what is theirs; the user alone for the user", async () => {
    expect(await texts("user/sister")).toEqual([
      "The user's sister is called Eva.",
      "The user's sister's cat likes tuna.",
    ]);
    expect(await texts("eva")).toEqual(["The user's sister is called Eva.", "Eva works at Vantor."]);
    expect(await texts("user")).toEqual(["The user married Eva Lund."]);
  });

  it("has the memories of one topic, and those that are sensitive or not", async () => {
    await ana.remember("I am allergic to penicillin.");
    const list = async (options: object) => (await ana.list(options)).items.map(({ text }) => text);
    expect(await list({ sensitive: true })).toEqual(["The user is allergic to penicillin."]);
    expect(await list({ topic: "Health" })).toEqual(["The user is allergic to penicillin."]);
    expect(await list({ topic: "work", sensitive: true })).toEqual([]);
    expect((await ana.list({ sensitive: false })).total).toBe(5);
    expect((await ana.list({ topic: "work", offset: 0, limit: 1 })).total).toBe(1);
  });
});
