import { expect, it } from "vitest";
import { memoryCache } from "../../adapters/memory/cache.ts";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { englishPhrases as phrases } from "../../language/en/phrases.ts";
import type { Cache } from "../../ports/cache.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMessage, makeUnit } from "../../testing/memory-store/change-sets.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { createUserStates, type UserStates } from "../user-state/user-state.ts";

const SPACE = { fingerprint: "test/3", dimensions: 3 };
const ANN = { project: "default", user: "ann" };
const clock = (): Date => new Date("2026-11-21T12:00:00Z");

/** A record that tells from which revisions on it was read. */
function told(): { record: MemoryStore; from: number[] } {
  const from: number[] = [];
  const record = createInMemoryStore();
  return {
    from,
    record: {
      ...record,
      since(scope, revision, options) {
        from.push(revision);
        return record.since(scope, revision, options);
      },
    },
  };
}

async function say(
  record: MemoryStore,
  first: number,
  count: number,
  at = "2026-11-21T12:00:00.000Z",
): Promise<void> {
  const ids = Array.from({ length: count }, (_, i) => `m${first + i}`);
  await record.commit(ANN, {
    ...makeChangeSet({
      base: await record.revision(ANN),
      messages: ids.map((id) => makeMessage(id, { session: "s" })),
      units: ids.map((id) => makeUnit(`${id}#0`, "passage", id)),
    }),
    at,
  });
}

async function serve(states: UserStates, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await states.searchIndex(ANN);
}

const sharedIn = (cache: Cache) => cache.get(ANN, `searchIndex ${spaceOf(SPACE)}`);

/** What is shared is shared behind the one who asked. */
async function shared(cache: Cache): Promise<void> {
  await expect.poll(() => sharedIn(cache), { timeout: 5000 }).toBeDefined();
}

it("the columns of a frequent user come from another server, and are updated from the store afterwards", async () => {
  const { record, from } = told();
  const sharing = { cache: memoryCache({ clock }), hotAfter: 5 };
  await say(record, 0, 250);
  const first = createUserStates(record, SPACE, { phrases, sharing });
  await serve(first, 4);
  await createUserStates(record, SPACE, { phrases, sharing }).searchIndex(ANN);
  expect(from).toEqual([0, 0]);
  expect(await sharedIn(sharing.cache)).toBeUndefined();
  await serve(first, 1);
  await shared(sharing.cache);
  await say(record, 250, 1);
  const searchIndex = await createUserStates(record, SPACE, { phrases, sharing }).searchIndex(ANN);
  expect(from).toEqual([0, 0, 1]);
  expect([searchIndex.units.count, searchIndex.revision]).toEqual([251, 2]);
});

it("columns from before a restore of the store are not used", async () => {
  const [one, other] = [told(), told()];
  const sharing = { cache: memoryCache({ clock }), hotAfter: 1 };
  await say(one.record, 0, 250);
  await serve(createUserStates(one.record, SPACE, { phrases, sharing }), 1);
  await shared(sharing.cache);
  await say(other.record, 1000, 250, "2026-11-21T13:00:00.000Z");
  await createUserStates(other.record, SPACE, { phrases, sharing }).searchIndex(ANN);
  expect(other.from).toEqual([0]);
});

it("columns updated after an erasure are shared and saved without the erased content", async () => {
  const { record, from } = told();
  const cache = memoryCache({ clock });
  const states = createUserStates(record, SPACE, { phrases, sharing: { cache, hotAfter: 5 } });
  await say(record, 0, 250);
  await record.commit(ANN, makeChangeSet({ base: 1, units: [makeUnit("m3#1", "passage", "m3", "quillon")] }));
  await serve(states, 1);
  await record.commit(ANN, makeChangeSet({ base: 2, dropUnits: ["m3#1"] }));
  await states.purgeUser(ANN);
  await serve(states, 5);
  await shared(cache);
  await states.close();
  expect(from).toEqual([0, 2]);
  const others = (await sharedIn(cache))?.subarray(32);
  const kept = (await record.searchIndexes.read(ANN))?.bytes;
  // "terms", "of" and an id each.
  expect([others, kept].map((bytes) => wordsIn(bytes))).toEqual([252, 252]);
});

/** Number of distinct words in a packed index. */
function wordsIn(bytes: Uint8Array = new Uint8Array(16)): number | undefined {
  const { buffer, byteOffset } = bytes;
  const length = new DataView(buffer, byteOffset).getUint32(8, true);
  const header = JSON.parse(Buffer.from(buffer, byteOffset + 16, length).toString("utf8"));
  const lengths = (header.arrays as [string, string, number][]).map(
    ([name, , many]) => [name, many] as const,
  );
  return new Map(lengths).get("words.hashes");
}

it("the columns of many users are shared one after the other, with rests in between", async () => {
  const record = createInMemoryStore();
  const held = memoryCache({ clock });
  const puts: number[] = [];
  const cache: typeof held = {
    ...held,
    async put(...given) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await held.put(...given);
      puts.push(performance.now());
    },
  };
  const states = createUserStates(record, SPACE, { phrases, sharing: { cache, hotAfter: 1 } });
  const units = Array.from({ length: 250 }, (_, i) => makeUnit(`m${i}#0`, "passage", `m${i}`));
  const messages = units.map(({ owner }) => makeMessage(owner, { session: "s" }));
  for (const user of ["ann", "bob"]) {
    const scope = { project: "default", user };
    await record.commit(scope, makeChangeSet({ messages, units }));
    await states.searchIndex(scope);
  }
  await expect.poll(() => puts.length, { timeout: 5000 }).toBe(2);
  const [first = 0, second = 0] = puts;
  expect(second - first).toBeGreaterThan(150);
});
