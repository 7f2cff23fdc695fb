import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import type { Reranker } from "../../ports/language/reranker.ts";
import type { Meter } from "../../ports/telemetry.ts";
import type { Keepsake } from "../api/keepsake.ts";

const memories: Keepsake[] = [];
afterEach(async () => {
  for (const memory of memories.splice(0)) await memory.close();
});

async function open(options: MemoryOptions = {}): Promise<Keepsake> {
  const memory = await createMemory({ path: ":memory:", ...options });
  memories.push(memory);
  return memory;
}

/** A reranker that rates texts by a rule, and keeps what it was given. */
function ruleReranker(rate: (text: string, i: number) => number): Reranker & { readonly asked: string[][] } {
  const asked: string[][] = [];
  return {
    name: "rule",
    local: true,
    asked,
    async score(_query, texts) {
      asked.push([...texts]);
      return texts.map(rate);
    },
  };
}

const TOWNS = ["Porto", "Braga", "Faro", "Evora", "Lagos"];

async function openTowns(options: MemoryOptions) {
  const memory = await open(options);
  const ana = memory.scope({ user: "ana" });
  for (const town of TOWNS) await ana.add({ text: `Ana drank green tea in ${town}.` });
  return ana;
}

describe("a recall with a reranker", () => {
  it("gives the items in the reranker's order, with scores that fall, and explains both", async () => {
    const plain = await (await openTowns({})).recall("green tea", { explain: true });
    const ana = await openTowns({ reranker: ruleReranker((text) => (text.includes("Lagos") ? 0.9 : 0.1)) });
    const { id, items, explanation } = await ana.recall("green tea", { explain: true });
    expect(items[0]?.text).toContain("Lagos");
    const rounded = ({ score }: { score: number }) => Math.round(score * 1000);
    expect(items.map(rounded)).toEqual(plain.items.map(rounded));
    expect(items[0]?.why?.reranked).toEqual({ rank: 1, score: 0.9 });
    expect(explanation?.reranking).toEqual({ name: "rule", outcome: "reranked", candidates: 5 });
    const later = await ana.explain(id);
    expect(later.reranking).toEqual({ name: "rule", outcome: "reranked", candidates: 5 });
    expect(later.items.map((item) => item.id)).toEqual(items.map((item) => item.id));
    expect(later.items[0]).toMatchObject({ reranked: { rank: 1, score: 0.9 } });
  });

  it("explains every part of each score, at once and later", async () => {
    const ana = await openTowns({ reranker: ruleReranker((_text, i) => i / 10) });
    await ana.remember("I use Shram and Magnet as productivity tools.");
    await ana.remember("I don't use Magnet anymore.");
    const { id, items } = await ana.recall("What tools do I use, and do I drink green tea?", {
      explain: true,
    });
    const later = await ana.explain(id);
    expect(items.length).toBeGreaterThan(3);
    for (const [i, item] of items.entries()) {
      const scored = later.items[i];
      for (const one of [
        { ...item.why, score: item.score },
        scored && "adds" in scored ? scored : undefined,
      ]) {
        const sum = Object.values(one?.adds ?? {}).reduce((all, part) => all + part, 0);
        const score = Object.values(one?.factors ?? {}).reduce((all, factor) => all * factor, sum);
        expect(Math.abs(score - (one?.score ?? Number.NaN))).toBeLessThan(0.005);
      }
    }
  });

  it("finds what is beyond the limit without it, and names what it left out", async () => {
    const last = (await (await openTowns({})).recall("green tea", { limit: 5 })).items.at(-1)?.text ?? "";
    const ana = await openTowns({ reranker: ruleReranker((text) => (text === last ? 1 : 0)) });
    const { items, explanation } = await ana.recall("green tea", { limit: 2, explain: true });
    expect(items).toHaveLength(2);
    expect(items[0]?.text).toBe(last);
    expect(explanation?.dropped.filter(({ why }) => why === "beyond the limit")).toHaveLength(3);
  });

  it("gives the reranker the best candidates alone, and keeps the rest after them", async () => {
    const reranker = ruleReranker((_text, i) => i / 10);
    const ana = await openTowns({ reranker, reranking: { candidates: 2 } });
    const plain = await (await openTowns({})).recall("green tea");
    const { items } = await ana.recall("green tea");
    expect(reranker.asked).toHaveLength(1);
    expect(reranker.asked[0]).toHaveLength(2);
    expect(items).toHaveLength(5);
    const textOf = ({ text }: { text: string }) => text;
    expect(items.slice(2).map(textOf)).toEqual(plain.items.slice(2).map(textOf));
    expect(items[0]?.text).toBe(plain.items[1]?.text);
  });

  it("keeps a successor before what it ended, whatever the reranker says", async () => {
    const reranker = ruleReranker((text) => (text.includes("Porto") ? 1 : 0.01));
    const ana = (await open({ reranker })).scope({ user: "ana" });
    await ana.remember("I live in Porto.");
    await ana.remember("I live in Lisbon now.");
    const { items } = await ana.recall("Where do I live?", { types: ["memory"] });
    expect(items.map(({ text, status }) => [/Porto|Lisbon/.exec(text)?.[0], status])).toEqual([
      ["Lisbon", "current"],
      ["Porto", "superseded"],
    ]);
  });

  it("gives nothing if nothing is relevant, and does not ask the reranker", async () => {
    const reranker = ruleReranker(() => 1);
    const ana = await openTowns({ reranker });
    const found = await ana.recall("the atomic weight of caesium", { explain: true });
    expect(found.abstained).toBe(true);
    expect(reranker.asked).toEqual([]);
    expect(found.explanation?.reranking).toMatchObject({ candidates: 0 });
  });

  it("reranks what answers are made from, and leaves contexts as they are", async () => {
    const reranker = ruleReranker(() => 0.5);
    const ana = await openTowns({ reranker });
    await ana.context("plan my tea party");
    expect(reranker.asked).toHaveLength(0);
    await ana.answer("Where did Ana drink green tea?");
    expect(reranker.asked.length).toBeGreaterThan(0);
  });
});

