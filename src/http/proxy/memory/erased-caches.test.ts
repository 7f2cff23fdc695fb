import { afterEach, beforeEach, expect, it } from "vitest";
import { toScopeKey } from "../../../domain/scope.ts";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { englishPromptGuard as promptGuard } from "../../../language/en/prompt-injection/prompt-guard.ts";
import { createMemory } from "../../../memory.ts";
import { createConversationCache, prepareMemoryContext } from "./conversations.ts";
import { createProfileCache } from "./profile-cache.ts";

const ANA = { project: "default", user: "ana" };
const BOB = { project: "default", user: "bob" };

let keepsake: Keepsake;
let memory: ScopedMemory;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  memory = keepsake.scope(ANA);
  await memory.remember([{ role: "user", content: "I use Quillon for work. My name is Ana." }]);
});
afterEach(() => keepsake.close());

const asked = {
  key: toScopeKey(ANA),
  query: "What do I use for work?",
  turn: "t",
  hasNewWords: true,
  ownIds: [],
  maxTokens: 4000,
};

it("conversations drop the least recently used texts above a size, and keep their sessions", () => {
  const talks = createConversationCache(10_000);
  const begun = Array.from({ length: 10 }, (_, i) => {
    const one = talks.open(ANA, { session: `s${i}`, turns: [] });
    one.recalled = { turn: "t", block: "x".repeat(1000), id: "r" };
    talks.updateSize(one);
    return one;
  });
  expect(begun.map(({ recalled }) => recalled !== undefined)).toEqual([
    ...Array.from({ length: 5 }, () => false),
    ...Array.from({ length: 5 }, () => true),
  ]);
  expect(talks.open(ANA, { session: "s0", turns: [] })).toBe(begun[0]);
  const [last] = begun.slice(-1);
  if (last?.recalled) last.recalled = { ...last.recalled, block: "x".repeat(6000) };
  if (last) talks.updateSize(last);
  expect(begun.every(({ recalled }) => recalled === undefined)).toBe(true);
});

it("an erasure drops the cached memories of its user only", () => {
  const talks = createConversationCache();
  const [ana, bob] = [ANA, BOB].map((scope) => {
    const one = talks.open(scope, { session: "s", turns: [] });
    one.profile = { block: "Quillon", memories: [] };
    one.recalled = { turn: "t", block: "Quillon", id: "r" };
    one.changedMemories.add("m");
    talks.updateSize(one);
    return one;
  });
  talks.forget(toScopeKey(ANA));
  expect([ana?.profile, ana?.recalled, ana?.changedMemories.size]).toEqual([undefined, undefined, 0]);
  expect([bob?.profile?.block, bob?.recalled?.block, bob?.changedMemories.size]).toEqual([
    "Quillon",
    "Quillon",
    1,
  ]);
  talks.forget();
  expect([bob?.profile, bob?.recalled]).toEqual([undefined, undefined]);
});

it("a recall during an erasure is returned but not cached", async () => {
  const talks = createConversationCache();
  const held = () => ({
    conversation: talks.open(ANA, { session: "s", turns: [] }),
    promptGuard,
    profiles: createProfileCache({ promptGuard, maxTokens: 1000 }),
  });
  const given = await prepareMemoryContext(memory, held(), asked);
  expect([given.profileBlock, given.recallBlock].join()).toContain("Quillon");
  expect([held().conversation.profile, held().conversation.recalled].every(Boolean)).toBe(true);
  talks.forget();
  const erasedMeanwhile: ScopedMemory = {
    ...memory,
    async context(...wanted) {
      const found = await memory.context(...wanted);
      talks.forget(toScopeKey(ANA));
      return found;
    },
  };
  expect((await prepareMemoryContext(erasedMeanwhile, held(), asked)).recallBlock).toContain("Quillon");
  expect(held().conversation.recalled).toBeUndefined();
  expect(held().conversation.profile).toBeUndefined();
});

it("profiles are cached up to a size, except those created during an erasure", async () => {
  let made = 0;
  const counting: ScopedMemory = {
    ...memory,
    profile(options) {
      made += 1;
      return memory.profile(options);
    },
  };
  const revision = await memory.revision();
  const known = createProfileCache({ promptGuard, maxTokens: 1000 });
  for (let i = 0; i < 3; i += 1) await known.get("ana", counting, revision);
  expect(made).toBe(1);
  known.forget("ana");
  await known.get("ana", counting, revision);
  expect(made).toBe(2);

  known.forget("ana");
  const erasedMeanwhile: ScopedMemory = {
    ...counting,
    async profile(options) {
      const profile = await counting.profile(options);
      known.forget("ana");
      return profile;
    },
  };
  expect((await known.get("ana", erasedMeanwhile, revision))?.profile.block).toContain("Quillon");
  expect(made).toBe(3);
  await known.get("ana", counting, revision);
  expect(made).toBe(4);

  const small = createProfileCache({ promptGuard, maxTokens: 1000, mostBytes: 100 });
  for (let i = 0; i < 2; i += 1) await small.get("ana", counting, revision);
  expect(made).toBe(6);
});

it("a memory reports each erasure before giving its receipt, until unsubscribed", async () => {
  const told: string[] = [];
  const stop = keepsake.watchErased((scope) => told.push(scope?.user ?? "all"));
  await memory.forget("Quillon");
  expect(told).toEqual(["ana"]);
  stop();
  await memory.forget({ everything: true });
  expect(told).toEqual(["ana"]);
});
