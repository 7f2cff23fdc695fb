import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import { cacheConformance } from "../../testing/cache-conformance.ts";
import { rateLimitsConformance } from "../../testing/rate-limits-conformance.ts";
import { sessionsConformance } from "../../testing/sessions-conformance.ts";
import { makeRandomVectors } from "../../testing/vector-index/index-fixtures.ts";
import { vectorIndexConformance } from "../../testing/vector-index/vector-index-conformance.ts";
import { redisCache } from "./cache.ts";
import { REDIS_CLIENT, type RedisClient } from "./client.ts";
import { redisRateLimits } from "./rate-limits.ts";
import { redisSessions } from "./sessions.ts";
import { createRedisVectorIndex } from "./vector-index.ts";

const { KEEPSAKE_TEST_REDIS: url } = process.env;
const missing = url ? undefined : 'needs KEEPSAKE_TEST_REDIS: eval "$(test/services/up redis)"';
/** Each case has keys of its own, and each run cleans up behind itself. */
const RUN = `test-${randomBytes(6).toString("hex")}`;
let cases = 0;
const fresh = (): string => {
  cases += 1;
  return `${RUN}-${cases}`;
};

const client = url ? new Redis(url, { ...REDIS_CLIENT, lazyConnect: true }) : undefined;
let connecting: Promise<unknown> | undefined;
const connected = async (): Promise<Redis> => {
  if (!client) throw new Error(missing);
  connecting ??= client.connect();
  await connecting;
  return client;
};

const keysOf = async (prefix: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const keys of (await connected()).scanStream({ match: `${prefix}*`, count: 1000 }))
    found.push(...(keys as string[]));
  return found;
};

afterAll(async () => {
  if (!client) return;
  for (const key of await keysOf(RUN)) await client.unlink(key);
  await client.quit();
});

const META = { type: "passage" as const, owner: "m", at: 0 };
const timeoutMs = 5000;

sessionsConformance({
  name: "redis",
  missing,
  open: async (clock) => redisSessions({ client: await connected(), clock, prefix: fresh(), timeoutMs }),
});

cacheConformance({
  name: "redis",
  missing,
  open: async (options) => redisCache({ client: await connected(), prefix: fresh(), timeoutMs, ...options }),
});

describe.skipIf(missing)(`Rate limits: redis${missing ? ` (${missing})` : ""}`, () => {
  rateLimitsConformance("on Redis", async (options) =>
    redisRateLimits({ client: await connected(), prefix: fresh(), timeoutMs, ...options }),
  );
});

/** The prefix of each open follower. */
const places = new Map<unknown, string>();
const followerAt = async (prefix: string) => {
  const follower = createRedisVectorIndex({ client: await connected(), prefix });
  places.set(follower, prefix);
  return follower;
};

describe.skipIf(missing)(`Index: redis${missing ? ` (${missing})` : ""}`, () => {
  vectorIndexConformance({
    name: "redis",
    open: () => followerAt(fresh()),
    reopen: async (follower) => {
      await follower.close();
      return followerAt(places.get(follower) ?? "");
    },
    second: (follower) => followerAt(places.get(follower) ?? ""),
  });
});

it("accepts a client of ioredis", () => {
  const fits: (redis: Redis) => RedisClient = (redis) => redis;
  expect(fits).toBeDefined();
});

