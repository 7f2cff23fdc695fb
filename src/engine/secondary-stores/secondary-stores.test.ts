import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryCache } from "../../adapters/memory/cache.ts";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { memorySessions } from "../../adapters/memory/sessions.ts";
import { prometheusMeter } from "../../adapters/prometheus/index.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import type { Cache } from "../../ports/cache.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Sessions } from "../../ports/sessions.ts";
import { hashEmbedder, scriptedModel } from "../../testing/test-doubles.ts";
import type { Keepsake } from "../api/keepsake.ts";

const ANA = { project: "default", user: "ana" };
const asSaid = (content: string) => ({ role: "user" as const, content });
const SECRET = "a secret for tests alone";
const clock = (): Date => new Date("2026-11-21T12:00:00Z");

let record: MemoryStore;
let sessions: Sessions;
let cache: Cache;
let isDown: boolean;
const opened: Keepsake[] = [];

/** The same, but for the times when it is down. */
function shaky<Port extends object>(port: Port): Port {
  return new Proxy(port, {
    get(target, name) {
      const held = Reflect.get(target, name);
      if (typeof held === "object" && held !== null) return shaky(held);
      if (typeof held !== "function" || name === "close") return held;
      return async (...given: unknown[]) => {
        if (isDown) throw new MemoryError("unavailable", "It is down.");
        return Reflect.apply(held, target, given);
      };
    },
  });
}

async function open(options: MemoryOptions = {}): Promise<Keepsake> {
  const memory = await createMemory({ record, sessions, cache, secret: SECRET, clock, ...options });
  opened.push(memory);
  return memory;
}

beforeEach(() => {
  isDown = false;
  record = createInMemoryStore();
  sessions = shaky({ ...memorySessions({ clock }), name: "redis" });
  cache = shaky({ ...memoryCache({ clock }), name: "redis" });
});
afterEach(async () => {
  isDown = false;
  for (const memory of opened.splice(0)) await memory.close();
});

it("are counted, all active sessions of all users, by the meter", async () => {
  const meter = prometheusMeter();
  await sessions.append({ ...ANA, session: "talk" }, [
    { id: "m1", role: "user", content: "words", at: clock().toISOString() },
  ]);
  await sessions.states.change({ ...ANA, session: "only a state" }, { topic: "boats" }, { mode: "create" });
  await open({ meter });
  await expect.poll(() => meter.text()).toMatch(/^keepsake_active_sessions 1$/m);
});

const said = async (session = "talk"): Promise<string[]> =>
  (await sessions.recent({ ...ANA, session }, { limit: 100 })).map(({ content }) => content);

describe("recent messages", () => {
  it("are stored in their session, without imported messages", async () => {
    const ana = (await open()).scope({ user: "ana" });
    await ana.remember("I use Shram.", { session: "talk" });
    await ana.remember("I keep bees.");
    await ana.remember({ role: "user", content: "I live in Porto." }, { session: "talk", origin: "import" });
    expect(await said()).toEqual(["I use Shram."]);
  });

  it("are given to a model however much was said in other sessions since, as long as the store has them", async () => {
    const model = scriptedModel(() => "Fine.");
    const ana = (await open({ model, extractor: "rules" })).scope({ user: "ana" });
    await ana.remember(["My boat is called Otter.", "Its sail is torn."].map(asSaid), { session: "talk" });
    await ana.remember(
      Array.from({ length: 120 }, (_one, i) => asSaid(`Line ${i}.`)),
      { session: "other" },
    );
    await ana.converse("Should I mend it or buy another one?", { session: "talk" });
    const heard = (): string[] => model.asked.at(-1)?.turns.map(({ content }) => content) ?? [];
    expect(heard()).toEqual(expect.arrayContaining(["My boat is called Otter.", "Its sail is torn."]));
    // What is only in the sessions is nowhere.
    await sessions.append({ ...ANA, session: "talk" }, [
      { id: "stray", role: "user", content: "I own a bank.", at: clock().toISOString() },
    ]);
    await ana.converse("Should I ask somebody?", { session: "talk" });
    expect(heard().join(" ")).not.toContain("I own a bank.");
  });

  it("are given to a model that answers a question in their session", async () => {
    const model = scriptedModel(() => "You keep bees [1].");
    const memory = await open({ model, extractor: "rules" });
    await memory.scope({ user: "ana" }).remember("I keep bees behind the house.", { session: "talk" });
    const heard = async (narrow: { session?: string }): Promise<string[]> => {
      await memory.scope({ user: "ana", ...narrow }).answer("Is it true that I keep bees?");
      return model.asked.at(-1)?.turns.map(({ content }) => content) ?? [];
    };
    expect(await heard({ session: "talk" })).toContain("I keep bees behind the house.");
    expect(await heard({})).not.toContain("I keep bees behind the house.");
  });

  it("are stored without delay when the session store is down", async () => {
    const ana = (await open()).scope({ user: "ana" });
    isDown = true;
    const { receipt, text } = await ana.converse("I use Shram and Magnet.", { session: "talk" });
    expect([receipt.memories.length, text.length > 0]).toEqual([2, true]);
    expect((await ana.recall("Shram")).items.length).toBeGreaterThan(0);
  });
});

