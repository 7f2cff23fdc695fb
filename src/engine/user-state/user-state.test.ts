import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { englishPhrases as phrases } from "../../language/en/phrases.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import {
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeUnit,
} from "../../testing/memory-store/change-sets.ts";
import { createUserStates } from "./user-state.ts";

const SPACE = { fingerprint: "test/3", dimensions: 3 };
const scopeOf = (user: string) => ({ project: "default", user });

/** A record that counts how often everything of a user was read. */
function counting(): { record: MemoryStore; whole: () => number } {
  const record = createInMemoryStore();
  let count = 0;
  return {
    record: {
      ...record,
      since(scope, revision, options) {
        if (revision === 0) count += 1;
        return record.since(scope, revision, options);
      },
    },
    whole: () => count,
  };
}

async function say(record: MemoryStore, user: string, first: number, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, i) => `m${first + i}`);
  await record.commit(
    scopeOf(user),
    makeChangeSet({
      base: await record.revision(scopeOf(user)),
      messages: ids.map((id) => makeMessage(id, { session: "s" })),
      units: ids.map((id) => makeUnit(`${id}#0`, "passage", id)),
    }),
  );
}

it("reads a user once, and afterwards only newer changes", async () => {
  const { record, whole } = counting();
  const states = createUserStates(record, SPACE, { phrases });
  await say(record, "ann", 0, 3);
  expect((await states.searchIndex(scopeOf("ann"))).words.size).toBe(3);
  await say(record, "ann", 3, 2);
  const state = await states.of(scopeOf("ann"));
  expect(state.searchIndex.words.size).toBe(5);
  expect(state.messages.size).toBe(5);
  expect(state.revision).toBe(2);
  await say(record, "ann", 5, 1);
  expect((await states.of(scopeOf("ann"))).messages.size).toBe(6);
  // Once for the index, once for the rest.
  expect(whole()).toBe(2);
});

it("evicts the least recently used user when memory runs short, and reads the same state again later", async () => {
  const { record, whole } = counting();
  for (const user of ["ann", "bob", "cid"]) await say(record, user, 0, 40);
  const states = createUserStates(record, SPACE, { phrases, bytes: () => 1 });
  for (const user of ["ann", "bob", "cid", "ann"]) {
    const searchIndex = await states.searchIndex(scopeOf(user));
    expect(searchIndex.isReleased).toBe(false);
    expect(searchIndex.words.size).toBe(40);
  }
  expect(whole()).toBe(4);
});

it("evicts first the data that only writes need", async () => {
  const { record, whole } = counting();
  for (const user of ["ann", "bob"]) await say(record, user, 0, 40);
  // An index takes some 40,000 bytes here, and the rest of a user 29,000.
  const states = createUserStates(record, SPACE, { phrases, bytes: () => 118_000 });
  for (const user of ["ann", "bob", "ann", "bob"]) await states.of(scopeOf(user));
  const read = whole();
  for (const user of ["ann", "bob", "ann"]) {
    expect((await states.searchIndex(scopeOf(user))).words.size).toBe(40);
  }
  expect(whole()).toBe(read);
});

it("holds a bounded number of users of whom nothing is left", async () => {
  const { record } = counting();
  const states = createUserStates(record, SPACE, { phrases, bytes: () => 400_000 });
  const users = Array.from({ length: 100 }, (_, i) => `guest-${i}`);
  for (const user of users) {
    await say(record, user, 0, 3);
    await states.of(scopeOf(user));
    const emptied = ["m0", "m1", "m2"].map((id) => ({
      ...makeMessage(id),
      content: "",
      keepMetadata: false,
    }));
    const receipt = makeErasureReceipt(`e-${user}`);
    await record.commit(
      scopeOf(user),
      makeChangeSet({
        base: 1,
        dropUnits: ["m0#0", "m1#0", "m2#0"],
        erase: { messages: emptied, memories: [], rewrites: [], receipt },
      }),
    );
    await states.purgeUser(scopeOf(user));
    // As a job does that looks at every user who changed.
    await states.of(scopeOf(user));
  }
  const held = users.filter((user) => states.peekIndex(scopeOf(user)) !== undefined);
  // An empty index takes 19,000 bytes.
  expect(held.length).toBeLessThanOrEqual(21);
});

it("saves a search index on close, and loads it at the next start", async () => {
  const { record, whole } = counting();
  await say(record, "ann", 0, 300);
  const first = createUserStates(record, SPACE, { phrases });
  await first.searchIndex(scopeOf("ann"));
  // After the last look, so that it has to be taken in before it is kept.
  await say(record, "ann", 300, 10);
  await first.close();
  const second = createUserStates(record, SPACE, { phrases });
  expect((await second.searchIndex(scopeOf("ann"))).words.size).toBe(310);
  expect(whole()).toBe(1);
  const others = createUserStates(record, { fingerprint: "other/3", dimensions: 3 }, { phrases });
  expect((await others.searchIndex(scopeOf("ann"))).words.size).toBe(310);
  expect(whole()).toBe(2);
});