describe.skipIf(missing)(`Redis${missing ? ` (${missing})` : ""}`, () => {
  const ANA = { project: "p", user: "ana@example.org" };
  const TALK = { ...ANA, session: "talk about Porto" };
  const turn = {
    id: "m",
    role: "user" as const,
    content: "I moved to Porto.",
    at: "2026-11-21T12:00:00.000Z",
  };

  it("has no word, name or session in a key, and gives every key an expiry", async () => {
    const [prefix, redis] = [fresh(), await connected()];
    const sessions = redisSessions({ client: redis, prefix, timeoutMs });
    const cache = redisCache({ client: redis, prefix, timeoutMs });
    const limits = redisRateLimits({ client: redis, prefix, timeoutMs, perMinute: 5 });
    await sessions.append(TALK, [turn], { revision: 1 });
    await cache.put(ANA, "Porto", Uint8Array.of(1), { revision: 1 });
    await limits.take("ana@example.org");
    const before = await keysOf(prefix);
    await sessions.erase(ANA, { messages: ["x"] }, { revision: 1 });
    const keys = await keysOf(prefix);
    expect(before).toHaveLength(6);
    expect(keys).toHaveLength(7);
    expect(keys.filter((key) => /ana|porto|talk|example/i.test(key))).toEqual([]);
    const ends = await Promise.all(keys.map((key) => redis.pttl(key)));
    expect(ends.every((ms) => ms > 0 && ms <= 86_400_000)).toBe(true);
  });

  it("uses the server's clock by default", async () => {
    const sessions = redisSessions({ client: await connected(), prefix: fresh(), timeoutMs });
    await sessions.append(TALK, [turn]);
    const [seconds] = await (await connected()).time();
    const [active] = await sessions.active(ANA);
    expect(Math.abs(Date.parse(active?.lastAt ?? "") - Number(seconds) * 1000)).toBeLessThan(2000);
    const limits = redisRateLimits({ client: await connected(), prefix: fresh(), timeoutMs, perMinute: 1 });
    expect([await limits.take("k"), (await limits.take("k")) > 50_000]).toEqual([0, true]);
  });

  it("applies one rate limit over several servers", async () => {
    const prefix = fresh();
    const limits = await Promise.all(
      [1, 2, 3].map(async () =>
        redisRateLimits({ client: await connected(), prefix, timeoutMs, perMinute: 20 }),
      ),
    );
    const waits = await Promise.all(Array.from({ length: 90 }, (_one, i) => limits[i % 3]?.take("key")));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(20);
  });

  it("leaves no data of a user after an erasure", async () => {
    const [prefix, redis] = [fresh(), await connected()];
    const sessions = redisSessions({ client: redis, prefix, timeoutMs });
    const cache = redisCache({ client: redis, prefix, timeoutMs });
    await sessions.append(TALK, [turn]);
    await cache.put(ANA, "Porto", Uint8Array.of(1));
    expect(await sessions.erase(ANA, "everything")).toBe(1);
    expect(await cache.drop(ANA)).toBe(1);
    expect(await keysOf(prefix)).toEqual([]);
  });

  it("limits the entries of a user, and evicts those that expire first", async () => {
    const cache = redisCache({ client: await connected(), prefix: fresh(), timeoutMs });
    for (let i = 0; i < 205; i += 1)
      await cache.put(ANA, `name ${i}`, Uint8Array.of(i), { ttlMs: 60_000 + i * 1000 });
    expect(await cache.get(ANA, "name 4")).toBeUndefined();
    expect(await cache.get(ANA, "name 5")).toBeDefined();
    expect(await cache.drop(ANA)).toBe(200);
  });

  it("finds exactly the nearest entries, however close they are, also after drops", async () => {
    const index = await followerAt(fresh());
    await index.prepare({ fingerprint: "test/64", dimensions: 64 });
    const [centre = new Float32Array(64), ...others] = makeRandomVectors(1301, 64, 7);
    // Half of them are near one another: their codes alone cannot tell which is nearest.
    const vectors = others.map((vector, i) => {
      const mixed = vector.map((part, at) => (i % 2 ? part : part * 0.05 + (centre[at] ?? 0)));
      const length = Math.hypot(...mixed);
      return mixed.map((part) => part / length);
    });
    await index.put(
      ANA,
      vectors.map((vector, i) => ({ id: `u${i}`, vector, metadata: META })),
    );
    const gone = Array.from({ length: 300 }, (_one, i) => `u${i * 3}`);
    await index.drop(ANA, gone);
    const wanted = vectors
      .map((vector, i) => ({
        id: `u${i}`,
        score: vector.reduce((sum, part, at) => sum + part * (centre[at] ?? 0), 0),
      }))
      .filter(({ id }) => !gone.includes(id))
      .sort((one, other) => other.score - one.score)
      .slice(0, 50);
    const found = await index.nearest(ANA, centre, { limit: 50 });
    expect(found.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    expect(Math.max(...found.map(({ score }, i) => Math.abs(score - (wanted[i]?.score ?? 9))))).toBeLessThan(
      1e-5,
    );
  });

  it("overwrites the codes of dropped entries", async () => {
    const [prefix, redis] = [fresh(), await connected()];
    const index = await followerAt(prefix);
    await index.prepare({ fingerprint: "test/8", dimensions: 8 });
    await index.put(ANA, [{ id: "u", vector: new Float32Array(8).fill(0.35), metadata: META }]);
    await index.drop(ANA, ["u"]);
    const [chunk = ""] = (await keysOf(prefix)).filter((key) => key.endsWith(":codes:0"));
    expect([...((await redis.getBuffer(chunk)) ?? [1])].every((byte) => byte === 0)).toBe(true);
    await index.dropUser(ANA);
    expect(await keysOf(prefix)).toEqual([`${prefix}:index`]);
  });
});
