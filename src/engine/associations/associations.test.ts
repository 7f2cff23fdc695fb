import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelExtractor } from "../../adapters/model/index.ts";
import { rulesExtractor } from "../../adapters/rules/index.ts";
import { ASSOCIATION_TYPES, type AssociationType } from "../../domain/change-set.ts";
import { createMemory } from "../../memory.ts";
import { itemsAnswer, type ModelItem, scriptedModel, turnNumber } from "../../testing/test-doubles.ts";
import type { RelatedOptions } from "../api/association-types.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import { MAX_LINKS_OF_MEMORY } from "./links.ts";

let keepsake: Keepsake;
let ana: ScopedMemory;
let now = Date.parse("2026-03-01T12:00:00Z");

beforeEach(async () => {
  now = Date.parse("2026-03-01T12:00:00Z");
  keepsake = await createMemory({ path: ":memory:", clock: () => new Date(now) });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

async function add(text: string, memory: ScopedMemory = ana): Promise<string> {
  const { memories } = await memory.add({ text });
  return memories[0]?.id ?? "";
}

/** Ids of some new memories. */
const addSome = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => add(`Statement number ${i}.`)));

/** The texts of related memories, with their strengths. */
async function relatedTo(id: string, options?: RelatedOptions): Promise<[string, number][]> {
  const { items } = await ana.related(id, options);
  return items.map(({ memory, strength }) => [memory.text, Number(strength.toFixed(3))]);
}

const code = (wanted: string): object => expect.objectContaining({ code: wanted });

