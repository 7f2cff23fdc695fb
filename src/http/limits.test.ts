import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryRateLimits } from "../adapters/memory/rate-limits.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";
import { type AppOptions, httpApp } from "./app.ts";
import { createBodyQuota } from "./body-quota.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";
import { toProblem } from "./problem.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
let keepsake: Keepsake;
let keys: ApiKeys;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
});
afterEach(() => keepsake.close());

interface Answer {
  readonly code?: string;
  readonly detail?: string;
  readonly error?: { readonly type: string; readonly param: string | null };
}

const send = async (path: string, body: string | ReadableStream, options: Partial<AppOptions> = {}) => {
  const headers = { authorization: `Bearer ${keys.first}`, "content-type": "application/json" };
  const app = httpApp({ keepsake, keys, ...options });
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  const response = await app.request(path, init);
  return { status: response.status, headers: response.headers, json: (await response.json()) as Answer };
};

const DEEP = `${"[".repeat(65)}${"]".repeat(65)}`;
const MANY = `[${Array.from({ length: 30_001 }, () => "{}").join(",")}]`;
const withField = (field: string): string => `{"model":"m","messages":[],"x":${field}}`;

describe.each(["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/api/v1/messages", "/message"])(
  "a body sent to %s",
  (path) => {
    it("is refused if nested deeper than 64 levels", async () => {
      const { status, json } = await send(path, withField(DEEP));
      expect([status, json.code, json.detail]).toEqual([
        400,
        "invalid_input",
        "The body is nested deeper than 64 levels.",
      ]);
      if (path.startsWith("/v1/"))
        expect(json.error).toMatchObject({ type: "invalid_request_error", param: "body" });
    });

    it("is refused with more than 30,000 objects", async () => {
      const { status, json } = await send(path, withField(MANY));
      expect([status, json.detail]).toEqual([
        400,
        "The body contains too much: at most 30,000 arrays and objects.",
      ]);
    });

    it("is not read further after a refusal", async () => {
      let pulled = 0;
      const endless = new ReadableStream({
        pull(controller) {
          pulled += 1;
          controller.enqueue(Buffer.from(pulled === 1 ? '{"x":' : "[".repeat(1000)));
        },
      });
      expect((await send(path, endless)).status).toBe(400);
      expect(pulled).toBeLessThan(10);
    });
  },
);

it.each([
  [withField(DEEP), "The body is nested deeper than 64 levels."],
  [withField(MANY), "The body contains too much: at most 30,000 arrays and objects."],
])("refuses a body for Anthropic's API that is too much, in its own form", async (body, message) => {
  const { status, json } = await send("/v1/messages", body);
  expect([status, json]).toMatchObject([
    400,
    { type: "error", error: { type: "invalid_request_error", message } },
  ]);
});

describe("turns of one request", () => {
  const turns = (count: number): object[] =>
    Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content: "Hm." }));

  it.each([
    ["/v1/chat/completions", "messages"],
    ["/v1/responses", "input"],
  ])("to %s are refused above 5,000, by the name of their field", async (path, field) => {
    const { status, json } = await send(
      path,
      JSON.stringify({ model: "m", user: "ana", [field]: turns(5001) }),
    );
    expect([status, json.code, json.detail]).toEqual([
      400,
      "invalid_input",
      `${field} contains too many turns: at most 5,000.`,
    ]);
    expect(json.error?.param).toBe(field);
  });

  it("are at most 1,000 in one call of /api/v1/messages", async () => {
    const { status, json } = await send(
      "/api/v1/messages",
      JSON.stringify({ user_id: "ana", messages: turns(1001) }),
    );
    expect([status, json.detail]).toEqual([400, "messages: must be at most 1000"]);
  });
});

it("refuses words to forget of more than 16,384 bytes", async () => {
  const { status, json } = await send(
    "/forget",
    JSON.stringify({ userId: "ana", message: "a ".repeat(9000) }),
  );
  expect([status, json.code]).toEqual([400, "invalid_input"]);
  expect(json.detail).toContain("16,384 bytes");
});

it("refuses a filter of more than 1,000 names and values, in a search and in an erasure", async () => {
  const where = { $or: Array.from({ length: 1001 }, (_, i) => ({ field: i })) };
  for (const [path, body] of [
    ["/api/v1/memories/ana/search", { query: "work", where }],
    ["/api/v1/context", { user_id: "ana", request: "work", where }],
    ["/api/v1/erasures", { user_id: "ana", where }],
  ] as const) {
    const { status, json } = await send(path, JSON.stringify(body));
    expect([status, json.code]).toEqual([400, "invalid_input"]);
    expect(json.detail).toContain("Limit: 1,000 names and values");
  }
});

