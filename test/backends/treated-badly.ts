import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { createMemory } from "../../src/memory.ts";
import type { MemoryStore } from "../../src/ports/memory-store.ts";
import type { VectorIndex } from "../../src/ports/vector-index.ts";
import { hashEmbedder } from "../../src/testing/test-doubles.ts";
import { readIds } from "../../src/testing/vector-index/index-fixtures.ts";

/** A vendor's service as a test can have it: what may happen to it, and a follower in it. */
export interface Hosted {
  follower(): VectorIndex;
  /** Breaks the service in some way; what is given puts it right. */
  readonly faults: { readonly [fault: string]: () => Promise<() => Promise<void>> };
  /** Faults that whoever feeds the index must fail of, while they last. */
  readonly noticed?: readonly string[];
  close(): Promise<void>;
}

const ANN = { project: "default", user: "ann" };
/** What a recall may wait for an index, and what nobody would notice beside it, in ms. */
const RECALL_MS = 150;
const UNNOTICED_MS = 400;
const SOON = { timeout: 20_000, interval: 50 };
const AT_LAST = { timeout: 45_000, interval: 50 };
const TOLD = [
  "I use Shram and Magnet as productivity tools.",
  "My sister lives in Ghent.",
  "I keep bees behind the house.",
  "I play the cello in an orchestra.",
];
const LATER = ["My brother lives in Porto.", "I collect old maps of harbours."];
const ASKED = ["Where does my sister live?", "Which tools do I use?", "What do I collect?"];

/** What a memory says, by the texts of its items. */
async function answers(keepsake: Keepsake): Promise<string[][]> {
  const ann = keepsake.scope({ user: "ann" });
  const all: string[][] = [];
  for (const question of ASKED) all.push((await ann.recall(question)).items.map(({ text }) => text));
  return all;
}

/**
 * A memory with an index in a service that breaks, beside one without: the answers are the same throughout, nobody waits, and in the
 * end the index has all of it. Call it inside a `describe`.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the body of a describe, in a file of its own.
export function treatedBadly(open: () => Promise<Hosted>, faults: readonly string[]): void {
  let hosted: Hosted;
  let record: MemoryStore;
  let keepsake: Keepsake;
  let plain: Keepsake;
  const looking = async (): Promise<VectorIndex> => {
    const follower = hosted.follower();
    await follower.prepare({ fingerprint: "looked up", dimensions: 64 });
    return follower;
  };
  let index: VectorIndex;
  beforeAll(async () => {
    hosted = await open();
  }, 120_000);
  afterAll(() => hosted.close(), 60_000);
  beforeEach(async () => {
    record = createInMemoryStore();
    index = hosted.follower();
    const embedder = hashEmbedder(64);
    const indexSearch = { from: 0, timeoutMs: RECALL_MS, erasureMs: 1000 };
    keepsake = await createMemory({ record, index, embedder, indexSearch });
    plain = await createMemory({ embedder, record: createInMemoryStore() });
  });
  let mend: (() => Promise<void>) | undefined;
  const breaks = async (fault: string): Promise<void> => {
    mend = await hosted.faults[fault]?.();
  };
  const mended = async (): Promise<void> => {
    await mend?.();
    mend = undefined;
  };
  afterEach(async () => {
    await mended();
    await keepsake.close();
    await plain.close();
    await vi.waitFor(async () => (await looking()).clear(), SOON);
  }, 60_000);

  const told = async (texts: readonly string[]): Promise<number> => {
    let longest = 0;
    for (const [i, text] of texts.entries()) {
      const at = new Date(Date.UTC(2026, 0, 1, 12, i)).toISOString();
      await plain.scope({ user: "ann" }).remember(text, { at });
      const begun = performance.now();
      await keepsake.scope({ user: "ann" }).remember(text, { at });
      longest = Math.max(longest, performance.now() - begun);
    }
    return longest;
  };
  const feeding = async () =>
    (await keepsake.jobs()).find(({ name }) => name === `following ${index.name}`)?.state;
  const caughtUp = async (): Promise<void> => {
    const wanted = (await record.since(ANN, 0)).units.map(({ id }) => id).sort();
    await expect.poll(() => readIds(index, ANN).catch(() => []), SOON).toEqual(wanted);
  };

  it.each(faults)(
    "gives the same answers where it %s, holds up nobody, and has all of it afterwards",
    // It counts milliseconds beside other tests: what holds anybody up does so every time, a processor that was elsewhere does not.
    { timeout: 60_000, retry: 2 },
    async (fault) => {
      await told(TOLD);
      await caughtUp();
      expect(await answers(keepsake)).toEqual(await answers(plain));
      await breaks(fault);
      expect(await told(LATER)).toBeLessThan(UNNOTICED_MS);
      const begun = performance.now();
      expect(await answers(keepsake)).toEqual(await answers(plain));
      expect(performance.now() - begun).toBeLessThan(ASKED.length * (RECALL_MS + UNNOTICED_MS));
      if (hosted.noticed?.includes(fault)) await expect.poll(feeding, SOON).toBe("failing");
      await mended();
      await caughtUp();
      expect(await answers(keepsake)).toEqual(await answers(plain));
    },
  );

  // On a busy machine a write of the other program's can be late, and arrive behind it: the receipt says so, and it is ended later.
  it("is reached by an erasure that is the first thing a program does", {
    timeout: 60_000,
    retry: 2,
  }, async () => {
    await told(TOLD);
    await caughtUp();
    const index = hosted.follower();
    const searching = { from: 0, timeoutMs: RECALL_MS, erasureMs: 15_000 };
    const next = await createMemory({ record, index, embedder: hashEmbedder(64), indexSearch: searching });
    const receipt = await next.scope({ user: "ann" }).forget("Forget that I ever mentioned Magnet.");
    expect(receipt.verified.find(({ place }) => place === `index: ${index.name}`)).toMatchObject({
      found: 0,
    });
    expect(receipt.complete).toBe(true);
    await next.close();
  });

  it("ends an erasure that it could not be asked about, when it is back", async () => {
    const ann = keepsake.scope({ user: "ann" });
    await told(TOLD);
    await caughtUp();
    // The index is given a second to answer, which a busy machine may need twice.
    const before = await vi.waitFor(() => readIds(index, ANN), SOON);
    await breaks("is down");
    const receipt = await ann.forget("Forget that I ever mentioned Magnet.");
    const place = `index: ${index.name}`;
    expect(receipt.complete).toBe(false);
    expect(receipt.verified.find((one) => one.place === place)).toMatchObject({ why: "not reached" });
    await mended();
    // It is asked about again after pauses that grow, as long as a busy machine keeps it from answering in the half second that it has.
    await expect.poll(async () => (await ann.erasures()).at(-1)?.complete, AT_LAST).toBe(true);
    const gone = before.filter((id) => receipt.ids.includes(id));
    expect(gone.length).toBeGreaterThan(0);
    expect(await vi.waitFor(() => index.held(ANN, gone), SOON)).toEqual([]);
  }, 60_000);
}