it("applies an erasure without reading users again, and retains no erased data", async () => {
  const { record, whole } = counting();
  await say(record, "ann", 0, 40);
  const states = createUserStates(record, SPACE, { phrases });
  const before = await states.of(scopeOf("ann"));
  const read = whole();
  const told = { text: "Quillon.", claim: { subject: "Quillon", relation: "be", value: "x" } };
  const secret = makeUnit("k1", "memory", "k1", "quillon");
  await record.commit(
    scopeOf("ann"),
    makeChangeSet({ base: 1, memories: [makeMemory("k1", 1, told)], units: [secret] }),
  );
  await states.of(scopeOf("ann"));
  await record.commit(
    scopeOf("ann"),
    makeChangeSet({
      base: 2,
      erase: { messages: [], memories: ["k1"], rewrites: [], receipt: makeErasureReceipt("e1") },
    }),
  );
  await states.purgeUser(scopeOf("ann"));
  // What is held, not what it would become when it is asked for next.
  const held = states.peekTexts(scopeOf("ann"), 3);
  expect(states.peekIndex(scopeOf("ann"))).toBe(before.searchIndex);
  expect(JSON.stringify([...(held?.memories.values() ?? [])])).not.toContain("Quillon");
  expect(before.searchIndex.names.all.join()).not.toContain("quillon");
  expect(before.searchIndex.words.postings("quillon")).toEqual([]);
  expect((await states.of(scopeOf("ann"))).memories.size).toBe(0);
  expect(whole()).toBe(read);
});

it("evicts a user after a large erasure, or when the store cannot be asked", async () => {
  const { record } = counting();
  await say(record, "ann", 0, 4);
  await say(record, "bob", 0, 4);
  let isGone = false;
  const states = createUserStates(
    {
      ...record,
      async revision(scope) {
        if (isGone) throw new Error("gone");
        return record.revision(scope);
      },
    },
    SPACE,
    { phrases },
  );
  const ann = await states.searchIndex(scopeOf("ann"));
  const bob = await states.searchIndex(scopeOf("bob"));
  await record.commit(scopeOf("ann"), makeChangeSet({ base: 1, dropUnits: ["m0#0", "m1#0"] }));
  await states.purgeUser(scopeOf("ann"));
  expect([ann.isReleased, bob.isReleased]).toEqual([true, false]);
  expect((await states.searchIndex(scopeOf("ann"))).words.size).toBe(2);
  isGone = true;
  await states.purgeUser();
  expect([bob.isReleased, states.peekIndex(scopeOf("ann"))]).toEqual([true, undefined]);
});

it("reads a user again when the store has an earlier revision", async () => {
  const older = createInMemoryStore();
  const newer = createInMemoryStore();
  await say(older, "ann", 0, 1);
  await say(newer, "ann", 0, 5);
  await say(newer, "ann", 5, 5);
  let held = newer;
  const states = createUserStates(
    {
      revision: (scope) => held.revision(scope),
      since: (...given) => held.since(...given),
      searchIndexes: {
        read: (scope) => held.searchIndexes.read(scope),
        save: (...given) => held.searchIndexes.save(...given),
      },
      log: (...given) => held.log(...given),
    },
    SPACE,
    { phrases },
  );
  expect((await states.of(scopeOf("ann"))).messages.size).toBe(10);
  held = older;
  expect((await states.of(scopeOf("ann"))).messages.size).toBe(1);
});

it("serves many concurrent requests without applying a change twice", async () => {
  const { record, whole } = counting();
  await say(record, "ann", 0, 20);
  const states = createUserStates(record, SPACE, { phrases });
  const searchIndexes = await Promise.all(
    Array.from({ length: 10 }, () => states.searchIndex(scopeOf("ann"))),
  );
  expect(new Set(searchIndexes).size).toBe(1);
  expect(searchIndexes[0]?.words.size).toBe(20);
  expect(whole()).toBe(1);
});

it("reads a user of 20,000 messages once when memory runs short and other users are served in between", async () => {
  const { record, whole } = counting();
  await say(record, "big", 0, 20_000);
  await say(record, "ann", 0, 3);
  const states = createUserStates(record, SPACE, { phrases, bytes: () => 1 });
  for (const user of ["big", "ann", "big", "ann", "big"]) await states.of(scopeOf(user));
  // The index and the rest of each, once.
  expect(whole()).toBe(2 + 2);
  expect((await states.of(scopeOf("big"))).messages.size).toBe(20_000);
});
