import { afterEach, beforeEach, expect, it } from "vitest";
import { scopeKey } from "../../../domain/scope.ts";
import type { Keepsake, ScopedMemory } from "../../../engine/surface.ts";
import { createMemory } from "../../../memory.ts";
import { beforeTurn } from "./before.ts";
import { type Conversation, conversations } from "./conversations.ts";
import { profiles } from "./profiles.ts";

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
  key: scopeKey(ANA),
  query: "What do I use for work?",
  turn: "t",
  isAnew: true,
  ids: [],
  maxTokens: 4000,
};

it("conversations drop the texts used longest ago beyond so many bytes, and keep their sessions", () => {
  const talks = conversations(10_000);
  const begun = Array.from({ length: 10 }, (_, i) => {
    const one = talks.of(ANA, { session: `s${i}`, said: [] });
    one.recalled = { turn: "t", block: "x".repeat(1000), id: "r" };
    talks.measure(one);
    return one;
  });
  expect(begun.map(({ recalled }) => recalled !== undefined)).toEqual([
    ...Array.from({ length: 5 }, () => false),
    ...Array.from({ length: 5 }, () => true),
  ]);
  expect(talks.of(ANA, { session: "s0", said: [] })).toBe(begun[0]);
  const [last] = begun.slice(-1);
  if (last?.recalled) last.recalled = { ...last.recalled, block: "x".repeat(6000) };
  if (last) talks.measure(last);
  expect(begun.every(({ recalled }) => recalled === undefined)).toBe(true);
});

it("an erasure drops what is held of its user's memories, and of no other's", () => {
  const talks = conversations();
  const [ana, bob] = [ANA, BOB].map((scope) => {
    const one = talks.of(scope, { session: "s", said: [] });
    one.profile = { block: "Quillon", memories: [] };
    one.recalled = { turn: "t", block: "Quillon", id: "r" };
    one.touched.add("m");
    talks.measure(one);
    return one;
  });
  talks.forget(scopeKey(ANA));
  expect([ana?.profile, ana?.recalled, ana?.touched.size]).toEqual([undefined, undefined, 0]);
  expect([bob?.profile?.block, bob?.recalled?.block, bob?.touched.size]).toEqual(["Quillon", "Quillon", 1]);
  talks.forget();
  expect([bob?.profile, bob?.recalled]).toEqual([undefined, undefined]);
});

it("what was recalled while an erasure went on is given, and not held", async () => {
  const talks = conversations();
  const held = (): { conversation: Conversation; profiles: ReturnType<typeof profiles> } => ({
    conversation: talks.of(ANA, { session: "s", said: [] }),
    profiles: profiles({ maxTokens: 1000 }),
  });
  const given = await beforeTurn(memory, held(), asked);
  expect([given.profile, given.recalled].join()).toContain("Quillon");
  expect([held().conversation.profile, held().conversation.recalled].every(Boolean)).toBe(true);
  talks.forget();
  const erasedMeanwhile: ScopedMemory = {
    ...memory,
    async recall(...wanted) {
      const found = await memory.recall(...wanted);
      talks.forget(scopeKey(ANA));
      return found;
    },
  };
  expect((await beforeTurn(erasedMeanwhile, held(), asked)).recalled).toContain("Quillon");
  expect(held().conversation.recalled).toBeUndefined();
  expect(held().conversation.profile).toBeUndefined();
});

it("profiles are held up to so many bytes, and none that was made while an erasure went on", async () => {
  let made = 0;
  const counting: ScopedMemory = {
    ...memory,
    profile(options) {
      made += 1;
      return memory.profile(options);
    },
  };
  const revision = await memory.revision();
  const known = profiles({ maxTokens: 1000 });
  for (let i = 0; i < 3; i += 1) await known.of("ana", counting, revision);
  expect(made).toBe(1);
  known.forget("ana");
  await known.of("ana", counting, revision);
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
  expect((await known.of("ana", erasedMeanwhile, revision))?.profile.block).toContain("Quillon");
  expect(made).toBe(3);
  await known.of("ana", counting, revision);
  expect(made).toBe(4);

  const small = profiles({ maxTokens: 1000, mostBytes: 100 });
  for (let i = 0; i < 2; i += 1) await small.of("ana", counting, revision);
  expect(made).toBe(6);
});

it("a memory tells of each erasure before its receipt is given, until it is no longer listened to", async () => {
  const told: string[] = [];
  const stop = keepsake.watchErased((scope) => told.push(scope?.user ?? "all"));
  await memory.forget("Quillon");
  expect(told).toEqual(["ana"]);
  stop();
  await memory.forget({ everything: true });
  expect(told).toEqual(["ana"]);
});
