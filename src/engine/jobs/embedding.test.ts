import { afterEach, beforeEach, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { SearchUnit } from "../../domain/change-set.ts";
import { invalid, MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMemory, makeMessage, makeUnit } from "../../testing/memory-store/change-sets.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import type { Keepsake } from "../api/keepsake.ts";
import { runInUserQueue } from "../change-set.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { countPendingUnits, type EmbedProgress, embedPending } from "./embedding.ts";

const ANN = { project: "default", user: "ann" };
const hash = hashEmbedder(64);
/** The space of the units that `remote()` embeds. */
const REMOTE = spaceOf({ fingerprint: "remote-1/64" });
const clock = (): Date => new Date("2026-01-01T00:00:00Z");

let record: MemoryStore;
let opened: Keepsake[] = [];
beforeEach(() => {
  record = createInMemoryStore();
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

/** An embedder across a network that remembers what it was asked, and can be down. */
function remote(fields: Partial<Embedder> = {}): Embedder & { asked: string[]; isDown: boolean } {
  const given = {
    ...hash,
    fingerprint: "remote-1/64",
    local: false,
    patienceMs: 200,
    asked: [] as string[],
    isDown: false,
    async embed(texts: readonly string[]): Promise<Float32Array[]> {
      if (given.isDown) throw new MemoryError("unavailable", "the embedding server cannot be reached.");
      given.asked.push(...texts);
      await new Promise((resolve) => setTimeout(resolve, 1));
      return hash.embed(texts);
    },
    ...fields,
  };
  return given;
}

async function open(embedder: Embedder): Promise<Keepsake> {
  const memory = await createMemory({ record, embedder });
  opened.push(memory);
  return memory;
}

async function unitsOf(user = "ann"): Promise<readonly SearchUnit[]> {
  return (await record.since({ project: "default", user }, 0)).units;
}

/** A user's messages and memories as an older embedder left them. */
async function fill(count: number, user = "ann"): Promise<void> {
  const scope = { project: "default", user };
  const numbers = Array.from({ length: count }, (_, i) => i);
  await record.commit(
    scope,
    makeChangeSet({
      messages: numbers.map((i) => makeMessage(`m${i}`, { content: `Message number ${i} of ${user}.` })),
      memories: numbers.map((i) => makeMemory(`f${i}`, 1, { text: `Memory number ${i} of ${user}.` })),
      units: numbers.flatMap((i) => [
        {
          ...makeUnit(`m${i}#0`, "passage", `m${i}`),
          start: 0,
          end: `Message number ${i} of ${user}.`.length,
        },
        makeUnit(`f${i}`, "memory", `f${i}`),
      ]),
    }),
  );
}

async function all(steps: AsyncIterable<EmbedProgress>): Promise<EmbedProgress[]> {
  const seen: EmbedProgress[] = [];
  for await (const step of steps) seen.push(step);
  return seen;
}

async function until(isSo: () => Promise<boolean>, ms = 5000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error("it never came to that");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it("a message is committed before a remote embedder is asked, and embedded after", async () => {
  const embedder = remote({
    embed: async (texts) => {
      // What it is asked for stands in the record already.
      expect((await unitsOf()).length).toBeGreaterThan(0);
      return hash.embed(texts);
    },
  });
  const ann = (await open(embedder)).scope({ user: "ann" });
  const receipt = await ann.remember("I use Shram as a productivity tool.");
  expect(receipt.memories).toHaveLength(1);
  const before = await unitsOf();
  expect(before.map(({ space, vector }) => [space, vector.length])).toEqual([
    ["", 0],
    ["", 0],
  ]);
  await until(async () => (await unitsOf()).every(({ space }) => space === REMOTE));
  for (const { vector } of await unitsOf()) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
});

it("a unit without a vector is found by its words, and writes work while the embedder is down", async () => {
  const embedder = remote();
  embedder.isDown = true;
  const keepsake = await open(embedder);
  const ann = keepsake.scope({ user: "ann" });
  await ann.remember("I use Shram as a productivity tool.");
  expect((await ann.recall("productivity tool")).items.length).toBeGreaterThan(0);
  await until(async () => (await keepsake.embedding()).problem !== undefined);
  expect(await keepsake.embedding()).toEqual({
    space: "remote-1/64",
    left: 2,
    running: true,
    problem: "the embedding server cannot be reached.",
  });
  embedder.isDown = false;
  // It tries again by itself.
  await until(async () => !(await keepsake.embedding()).running);
  expect(await keepsake.embedding()).toEqual({ space: "remote-1/64", left: 0, running: false });
});

it("an erased text is not sent, and the rest of a message is embedded again", async () => {
  const embedder = remote();
  const keepsake = await open(embedder);
  const ann = keepsake.scope({ user: "ann" });
  await ann.remember("I use Shram and Magnet as productivity tools. The weather is fine.");
  await until(async () => (await keepsake.embedding()).left === 0);
  embedder.asked.length = 0;
  await ann.forget("Magnet");
  await until(async () => (await keepsake.embedding()).left === 0);
  expect(embedder.asked.filter((text) => text.includes("Magnet"))).toEqual([]);
  expect((await unitsOf()).every(({ space }) => space === REMOTE)).toBe(true);
});

it("units of an older word analysis are analysed again, and keep their vectors", async () => {
  const scope = { project: "default", user: "ann" };
  const text = "부산에서 고양이를 키워요.";
  const [vector = new Float32Array(64)] = await hash.embed([text]);
  await record.commit(
    scope,
    makeChangeSet({
      messages: [makeMessage("m0", { content: text })],
      units: [
        { ...makeUnit("m0#0", "passage", "m0", "old terms"), end: text.length, space: "remote-1/64", vector },
      ],
    }),
  );
  const embedder = remote();
  expect(await countPendingUnits({ store: record, embedder })).toBe(1);
  await all(embedPending({ store: record, embedder, clock }));
  expect(embedder.asked).toEqual([]);
  expect(await unitsOf()).toMatchObject([{ space: REMOTE, vector, terms: "부산 고양 양이 키워" }]);
  const ann = (await open(embedder)).scope({ user: "ann" });
  expect((await ann.recall("고양이")).items.map((item) => item.text)).toEqual([text]);
});

it("units of another space are embedded for every user in commits of a hundred, with a countdown", async () => {
  await fill(130);
  await fill(10, "bob");
  const embedder = remote();
  const ports = { store: record, embedder, clock };
  expect(await countPendingUnits(ports)).toBe(280);
  expect(await all(embedPending(ports))).toEqual([
    { done: 100, left: 180 },
    { done: 200, left: 80 },
    { done: 260, left: 20 },
    { done: 280, left: 0 },
  ]);
  const wanted = await hash.embed(["Message number 7 of ann.", "Memory number 7 of bob."]);
  const find = async (user: string, id: string) => (await unitsOf(user)).find((one) => one.id === id);
  expect(await find("ann", "m7#0")).toMatchObject({
    space: REMOTE,
    vector: wanted[0],
    terms: "messag number 7 ann",
  });
  expect(await find("bob", "f7")).toMatchObject({ space: REMOTE, vector: wanted[1] });
  expect(embedder.asked).toHaveLength(280);
  const log = await record.log(ANN, { limit: 10 });
  expect(log.map(({ cause, messages, memories }) => [cause, messages.length, memories.length])).toEqual([
    ["reindex", 0, 0],
    ["reindex", 0, 0],
    ["reindex", 0, 0],
    ["remember", 130, 130],
  ]);
  expect(await all(embedPending(ports))).toEqual([]);
});

it("resumes after an interruption, and embeds nothing twice", async () => {
  await fill(150);
  const embedder = remote();
  const stopping = new AbortController();
  const broken = (async () => {
    for await (const { done } of embedPending({ store: record, embedder, clock }, stopping.signal))
      if (done === 200) stopping.abort(new Error("enough"));
  })();
  await expect(broken).rejects.toThrow("enough");
  expect(await countPendingUnits({ store: record, embedder })).toBe(100);
  await all(embedPending({ store: record, embedder, clock }));
  expect(embedder.asked).toHaveLength(300);
  expect(new Set(embedder.asked).size).toBe(300);
});

it("a user who writes during embedding loses nothing, and no text is paid for twice", async () => {
  await fill(40);
  let isFirst = true;
  const embedder = remote({
    async embed(texts) {
      asked += texts.length;
      if (isFirst) {
        isFirst = false;
        // Written between the reading and the commit: one unit goes, one comes.
        await record.commit(
          ANN,
          makeChangeSet({ base: 1, dropUnits: ["f3"], units: [makeUnit("f50", "memory", "f1")] }),
        );
      }
      return hash.embed(texts);
    },
  });
  let asked = 0;
  await all(embedPending({ store: record, embedder, clock }));
  const ids = (await unitsOf()).map(({ id }) => id);
  expect([ids.includes("f3"), ids.includes("f50"), ids.length]).toEqual([false, true, 80]);
  expect((await unitsOf()).every(({ space }) => space === REMOTE)).toBe(true);
  expect(asked).toBe(80);
});

it("a slow write is not repeated because of embedding meanwhile", async () => {
  await fill(450);
  const embedder = remote();
  const commits: string[] = [];
  const counted: MemoryStore = {
    ...record,
    async commit(scope, drafted) {
      commits.push(drafted.cause);
      return record.commit(scope, drafted);
    },
  };
  const embedding = all(embedPending({ store: counted, embedder, clock }));
  await until(async () => commits.length > 1);
  await runInUserQueue(counted, ANN, async () => {
    const base = await counted.revision(ANN);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await counted.commit(ANN, makeChangeSet({ base, messages: [makeMessage("late")] }));
  });
  await embedding;
  expect(commits.filter((cause) => cause === "remember")).toHaveLength(1);
  expect(await countPendingUnits({ store: record, embedder })).toBe(0);
});

it("a text that the embedder always rejects does not block the others", async () => {
  await fill(30);
  const embedder = remote({
    embed: async (texts) => {
      if (texts.some((text) => text.includes("number 7 "))) throw invalid("the embedding server refuses it.");
      return hash.embed(texts);
    },
  });
  await all(embedPending({ store: record, embedder, clock }));
  const units = await unitsOf();
  expect(units.every(({ space }) => space === REMOTE)).toBe(true);
  expect(units.filter(({ vector }) => vector.every((part) => part === 0)).map(({ id }) => id)).toEqual([
    "f7",
    "m7#0",
  ]);
});

it("an embedder that rejects everything is reported as a configuration error, and no unit is marked as done", async () => {
  await fill(3);
  const embedder = remote({
    embed: () => Promise.reject(invalid("the embedding server refuses what it was sent.")),
  });
  await expect(all(embedPending({ store: record, embedder, clock }))).rejects.toMatchObject({
    code: "invalid_input",
  });
  expect(await countPendingUnits({ store: record, embedder })).toBe(6);
});

it("after a change of the embedder, units are embedded again in the background", async () => {
  const before = { ...hashEmbedder(64), fingerprint: "before/64" };
  const first = await open(before);
  await first.scope({ user: "ann" }).remember(["I live in Porto.", "I play the cello."].join(" "));
  await first.scope({ user: "bob" }).remember("I use Shram.");
  await first.close();
  const second = await open({ ...hashEmbedder(64), fingerprint: "after/64" });
  expect((await second.embedding()).left).toBeGreaterThan(3);
  expect((await second.scope({ user: "ann" }).recall("cello")).items.length).toBeGreaterThan(0);
  await until(async () => (await second.embedding()).left === 0);
  for (const user of ["ann", "bob"])
    expect((await unitsOf(user)).every(({ space }) => space === spaceOf({ fingerprint: "after/64" }))).toBe(
      true,
    );
});

it("runs at once when requested, whatever runs in the background", async () => {
  await fill(150);
  const embedder = remote();
  const keepsake = await open(embedder);
  await keepsake.scope({ user: "ann" }).remember("I use Shram.");
  const steps = await all(keepsake.reindex());
  expect(steps.at(-1)?.left).toBe(0);
  expect((await keepsake.embedding()).left).toBe(0);
});

it("completes an interrupted reindex in the background", async () => {
  await fill(300);
  const embedder = remote();
  const keepsake = await open(embedder);
  for await (const { done } of keepsake.reindex()) if (done >= 200) break;
  expect((await keepsake.embedding()).left).toBeGreaterThan(0);
  await until(async () => (await keepsake.embedding()).left === 0);
  expect(embedder.asked).toHaveLength(600);
});

it("closing interrupts it and waits for its end; the next start resumes", async () => {
  await fill(500);
  const slow = remote({
    embed: async (texts) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return hash.embed(texts);
    },
  });
  const keepsake = await open(slow);
  await keepsake.scope({ user: "ann" }).remember("I use Shram.");
  await until(async () => (await keepsake.embedding()).left < 900);
  await keepsake.close();
  const left = await countPendingUnits({ store: record, embedder: remote() });
  expect(left).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await countPendingUnits({ store: record, embedder: remote() })).toBe(left);
  const next = await open(remote());
  await until(async () => (await next.embedding()).left === 0);
});
