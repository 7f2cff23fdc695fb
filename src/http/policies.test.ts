import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryRateLimits } from "../adapters/memory/rate-limits.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";
import { type AppOptions, httpApp } from "./app.ts";
import { createLifecycle } from "./graceful-shutdown.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";
import type { Answered } from "./middleware/observability.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
let keepsake: Keepsake;
let keys: ApiKeys;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
});
afterEach(() => keepsake.close());

const withKey = (key = keys.first): Record<string, string> => ({ authorization: `Bearer ${key}` });
const appWith = (options: Partial<AppOptions>) => httpApp({ keepsake, keys, ...options });

describe("request ids", () => {
  const idFor = async (brought: string): Promise<string | null> =>
    (await appWith({}).request("/api/v1/health", { headers: { "x-request-id": brought } })).headers.get(
      "x-request-id",
    );

  it("are kept if well-formed", async () => {
    expect(await idFor("trace-7f.3:a_B")).toBe("trace-7f.3:a_B");
  });

  it.each(["two words", "x".repeat(129), '"},{"', "ü"])(
    "are replaced if invalid, such as %j",
    async (brought) => {
      expect(await idFor(brought)).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe("the log of requests", () => {
  it("contains the route and never values of the path, the query or the body", async () => {
    const told: Answered[] = [];
    const app = appWith({ onAnswered: (answered) => told.push(answered) });
    const headers = { ...withKey(), "content-type": "application/json" };
    await app.request("/api/v1/memories/secret-name/search?query=secret-words", { method: "POST", headers });
    await app.request("/message", {
      method: "POST",
      headers,
      body: '{"userId":"secret-name","message":"secret words"}',
    });
    await app.request("/secret/place");
    await app.request("/api/v1/memories/secret-name");
    expect(told.map(({ method, route, status }) => [method, route, status])).toEqual([
      ["POST", "/api/v1/memories/{user_id}/search", 200],
      ["POST", "/message", 200],
      ["GET", undefined, 404],
      ["GET", "/api/v1/memories/{user_id}", 401],
    ]);
    expect(told[0]).toMatchObject({ key: keys.first?.split("_")[1], ms: expect.any(Number) });
    expect(told[3]).not.toHaveProperty("key");
    expect(JSON.stringify(told)).not.toContain("secret");
  });
});

describe("a key over its rate limit", () => {
  it("gets a time to retry, and other keys are not affected", async () => {
    const app = appWith({ rateLimits: memoryRateLimits({ perMinute: 2, clock }) });
    const ask = async (key?: string) => app.request("/api/v1/ready", { headers: withKey(key) });
    const other = keys.create({ project: "shop" }).key;
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    const refused = await ask();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "30"]);
    expect(await refused.json()).toMatchObject({ code: "over_quota", status: 429 });
    expect((await ask(other)).status).toBe(200);
    expect((await app.request("/api/v1/health")).status).toBe(200);
  });
});

describe("a request that takes too long", () => {
  const hanging = (): Keepsake => ({
    ...keepsake,
    scope: (named) => ({ ...keepsake.scope(named), list: () => new Promise(() => {}) as never }),
  });

  it("gets 503", async () => {
    const faults: unknown[] = [];
    const app = httpApp({ keepsake: hanging(), keys, requestMs: 20, onFault: (fault) => faults.push(fault) });
    const response = await app.request("/api/v1/memories/ana", { headers: withKey() });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.json()).toMatchObject({
      code: "unavailable",
      detail: expect.stringMatching(/timed out/),
    });
    // It is in the log of requests; nothing is to be mended.
    expect(faults).toEqual([]);
  });
});

describe("a server that shuts down", () => {
  it("first reports that it is not ready, then refuses new requests and closes connections", async () => {
    const life = createLifecycle();
    const app = appWith({ lifecycle: life });
    const status = async (path: string) => {
      const response = await app.request(path, { headers: withKey() });
      return [response.status, response.headers.get("connection")];
    };
    expect(await status("/api/v1/ready")).toEqual([200, null]);
    life.enterPhase("leaving");
    expect((await status("/api/v1/ready"))[0]).toBe(503);
    expect(await status("/api/v1/memories/ana")).toEqual([200, "close"]);
    life.enterPhase("closing");
    expect(await status("/api/v1/memories/ana")).toEqual([503, "close"]);
    expect(await status("/api/v1/health")).toEqual([503, "close"]);
  });
});