describe("an association made by hand", () => {
  it("is listed, found from both of its ends, and in the history by its ids", async () => {
    const [home, gym] = [await add("Lives in Porto."), await add("Trains in Porto.")];
    const link = { from: gym, type: "depends_on", to: home, strength: 0.9 } as const;
    const made = await ana.link(gym, home, { type: "depends_on", strength: 0.9 });
    expect(made).toEqual({ revision: 3, linked: [link], unlinked: [] });
    expect(await ana.links()).toEqual({ items: [link], total: 1 });
    expect(await ana.links({ memory: home, type: "depends_on" })).toEqual({ items: [link], total: 1 });
    expect(await ana.links({ type: "extends" })).toEqual({ items: [], total: 0 });
    expect(await relatedTo(home)).toEqual([["Trains in Porto.", 0.9]]);
    const { items } = await ana.related(gym);
    expect(items).toMatchObject([{ memory: { id: home }, strength: 0.9, depth: 1, path: [link] }]);
    expect(await ana.history(undefined, { limit: 1 })).toMatchObject([{ cause: "link", linked: [link] }]);
  });

  it("of each type exists once; another strength replaces the first, and the same one writes nothing", async () => {
    const [a = "", b = ""] = await addSome(2);
    for (const type of ASSOCIATION_TYPES) await ana.link(a, b, { type });
    expect((await ana.links()).total).toBe(ASSOCIATION_TYPES.length);
    const changed = await ana.link(a, b, { strength: 0.25 });
    expect(changed).toMatchObject({ linked: [{ strength: 0.25 }], unlinked: [{ strength: 1 }] });
    const again = await ana.link(a, b, { strength: 0.25 });
    expect(again).toEqual({ revision: changed.revision, linked: [], unlinked: [] });
    expect(await ana.unlink(a, b, { type: "extends" })).toMatchObject({ unlinked: [{ type: "extends" }] });
    expect((await ana.unlink(a, b)).unlinked).toHaveLength(ASSOCIATION_TYPES.length - 1);
    expect((await ana.links()).total).toBe(0);
  });

  it("is refused for the memory itself, a wrong type, a wrong strength, or an unknown memory, and writes nothing", async () => {
    const [a = "", b = ""] = await addSome(2);
    const before = await ana.revision();
    const elsewhere = await add("Of another user.", keepsake.scope({ user: "ben" }));
    await expect(ana.link(a, a)).rejects.toEqual(code("invalid_input"));
    await expect(ana.link(a, b, { type: "supersedes" as AssociationType })).rejects.toEqual(
      code("invalid_input"),
    );
    for (const strength of [-0.1, 1.1, Number.NaN])
      await expect(ana.link(a, b, { strength })).rejects.toEqual(code("invalid_input"));
    for (const id of ["nobody", elsewhere]) {
      await expect(ana.link(a, id)).rejects.toEqual(code("not_found"));
      await expect(ana.unlink(id, a)).rejects.toEqual(code("not_found"));
      await expect(ana.links({ memory: id })).rejects.toEqual(code("not_found"));
      await expect(ana.related(id)).rejects.toEqual(code("not_found"));
    }
    await expect(ana.unlink(a, b)).rejects.toEqual(code("not_found"));
    await expect(ana.related(a, { depth: 6 })).rejects.toEqual(code("invalid_input"));
    await expect(ana.related(a, { minStrength: 2 })).rejects.toEqual(code("invalid_input"));
    await expect(ana.links({ cursor: "x" })).rejects.toEqual(code("invalid_input"));
    expect(await ana.revision()).toBe(before);
  });

  it("is one of at most 200 of a memory", async () => {
    const [hub = "", ...others] = await addSome(MAX_LINKS_OF_MEMORY + 2);
    for (const id of others.slice(0, -1)) await ana.link(hub, id);
    await expect(ana.link(others.at(-1) ?? "", hub)).rejects.toEqual(code("invalid_input"));
    await ana.link(hub, others[0] ?? "", { strength: 0.5 });
  }, 60_000);

  it("comes in pages that contain each once", async () => {
    const [a = "", ...others] = await addSome(6);
    for (const id of others) await ana.link(a, id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ana.links({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ to }) => to));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([...others].sort());
  });

  it("is erased with either of its ends, and in no export afterwards", async () => {
    const [a = "", b = "", c = ""] = await addSome(3);
    await ana.link(a, b);
    await ana.link(b, c);
    const { erased } = await ana.forget({ ids: [b] });
    expect(erased.links).toBe(2);
    expect((await ana.links()).total).toBe(0);
    const lines: string[] = [];
    for await (const line of ana.export()) lines.push(line.type);
    expect(lines).toEqual(["keepsake", "memory", "memory"]);
  });

  it("is exported as a line of its own, but not once an end has expired", async () => {
    const [a = "", b = ""] = await addSome(2);
    await ana.link(a, b, { strength: 0.5 });
    const links = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const line of ana.export()) if (line.type === "link") found.push(line.link);
      return found;
    };
    expect(await links()).toEqual([{ from: a, type: "related_to", to: b, strength: 0.5 }]);
    await ana.update(b, { expiresAt: new Date(now + 1000) });
    now += 2000;
    expect(await links()).toEqual([]);
    expect((await ana.links()).total).toBe(0);
    expect((await ana.related(a)).items).toEqual([]);
  });
});

describe("an undo", () => {
  it("removes an association that was made, restores one that was removed, and its earlier strength", async () => {
    const [a = "", b = ""] = await addSome(2);
    const strengths = async (): Promise<number[]> =>
      (await ana.links()).items.map(({ strength }) => strength);
    const made = await ana.link(a, b, { strength: 0.2 });
    const changed = await ana.link(a, b, { strength: 0.7 });
    await ana.undo(changed.revision);
    expect(await strengths()).toEqual([0.2]);
    await expect(ana.undo(changed.revision)).rejects.toEqual(code("conflict"));
    const removed = await ana.unlink(a, b);
    await expect(ana.undo(made.revision)).rejects.toEqual(code("conflict"));
    const { revision } = await ana.undo(removed.revision);
    expect(await strengths()).toEqual([0.2]);
    await ana.undo(revision);
    expect(await strengths()).toEqual([]);
  });

  it("restores nothing whose end was erased", async () => {
    const [a = "", b = "", c = ""] = await addSome(3);
    await ana.link(a, b);
    await ana.link(a, c);
    const removed = await ana.unlink(a, b);
    await ana.forget({ ids: [b] });
    await ana.undo(removed.revision);
    expect((await ana.links()).items).toMatchObject([{ from: a, to: c }]);
  });
});