describe("a recall whose reranker is in trouble", () => {
  const TROUBLES: { readonly [what: string]: [Reranker["score"], string] } = {
    fails: [async () => Promise.reject(new Error("down")), "failed"],
    "throws at once": [
      () => {
        throw new Error("down");
      },
      "failed",
    ],
    "gives too few scores": [async () => [1], "failed"],
    "gives no numbers": [async (_query, texts) => texts.map(() => Number.NaN), "failed"],
    "gives raw values": [async (_query, texts) => texts.map((_text, i) => i * 4), "failed"],
    "takes too long and heeds the signal": [
      async (_query, texts, { signal } = {}) => {
        await pause(5000, undefined, { signal: signal ?? AbortSignal.abort() });
        return texts.map(() => 1);
      },
      "late",
    ],
    "never answers": [() => new Promise<number[]>(() => {}), "late"],
  };

  it.each(Object.entries(TROUBLES))(
    "keeps the order and says so if the reranker %s",
    async (_what, [score, outcome]) => {
      const counted: unknown[] = [];
      const meter: Meter = {
        count: (name, labels) => {
          if (name === "memory_reranks_total") counted.push(labels);
        },
        observe() {},
        set() {},
      };
      const plain = await (await openTowns({})).recall("green tea", { limit: 3 });
      const reranker = { name: "rule", local: false, score };
      const ana = await openTowns({ reranker, meter, reranking: { timeoutMs: 50 } });
      const { id, items, explanation } = await ana.recall("green tea", { limit: 3, explain: true });
      expect(items.map(({ text }) => text)).toEqual(plain.items.map(({ text }) => text));
      expect(explanation?.reranking).toMatchObject({ outcome });
      expect((await ana.explain(id)).reranking).toMatchObject({ outcome });
      expect(counted).toEqual([{ outcome }]);
    },
  );

  it("rejects with the reason of the caller's signal", async () => {
    const score = () => new Promise<number[]>(() => {});
    const ana = await openTowns({
      reranker: { name: "rule", local: false, score },
      reranking: { timeoutMs: 60_000 },
    });
    const stopping = new AbortController();
    const reason = new Error("the caller left");
    setTimeout(() => stopping.abort(reason), 30);
    await expect(ana.recall("green tea", { signal: stopping.signal })).rejects.toBe(reason);
  });

  it("asks no more than 32 times at once, and keeps the order of the others", async () => {
    const score = () => new Promise<number[]>(() => {});
    const ana = await openTowns({
      reranker: { name: "rule", local: false, score },
      reranking: { timeoutMs: 400 },
    });
    const found = await Promise.all(
      Array.from({ length: 40 }, () => ana.recall("green tea", { explain: true })),
    );
    const outcomes = found.map(({ explanation }) => explanation?.reranking?.outcome);
    expect(outcomes.filter((one) => one === "busy")).toHaveLength(8);
  });

  it("is still right about a user who was erased while the reranker worked", async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reranker: Reranker = {
      name: "rule",
      local: false,
      async score(_query, texts) {
        await held;
        return texts.map(() => 0.5);
      },
    };
    const ana = await openTowns({ reranker, reranking: { timeoutMs: 20_000 } });
    const recalling = ana.recall("green tea");
    await pause(20);
    await ana.forget({ everything: true });
    release();
    await recalling;
    expect((await ana.recall("green tea")).items).toEqual([]);
  });
});

it.each([{ candidates: 0 }, { candidates: 1000 }, { timeoutMs: 0 }, { candidate: 3 }])(
  "opening a memory refuses the limits %j on reranking",
  async (reranking) => {
    await expect(createMemory({ path: ":memory:", reranking })).rejects.toMatchObject({
      code: "invalid_input",
    });
  },
);

it("a recall says which error a reranker failed with", async () => {
  const score = () => Promise.reject(new MemoryError("unsupported", "its package is not installed."));
  const ana = await openTowns({ reranker: { name: "rule", local: true, score } });
  const { explanation } = await ana.recall("green tea", { explain: true });
  expect(explanation?.reranking).toEqual({
    name: "rule",
    outcome: "failed",
    error: "unsupported",
    candidates: 5,
  });
});