describe("bodies in flight", () => {
  const refusalOf = (run: () => void): object => {
    try {
      run();
    } catch (error) {
      const { status, code, headers } = toProblem(error);
      return { status, code, after: headers?.["retry-after"] };
    }
    return {};
  };

  it("are limited per key with 429 and in total with 503, and accepted again when others finish", () => {
    const bodies = createBodyQuota({ most: 100, mostOfKey: 60 });
    const [one, same, other] = [bodies.reserve("a"), bodies.reserve("a"), bodies.reserve("b")];
    one.add(50);
    expect(refusalOf(() => same.add(20))).toEqual({ status: 429, code: "over_quota", after: "1" });
    other.add(50);
    expect(refusalOf(() => other.add(1))).toEqual({ status: 503, code: "unavailable", after: "1" });
    one.release();
    expect(refusalOf(() => same.add(20))).toEqual({});
  });

  it("accept a single body of any length", () => {
    expect(refusalOf(() => createBodyQuota({ most: 10 }).reserve("a").add(1000))).toEqual({});
  });

  it("do not count finished requests, under /v1 and /api", async () => {
    const bodies = { most: 4000, mostOfKey: 4000 };
    const app = httpApp({ keepsake, keys, bodies });
    const headers = { authorization: `Bearer ${keys.first}`, "content-type": "application/json" };
    const text = "I like tea. ".repeat(200);
    for (let time = 0; time < 3; time += 1) {
      const chat = { model: "keepsake", user: "ana", messages: [{ role: "user", content: text }] };
      const told = { user_id: "ana", messages: [{ role: "user", content: text }] };
      const statuses = [];
      for (const [path, body] of [
        ["/v1/chat/completions", chat],
        ["/api/v1/messages", told],
      ] as const)
        statuses.push(
          (await app.request(path, { method: "POST", headers, body: JSON.stringify(body) })).status,
        );
      expect(statuses).toEqual([200, 201]);
    }
  });
});

describe("the remaining limits of a key", () => {
  it("are in every response, for requests and bytes, before the 429", async () => {
    const options = {
      rateLimits: memoryRateLimits({ perMinute: 3, clock }),
      byteLimits: memoryRateLimits({ perMinute: 1000, clock }),
    };
    const body = JSON.stringify({ user_id: "ana", messages: [{ role: "user", content: "x".repeat(340) }] });
    const app = httpApp({ keepsake, keys, ...options });
    const headers = {
      authorization: `Bearer ${keys.first}`,
      "content-type": "application/json",
      "content-length": String(body.length),
    };
    const ask = () => app.request("/api/v1/messages", { method: "POST", headers, body });
    const first = await ask();
    expect(Object.fromEntries([...first.headers].filter(([name]) => name.startsWith("ratelimit")))).toEqual({
      "ratelimit-limit": "3",
      "ratelimit-remaining": "2",
      "ratelimit-reset": "20",
      "ratelimit-policy": '"requests";q=3;w=60, "bytes";q=1000;w=60',
      ratelimit: `"requests";r=2;t=20, "bytes";r=${1000 - body.length};t=${Math.ceil(body.length * 0.06)}`,
    });
    await ask();
    const overBytes = await ask();
    expect([overBytes.status, ((await overBytes.json()) as Answer).detail]).toEqual([
      429,
      "Too many bytes with this key. Try again later, or ask the operator for a higher limit.",
    ]);
    expect(Number(overBytes.headers.get("retry-after"))).toBeGreaterThan(0);
    const overRequests = await ask();
    expect([overRequests.status, overRequests.headers.get("ratelimit-remaining")]).toEqual([429, "0"]);
  });

  it("are in error responses, and under /v1", async () => {
    const rateLimits = memoryRateLimits({ perMinute: 9, clock });
    const wrong = await send("/api/v1/messages", "{", { rateLimits });
    const chat = await send("/v1/chat/completions", "{}", { rateLimits });
    expect([wrong.status, wrong.headers.get("ratelimit-remaining")]).toEqual([400, "8"]);
    expect([chat.status, chat.headers.get("ratelimit-remaining")]).toEqual([400, "7"]);
  });

  it("count a body without a declared length after receiving it", async () => {
    const byteLimits = memoryRateLimits({ perMinute: 10, clock });
    const chunked = (): ReadableStream =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from('{"user_id":"ana"}'));
          controller.close();
        },
      });
    const statuses = [];
    const options = { byteLimits };
    for (let time = 0; time < 2; time += 1)
      statuses.push((await send("/api/v1/messages", chunked(), options)).status);
    expect(statuses).toEqual([400, 429]);
  });

  it("count an import without a declared length, and refuse the next one", async () => {
    const byteLimits = memoryRateLimits({ perMinute: 1000, clock });
    const lines = Array.from({ length: 10 }, (_, i) =>
      JSON.stringify({ id: `n${i}`, content: "x".repeat(80) }),
    );
    const statuses = [];
    for (let time = 0; time < 2; time += 1) {
      const file = new Response(lines.join("\n")).body as ReadableStream;
      statuses.push((await send("/api/v1/import/ana", file, { byteLimits })).status);
    }
    expect(statuses).toEqual([200, 429]);
  });

  it("stop an import without a declared length where they are used up", async () => {
    const byteLimits = memoryRateLimits({ perMinute: 1_000_000, clock });
    let pulled = 0;
    const line = `${JSON.stringify({ content: "x".repeat(65_000) })}\n`;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(Buffer.from(line));
      },
    });
    const { status, json, headers } = await send("/api/v1/import/ana?extract=never", endless, { byteLimits });
    expect([status, json.code, headers.get("connection")]).toEqual([429, "over_quota", "close"]);
    expect(pulled).toBeLessThan(30);
  });
});