describe("a walk along associations", () => {
  it("multiplies the strengths, prefers the strongest way, ends at its depth, and passes cycles", async () => {
    const [a = "", b = "", c = "", d = ""] = await addSome(4);
    await ana.link(a, b, { strength: 0.8 });
    await ana.link(b, c, { strength: 0.5 });
    await ana.link(a, c, { strength: 0.3 });
    await ana.link(c, d, { strength: 0.5 });
    await ana.link(d, a, { strength: 0.1, type: "contradicts" });
    const [B, C, D] = ["Statement number 1.", "Statement number 2.", "Statement number 3."];
    expect(await relatedTo(a)).toEqual([
      [B, 0.8],
      [C, 0.3],
      [D, 0.1],
    ]);
    expect(await relatedTo(a, { depth: 2 })).toEqual([
      [B, 0.8],
      [C, 0.4],
      [D, 0.15],
    ]);
    expect(await relatedTo(a, { depth: 5 })).toEqual([
      [B, 0.8],
      [C, 0.4],
      [D, 0.2],
    ]);
    expect(await relatedTo(a, { depth: 5, minStrength: 0.4 })).toEqual([
      [B, 0.8],
      [C, 0.4],
    ]);
    expect(await relatedTo(a, { types: ["contradicts"] })).toEqual([[D, 0.1]]);
    const { items, total } = await ana.related(a, { depth: 3, limit: 1 });
    expect([items.length, total]).toEqual([1, 3]);
    const { items: deep } = await ana.related(a, { depth: 3 });
    expect(deep.at(-1)?.path.map(({ to }) => to)).toEqual([b, c, d]);
  });

  it("neither shows nor passes what is not current, unless it is asked for", async () => {
    const [a = "", b = "", c = ""] = await addSome(3);
    await ana.link(a, b);
    await ana.link(b, c);
    await ana.remove(b);
    expect(await relatedTo(a, { depth: 2 })).toEqual([]);
    expect(await relatedTo(a, { depth: 2, status: "all" })).toHaveLength(2);
  });

  it("follows what was told in one sentence or is about the same, and not where somebody decided otherwise", async () => {
    await ana.remember("I use Shram and Magnet as productivity tools. The weather was fine.");
    await ana.remember("I like Shram.");
    const { items } = await ana.list();
    const idOf = (text: string): string => items.find((one) => one.text === text)?.id ?? "";
    const shram = idOf("The user uses Shram as a productivity tool.");
    expect(await relatedTo(shram)).toEqual([
      ["The user uses Magnet as a productivity tool.", 0.5],
      ["The user likes Shram.", 0.4],
    ]);
    expect((await ana.related(shram)).items.map(({ path }) => path[0]?.inferred)).toEqual([
      "told together",
      "about the same",
    ]);
    expect(await relatedTo(shram, { inferred: false })).toEqual([]);
    expect(await relatedTo(shram, { types: ["extends"] })).toEqual([]);
    await ana.link(idOf("The user likes Shram."), shram, { strength: 0 });
    expect(await relatedTo(shram)).toEqual([["The user uses Magnet as a productivity tool.", 0.5]]);
    expect((await ana.links()).total).toBe(1);
  });

  it("neither shows nor passes an association with a strength of 0", async () => {
    const [a = "", b = "", c = ""] = await addSome(3);
    await ana.link(a, b, { strength: 0 });
    await ana.link(b, c);
    expect(await relatedTo(a, { depth: 2 })).toEqual([]);
    expect(await relatedTo(b, { minStrength: 0 })).toEqual([["Statement number 2.", 1]]);
    expect((await ana.links()).total).toBe(2);
  });
});

