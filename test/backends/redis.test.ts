import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore, memoryRateLimits } from "../../src/adapters/memory/index.ts";
import {
  createRedisVectorIndex,
  REDIS_CLIENT,
  redisCache,
  redisRateLimits,
  redisSessions,
} from "../../src/adapters/redis/index.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { sharedLimits } from "../../src/http/index.ts";
import { createMemory } from "../../src/memory.ts";
import { hashEmbedder } from "../../src/testing/test-doubles.ts";
import { type OwnServer, ownServer } from "../services/own-server.ts";
import { type Hosted, treatedBadly } from "./treated-badly.ts";

const isThere = process.env.KEEPSAKE_TEST_REDIS !== undefined;
const why = isThere ? "its own server" : 'needs KEEPSAKE_TEST_REDIS: eval "$(test/services/up redis)"';

const SOON = { timeout: 20_000, interval: 50 };
/** What a call may take longer than without Redis, and what an erasure may wait for a place that does not answer, in ms. */
const UNNOTICED_MS = 400;
const ERASURE_MS = 4000;
const ANN = { project: "default", user: "ann" };

/** What may happen to a server; what each gives puts it right. */
function faultsOf(server: OwnServer, admin: () => Redis): Hosted["faults"] {
  const configured =
    (name: string, wrong: string, right: string): (() => Promise<() => Promise<void>>) =>
    async () => {
      await admin().config("SET", name, wrong);
      await admin().call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      return async () => {
        await admin().config("SET", name, right);
        await admin().call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      };
    };
  const password = decodeURIComponent(new URL(server.address).password);
  return {
    async "is down"() {
      await server.kill();
      return () => server.start();
    },
    async hangs() {
      server.pause();
      return async () => server.goOn();
    },
    async "comes back empty"() {
      await server.empty();
      await server.start();
      return async () => {};
    },
    "is full": configured("maxmemory", "100kb", "0"),
    "refuses the password": configured("requirepass", "another one", password),
  };
}

const FAULTS = ["is down", "hangs", "comes back empty", "is full", "refuses the password"] as const;

describe.skipIf(!isThere)(`Redis as an index beside a memory (${why})`, () => {
  const open = async (): Promise<Hosted> => {
    const server = await ownServer("redis");
    const client = new Redis(server.address, REDIS_CLIENT).on("error", () => {});
    const admin = new Redis(server.address).on("error", () => {});
    await admin.ping();
    return {
      follower: () => createRedisVectorIndex({ client, timeoutMs: 1000 }),
      faults: faultsOf(server, () => admin),
      async close() {
        client.disconnect();
        admin.disconnect();
        await server.remove();
      },
    };
  };
  treatedBadly(open, FAULTS);
});