describe("an erasure", () => {
  it("reaches and verifies sessions and cache before its receipt is returned", async () => {
    const ana = (await open()).scope({ user: "ana" });
    await ana.remember("I use Shram and Magnet.", { session: "talk" });
    await ana.remember("I keep bees.", { session: "talk" });
    await cache.put(ANA, "anything", Uint8Array.of(1));
    const receipt = await ana.forget("Forget that I ever mentioned Magnet.");
    expect(receipt.verified).toEqual(
      expect.arrayContaining([
        { place: "sessions: redis", found: 0 },
        { place: "cache: redis", found: 0 },
      ]),
    );
    expect(receipt.complete).toBe(true);
    expect(await said()).toEqual(["I keep bees."]);
    expect(await cache.get(ANA, "anything")).toBeUndefined();
  });

  it("reports what a store cannot delete at once, each place once", async () => {
    const files = async () => [{ place: "its snapshot" }, { place: "its log", forMs: 3_600_000 }];
    const filed = { sessions: { ...sessions, remains: files }, cache: { ...cache, remains: files } };
    const ana = (await open({ sessions: shaky(filed.sessions), cache: shaky(filed.cache) })).scope({
      user: "ana",
    });
    await ana.remember("I use Magnet.");
    expect((await ana.forget("Magnet")).remains).toEqual([
      { place: "its snapshot" },
      { place: "its log", until: "2026-11-21T13:00:00.000Z" },
    ]);
  });

  it("of everything leaves nothing there", async () => {
    const ana = (await open()).scope({ user: "ana" });
    await ana.remember("I use Shram.", { session: "talk" });
    await sessions.append({ ...ANA, session: "of another server" }, [
      { id: "unknown here", role: "user", content: "words", at: clock().toISOString() },
    ]);
    expect((await ana.forget({ everything: true })).complete).toBe(true);
    expect(await sessions.active(ANA)).toEqual([]);
  });

  it("rejects writes that were in progress meanwhile", async () => {
    const late: (() => void)[] = [];
    const slow: Sessions = {
      ...sessions,
      erase: sessions.erase,
      append: (...given) =>
        new Promise((resolve, reject) => late.push(() => sessions.append(...given).then(resolve, reject))),
    };
    const ana = (await open({ sessions: slow })).scope({ user: "ana" });
    await ana.remember("I use Magnet.", { session: "talk" });
    expect((await ana.forget("Magnet")).complete).toBe(true);
    for (const arrive of late) arrive();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await sessions.active(ANA)).toEqual([]);
  });

  it("reports an unreachable store and until when it may hold content, and completes when it is back", async () => {
    const memory = await open();
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I use Magnet.", { session: "talk" });
    isDown = true;
    const receipt = await ana.forget("Magnet");
    expect(receipt.complete).toBe(false);
    expect(receipt.verified).toEqual(
      expect.arrayContaining([
        { place: "sessions: redis", found: 1, until: "2026-11-22T12:00:00.000Z", why: "not reached" },
        { place: "cache: redis", found: 1, until: "2026-11-21T13:00:00.000Z", why: "not reached" },
      ]),
    );
    expect((await memory.audit()).broken).toHaveLength(1);
    isDown = false;
    expect(await said()).toEqual(["I use Magnet."]);
    await expect.poll(async () => (await ana.erasures())[0]?.complete, { timeout: 5000 }).toBe(true);
    expect(await said()).toEqual([]);
    expect(await memory.audit()).toMatchObject({ broken: [] });
  });

  it("that a program did not finish is completed by the next", async () => {
    const first = await open();
    await first.scope({ user: "ana" }).remember("I use Magnet.", { session: "talk" });
    isDown = true;
    await first.scope({ user: "ana" }).forget("Magnet");
    await first.close();
    isDown = false;
    const next = (await open()).scope({ user: "ana" });
    await expect.poll(async () => (await next.erasures())[0]?.complete, { timeout: 5000 }).toBe(true);
    expect(await sessions.active(ANA)).toEqual([]);
  });

  it("that was interrupted before it reached them is completed at the next start", async () => {
    const broken = {
      ...record,
      erasures: { ...record.erasures, scrub: () => Promise.reject(new Error("killed")) },
    };
    const first = (await open({ record: broken })).scope({ user: "ana" });
    await first.remember("I use Magnet.", { session: "talk" });
    isDown = true;
    await expect(first.forget("Magnet")).rejects.toThrow("killed");
    isDown = false;
    await open();
    expect(await sessions.active(ANA)).toEqual([]);
  });
});

describe("the vector of a query", () => {
  const asked: string[] = [];
  const embedder = {
    ...hashEmbedder(),
    local: false,
    embed: (texts: readonly string[], options?: { signal?: AbortSignal }) => {
      asked.push(...texts);
      return hashEmbedder().embed(texts, options);
    },
  };
  const times = (text: string): number => asked.filter((one) => one === text).length;
  beforeEach(() => {
    asked.length = 0;
  });

  it("is requested once for one user, by any server", async () => {
    for (const user of ["ana", "ana", "ben"]) {
      const memory = (await open({ embedder })).scope({ user });
      await memory.remember("I keep bees.");
      await memory.recall("What about bees?");
    }
    expect(times("What about bees?")).toBe(2);
  });

  it("is requested again after an erasure, and when the cache is down", async () => {
    const ana = (await open({ embedder })).scope({ user: "ana" });
    await ana.remember("I use Magnet.");
    await ana.recall("What about Magnet?");
    await ana.forget("Magnet");
    await ana.recall("What about Magnet?");
    expect(times("What about Magnet?")).toBe(2);
    isDown = true;
    await ana.recall("What about Magnet?");
    expect(times("What about Magnet?")).toBe(3);
  });
});