it("what a speaker tells about themselves is not about the same person, and what others tell about them is", async () => {
  const say = (name: string, content: string) => ana.remember({ role: "user", name, content });
  await say("Jon", "I live in Ghent.");
  await say("Jon", "I play the oboe.");
  await say("Gina", "My brother Paul works as a nurse.");
  await say("Gina", "My brother Paul plays the harp.");
  const { items } = await ana.list();
  const textsAbout = async (words: string): Promise<string[]> => {
    const { id = "" } = items.find(({ text }) => text.includes(words)) ?? {};
    return (await relatedTo(id)).map(([text]) => text as string);
  };
  expect(await textsAbout("oboe")).toEqual([]);
  expect(await textsAbout("nurse")).toContain("Gina's brother Paul plays the harp.");
});

describe("a memory that depends on another", () => {
  const inReview = async (): Promise<string[]> =>
    (await ana.list({ review: true })).items.map(({ id }) => id);

  it("waits for a review when that one is replaced, removed, reworded, ended or erased, and not otherwise", async () => {
    const changes: readonly [string, (ground: string) => Promise<unknown>, boolean][] = [
      ["supersede", () => ana.supersede("Ghent", { text: "The user lives in Porto." }), true],
      ["remove", (ground) => ana.remove(ground), true],
      ["reword", (ground) => ana.update(ground, { text: "The user lives near Ghent." }), true],
      ["end", (ground) => ana.update(ground, { validTo: new Date(now - 1000) }), true],
      ["erase", (ground) => ana.forget({ ids: [ground] }), true],
      ["weigh", (ground) => ana.update(ground, { importance: 0.9 }), false],
      ["repeat", () => ana.add({ text: "The user lives in Ghent." }), false],
    ];
    for (const [name, change, isMarked] of changes) {
      const ground = await add("The user lives in Ghent.");
      const dependent = await add(`The user trains there: ${name}.`);
      const derived = await add(`The user is a Fleming: ${name}.`);
      const loose = await add(`The user has a view: ${name}.`);
      await ana.link(dependent, ground, { type: "depends_on" });
      await ana.link(derived, ground, { type: "derived_from" });
      await ana.link(loose, ground, { type: "related_to" });
      await change(ground);
      expect([name, (await inReview()).sort()]).toEqual([name, isMarked ? [dependent, derived].sort() : []]);
      const { review, text } = await ana.get(dependent);
      expect([name, review?.because]).toEqual([
        name,
        isMarked ? (name === "erase" ? [] : [ground]) : undefined,
      ]);
      expect(text).toBe(`The user trains there: ${name}.`);
      await ana.forget({ everything: true });
    }
  });

  it("leaves the list when a person says that it holds, words it anew, or removes it", async () => {
    const ground = await add("The user lives in Ghent.");
    const [holds = "", reworded = "", gone = "", repeated = ""] = await addSome(4);
    for (const id of [holds, reworded, gone, repeated]) await ana.link(id, ground, { type: "depends_on" });
    await ana.remove(ground);
    expect(await inReview()).toHaveLength(4);
    await ana.update(holds, { importance: 0.9 });
    expect(await inReview()).toHaveLength(4);
    await ana.update(holds, { reviewed: true });
    await ana.update(reworded, { text: "Something else." });
    await ana.remove(gone);
    await ana.add({ text: "Statement number 3." });
    expect(await inReview()).toEqual([]);
    expect((await ana.history(holds)).map(({ why }) => why)).toEqual([
      undefined,
      "something that it depends on has changed",
      "changed by hand",
      "reviewed by hand",
    ]);
    await expect(ana.update(holds, { reviewed: false as unknown as true })).rejects.toEqual(
      code("invalid_input"),
    );
  });

  it("is marked by what the user says, and no longer so after an undo of that", async () => {
    await ana.remember("I live in Ghent.");
    const [home] = (await ana.list()).items;
    const gym = await add("The user trains at the gym on the corner.");
    await ana.link(gym, home?.id ?? "", { type: "depends_on" });
    const { revision } = await ana.remember("I moved to Porto.");
    expect(await inReview()).toEqual([gym]);
    await ana.undo(revision);
    expect(await inReview()).toEqual([]);
  });

  it("keeps what was done about it when the change is undone later", async () => {
    const ground = await add("The user lives in Ghent.");
    const [dependent = ""] = await addSome(1);
    await ana.link(dependent, ground, { type: "depends_on" });
    const { revision } = await ana.remove(ground);
    await ana.update(dependent, { text: "A new wording." });
    await ana.undo(revision);
    expect((await ana.get(dependent)).text).toBe("A new wording.");
    expect((await ana.get(ground)).status).toBe("current");
  });

  it("loses erased words before it is marked", async () => {
    await ana.remember("I use Shram and Magnet as productivity tools.");
    const { items } = await ana.list();
    const idOf = (word: string): string => items.find(({ text }) => text.includes(word))?.id ?? "";
    await ana.link(idOf("Shram"), idOf("Magnet"), { type: "depends_on" });
    const { complete, erased } = await ana.forget("Magnet");
    expect([complete, erased.links, erased.rewritten]).toEqual([true, 1, 1]);
    expect(await inReview()).toEqual([idOf("Shram")]);
    const left: unknown[] = [await ana.history(idOf("Shram")), await ana.history()];
    for await (const line of ana.export()) left.push(line);
    expect(JSON.stringify(left)).not.toContain("Magnet");
    expect((await keepsake.audit()).broken).toEqual([]);
  });
});