describe.skipIf(!isThere)(`Sessions, cache and limits of rates on Redis (${why})`, () => {
  let server: OwnServer;
  let admin: Redis;
  let client: Redis;
  let keepsake: Keepsake;
  let plain: Keepsake;
  let mend: (() => Promise<void>) | undefined;
  /** Asked over the network, so that the cache is asked before. */
  const embedder = { ...hashEmbedder(64), local: false, patienceMs: 5000 };

  beforeAll(async () => {
    server = await ownServer("redis");
    admin = new Redis(server.address).on("error", () => {});
    await admin.ping();
  }, 120_000);
  afterAll(async () => {
    admin?.disconnect();
    await server?.remove();
  });
  beforeEach(async () => {
    await admin.flushall();
    client = new Redis(server.address, { ...REDIS_CLIENT, lazyConnect: true }).on("error", () => {});
    await client.connect();
    keepsake = await createMemory({
      record: createInMemoryStore(),
      sessions: redisSessions({ client }),
      cache: redisCache({ client }),
      hotAfter: 1,
      embedder,
    });
    plain = await createMemory({ record: createInMemoryStore(), embedder });
  });
  afterEach(async () => {
    await mend?.();
    mend = undefined;
    await keepsake.close();
    await plain.close();
    client.disconnect();
  }, 60_000);

  const timed = async <Result>(work: () => Promise<Result>): Promise<{ result: Result; ms: number }> => {
    const begun = performance.now();
    const result = await work();
    return { result, ms: performance.now() - begun };
  };
  /** The same of both: what was replied and recalled, and how much longer the slowest took with Redis than without it. */
  const spoken = async (messages: readonly string[]): Promise<number> => {
    let longest = 0;
    for (const message of messages) {
      const of = (memory: Keepsake) => memory.scope({ user: "ann" });
      const options = { session: "talk" };
      const expected = await timed(() => of(plain).converse(message, options));
      const reply = await timed(() => of(keepsake).converse(message, options));
      expect(reply.result.text).toBe(expected.result.text);
      // What a remote embedder gives comes behind; without it, both would be compared at different moments.
      for (const memory of [plain, keepsake]) for await (const _step of memory.reindex());
      const recalled = await timed(() => of(keepsake).recall(message));
      const wanted = await timed(() => of(plain).recall(message));
      expect(recalled.result.items.map(({ text }) => text)).toEqual(
        wanted.result.items.map(({ text }) => text),
      );
      longest = Math.max(longest, reply.ms - expected.ms, recalled.ms - wanted.ms);
    }
    return longest;
  };
  const said = async (): Promise<string[]> =>
    (await redisSessions({ client }).recent({ ...ANN, session: "talk" }, { limit: 100 })).map(
      ({ content }) => content,
    );
  const breaks = async (fault: string): Promise<void> => {
    mend = await faultsOf(server, () => admin)[fault]?.();
  };
  const mended = async (): Promise<void> => {
    await mend?.();
    mend = undefined;
  };
  const answers = (): Promise<void> => expect.poll(() => client.ping().catch(() => "no"), SOON).toBe("PONG");

  it.each(FAULTS)(
    "chat and recall are the same and as quick where Redis %s, and it is used again afterwards",
    async (fault) => {
      await spoken(["I use Shram and Magnet as productivity tools.", "I keep bees."]);
      await expect.poll(said, SOON).toHaveLength(2);
      await breaks(fault);
      const longest = await spoken([
        "My sister lives in Ghent.",
        "Where does my sister live?",
        "What productivity tools do I use?",
        "I don't use Magnet anymore.",
        "What productivity tools do I use?",
        "I collect old maps.",
      ]);
      expect(longest).toBeLessThan(UNNOTICED_MS);
      await mended();
      await answers();
      await expect
        .poll(async () => {
          await keepsake.scope({ user: "ann" }).remember("Noted.", { session: "talk" });
          return said().catch(() => []);
        }, SOON)
        .toContain("Noted.");
    },
    60_000,
  );

  it.each(FAULTS)(
    "an erasure where Redis %s ends in time, and leaves nothing there in the end",
    async (fault) => {
      const ann = keepsake.scope({ user: "ann" });
      await spoken(["I use Shram and Magnet as productivity tools.", "What productivity tools do I use?"]);
      await expect.poll(said, SOON).toHaveLength(2);
      expect(await tracesOf(/magnet/i)).not.toEqual([]);
      await breaks(fault);
      const { result: receipt, ms } = await timed(() => ann.forget("Forget that I ever mentioned Magnet."));
      expect(ms).toBeLessThan(ERASURE_MS);
      // What is full can still let go; what came back empty has nothing. The others could not be asked.
      const isReached = fault === "is full" || fault === "comes back empty";
      const places = receipt.verified.filter(({ place }) => place.endsWith(": redis"));
      expect(places.map(({ place }) => place)).toEqual(["sessions: redis", "cache: redis"]);
      if (!isReached) {
        expect(receipt.complete).toBe(false);
        expect(places).toEqual(
          places.map((one) => ({ ...one, why: "not reached", until: expect.any(String) })),
        );
      }
      await mended();
      await answers();
      await expect.poll(async () => (await ann.erasures()).at(-1)?.complete, SOON).toBe(true);
      expect((await keepsake.audit()).broken).toEqual([]);
      expect(await tracesOf(/magnet/i)).toEqual([]);
    },
    60_000,
  );

  it("a receipt lists the files of Redis that go on holding what was erased", {
    timeout: 60_000,
  }, async () => {
    const ann = keepsake.scope({ user: "ann" });
    await ann.remember(
      ["I use Magnet.", "I keep bees."].map((content) => ({ role: "user", content })),
      { session: "talk" },
    );
    expect((await ann.forget("Magnet")).remains).toBeUndefined();
    await admin.config("SET", "appendonly", "yes");
    await admin.config("SET", "save", "3600 1");
    try {
      const { remains = [] } = await ann.forget("bees");
      expect(remains.map(({ place }) => place)).toEqual([
        expect.stringContaining("append-only file"),
        expect.stringContaining("snapshot"),
      ]);
    } finally {
      await admin.config("SET", "appendonly", "no");
      await admin.config("SET", "save", "");
    }
  });

  it("two servers never show what one of them has changed or erased", { timeout: 60_000 }, async () => {
    const record = createInMemoryStore();
    const secret = "one secret for both of them";
    const servers = await Promise.all(
      [1, 2].map(() =>
        createMemory({
          record,
          secret,
          sessions: redisSessions({ client }),
          cache: redisCache({ client }),
          hotAfter: 1,
          embedder,
        }),
      ),
    );
    const [one, other] = servers.map((each) => each.scope({ user: "ann" }));
    if (!one || !other) throw new Error("two were opened");
    await one.remember(
      Array.from({ length: 250 }, (_one, i) => ({ role: "user" as const, content: `Line ${i}.` })),
    );
    for (let round = 0; round < 20; round += 1) {
      await one.remember(`I use Magnet${round} as a tool.`, { session: "talk" });
      const seen = await other.recall(`Magnet${round}`);
      expect(seen.items.some(({ text }) => text.includes(`Magnet${round}`))).toBe(true);
      const receipt = await other.forget(`Magnet${round}`);
      expect(receipt.complete).toBe(true);
      const again = await one.recall(`Magnet${round}`);
      expect(again.items.some(({ text }) => text.includes(`Magnet${round}`))).toBe(false);
      expect(await tracesOf(new RegExp(`magnet${round}\\b`, "i"))).toEqual([]);
    }
    for (const each of servers) await each.close();
  });

  it.each(FAULTS)(
    "requests are counted where Redis %s, and nobody waits",
    async (fault) => {
      const shared = redisRateLimits({ client, perMinute: 5 });
      const limits = sharedLimits(shared, memoryRateLimits({ perMinute: 5, clock: () => new Date() }));
      expect(await limits.take("key")).toBe(0);
      await breaks(fault);
      const waits: number[] = [];
      for (let asked = 0; asked < 12; asked += 1) {
        const { result, ms } = await timed(() => limits.take("key"));
        expect(ms).toBeLessThan(UNNOTICED_MS);
        waits.push(result);
      }
      // Those of this server, and what Redis lets through before it is noticed or after it came back.
      expect(waits.filter((wait) => wait === 0).length).toBeLessThanOrEqual(10);
      expect(waits.at(-1)).toBeGreaterThan(0);
      await mended();
      await answers();
      await expect.poll(() => shared.take("another key").catch(() => -1), SOON).toBe(0);
    },
    60_000,
  );

  /** Keys that match a pattern, or hold a value that does, whatever their type: everything that the server has. */
  async function tracesOf(pattern: RegExp): Promise<string[]> {
    const found: string[] = [];
    for (const key of await admin.keys("*")) {
      const held = await admin.dumpBuffer(key);
      const all = [key, await readable(key), held?.toString("latin1") ?? ""];
      if (all.some((text) => pattern.test(text))) found.push(key);
    }
    return found;
  }

  async function readable(key: string): Promise<string> {
    const type = await admin.type(key);
    if (type === "hash") return JSON.stringify(await admin.hgetall(key));
    if (type === "zset") return JSON.stringify(await admin.zrange(key, "0", "-1"));
    return type === "string" ? String(await admin.get(key)) : "";
  }
});