describe("an association that a model proposes", () => {
  const PARROT = "The parrot answers to Zed, since we moved.";
  /** A memory with two facts, and a model that finds these links in one sentence. */
  async function understood(
    links: unknown,
    wanted = true,
  ): Promise<{ memory: ScopedMemory; prompts: readonly string[]; close(): Promise<void> }> {
    const model = scriptedModel(({ turns }) => {
      const turn = turnNumber(turns.at(-1)?.content ?? "", PARROT);
      const fact = {
        turn,
        quote: "parrot answers to Zed",
        who: "user/parrot",
        verb: "be called",
        what: "Zed",
      };
      return turn === 0 ? itemsAnswer() : itemsAnswer({ ...fact, links } as Partial<ModelItem>);
    });
    const extractor = [rulesExtractor(), modelExtractor(model, { links: wanted })];
    const own = await createMemory({ path: ":memory:", model, extractor });
    const memory = own.scope({ user: "ana" });
    await memory.add({ text: "The user lives in Porto." });
    await memory.remember(PARROT);
    await memory.understand();
    const prompts = model.asked.map(({ turns, shape }) => JSON.stringify([turns, shape]));
    return { memory, prompts, close: () => own.close() };
  }

  it("is stored with the memory, in one revision that an undo reverts whole", async () => {
    const { memory, prompts, close } = await understood([{ to: 1, as: "depends_on", strength: 9 }]);
    const { items } = await memory.list();
    const zed = items.find(({ text }) => text.includes("Zed"))?.id;
    const home = items.find(({ text }) => text.includes("Porto"))?.id;
    expect((await memory.links()).items).toEqual([{ from: zed, type: "depends_on", to: home, strength: 1 }]);
    expect(prompts.join("")).toContain("depends_on");
    const [newest] = await memory.history(undefined, { limit: 1 });
    expect(newest).toMatchObject({ cause: "digest", memories: [{ id: zed }], linked: [{ from: zed }] });
    await memory.undo(newest?.revision ?? 0);
    expect((await memory.links()).total).toBe(0);
    await close();
  });

  it.each([
    ["a memory that it was not shown", [{ to: 7, as: "depends_on", strength: 9 }]],
    ["an unknown type", [{ to: 1, as: "supersedes", strength: 9 }]],
    ["no list", "1"],
    ["an id", [{ to: "019f", as: "depends_on", strength: 9 }]],
  ])("is left out if it names %s, and the memory is stored", async (_what, links) => {
    const { memory, close } = await understood(links);
    expect((await memory.links()).total).toBe(0);
    expect((await memory.list()).total).toBe(2);
    await close();
  });

  it("is not asked for by default", async () => {
    const { prompts, close } = await understood([], false);
    expect(prompts.join("")).not.toContain("depends_on");
    await close();
  });
});
