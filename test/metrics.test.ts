import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metricsPage } from "../scripts/metrics-table.ts";
import { openaiEmbedder, openaiModel } from "../src/adapters/openai/index.ts";
import { type PrometheusMeter, prometheusMeter } from "../src/adapters/prometheus/index.ts";
import { METRICS, SERVED_METRICS, toServedName } from "../src/domain/operations/metrics.ts";
import type { Keepsake } from "../src/engine/api/keepsake.ts";
import { recordJobMetrics } from "../src/engine/instrumentation.ts";
import { apiKeys, httpApp, passingKeys } from "../src/http/index.ts";
import { createMemory } from "../src/memory.ts";
import { type OpenaiServer, openaiServer } from "../src/testing/index.ts";

/** A word that stands in nothing but what a user says, is called, or asks for. */
const CANARY = /canary/i;

let server: OpenaiServer;
let meter: PrometheusMeter;
let memory: Keepsake;
let app: ReturnType<typeof httpApp>;
let key: string;

const clock = () => new Date("2026-11-21T10:00:00Z");

beforeAll(async () => {
  server = await openaiServer();
  meter = prometheusMeter();
  memory = await createMemory({
    path: ":memory:",
    clock,
    meter,
    model: (hooks) => openaiModel({ baseUrl: server.url, tries: 1, ...hooks }),
    embedder: (hooks) => openaiEmbedder({ baseUrl: server.url, tries: 1, patienceMs: 2000, ...hooks }),
  });
  const keys = apiKeys({ store: passingKeys(), clock });
  key = keys.first ?? "";
  const text = async (): Promise<string> => {
    await recordJobMetrics(memory, meter);
    return meter.text();
  };
  app = httpApp({
    keepsake: memory,
    keys,
    meter,
    metrics: { text },
    proxy: { upstream: { baseUrl: server.url, apiKey: "sk-1" } },
  });
});
afterAll(async () => {
  await memory.close();
  await server.close();
});

async function call(method: string, path: string, body?: unknown): Promise<Response> {
  const response = await app.request(path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response;
}

const scrape = async (): Promise<string> => (await call("GET", "/metrics")).text();

/** The sum over all labels. */
function total(text: string, name: string, labels = ""): number {
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const meant = lines.filter((line) => line.includes(labels));
  return meant.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

describe("after the story, over HTTP and with a model", () => {
  let before: string;
  let after: string;

  beforeAll(async () => {
    before = await scrape();
    const user = "canary-ana";
    const say = (message: string) => call("POST", "/message", { userId: user, message });
    await say("I use Shram and Canarymagnet as productivity tools.");
    await memory.scope({ user }).stats();
    for await (const _ of memory.reindex());
    await say("What productivity tools do I use?");
    await call("POST", `/api/v1/memories/${user}/search`, { query: "canary tools" });
    await say("I don't use Canarymagnet anymore.");
    await call("POST", "/forget", { userId: user, message: "Canarymagnet" });
    const chat = await call("POST", "/v1/chat/completions", {
      model: "canary-model",
      user,
      messages: [{ role: "user", content: "Hello, canary." }],
    });
    // It is counted when the client has it all.
    expect((await chat.text()).length).toBeGreaterThan(10);
    await call("GET", "/canary/path");
    await call("BREW", "/message");
    after = await scrape();
  });

  it.each([
    ["memory_api_requests_total", 'endpoint="/message",status="200"'],
    ["memory_api_requests_total", 'endpoint="none",status="404"'],
    ["memory_api_request_duration_seconds_count", 'endpoint="/api/v1/memories/{user_id}/search"'],
    ["memory_retrieval_duration_ms_count", ""],
    ["memory_operations_total", 'operation="converse",outcome="ok"'],
    ["memory_operations_total", 'operation="forget",outcome="ok"'],
    ["memory_changes_total", 'action="added"'],
    ["memory_changes_total", 'action="superseded"'],
    ["memory_turns_total", ""],
    ["memory_erasures_total", 'complete="yes"'],
    ["memory_answers_total", ""],
    ["llm_calls_total", 'purpose="embed"'],
    ["llm_calls_total", 'purpose="chat",model="other"'],
    ["llm_call_duration_seconds_count", 'purpose="embed",model="text-embedding-3-small"'],
    ["llm_tokens_used_total", 'type="input"'],
    ["llm_cost_usd_total", 'purpose="embed"'],
    ["cache_hits_total", 'cache="users"'],
    ["cache_misses_total", 'cache="users"'],
    ["cache_misses_total", 'cache="vectors"'],
    ["keepsake_proxy_requests_total", 'purpose="chat"'],
    ["keepsake_proxy_overhead_ms_count", ""],
    ["process_cpu_seconds_total", ""],
    ["process_resident_memory_bytes", ""],
  ])("%s{%s} has moved", (name, labels) => {
    expect(total(after, name, labels)).toBeGreaterThan(
      name.startsWith("process_resident") ? 0 : total(before, name, labels),
    );
  });

  it("gives every name of the table, and none twice", () => {
    const names = [...after.matchAll(/^# TYPE (\w+) /gm)].map((match) => match[1]);
    expect(names).toEqual(SERVED_METRICS.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });

  it("gives every metric with one prefix and in base units, and says of each earlier name what took its place", () => {
    const helps = new Map(
      [...after.matchAll(/^# HELP (\w+) (.*)$/gm)].map(([, name = "", help = ""]) => [name, help]),
    );
    for (const name of Object.keys(METRICS)) {
      const current = toServedName(name);
      expect(current).toMatch(/^(?:keepsake|process|nodejs)_[a-z0-9_]+$/);
      expect(current).not.toMatch(/_(?:ms|milliseconds|kb|mb)(?:_|$)/);
      expect(helps.get(current)).not.toMatch(/[Dd]eprecated/);
      if (name !== current) expect(helps.get(name)).toMatch(new RegExp(`^Deprecated, .*use ${current}\\.`));
    }
    const [sum, earlier] = [
      total(after, "keepsake_retrieval_duration_seconds_sum", ""),
      total(after, "memory_retrieval_duration_ms_sum", ""),
    ];
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeCloseTo(earlier / 1000, 6);
    expect(total(after, "keepsake_llm_calls_total", "")).toBe(total(after, "llm_calls_total", ""));
  });

  it("holds no word and no name of a user, whatever a client writes where", () => {
    expect(after).not.toMatch(CANARY);
    expect(after).not.toContain("default");
  });

  it("has a bounded number of lines: twice the requests make none more", async () => {
    const lines = (text: string): number => text.split("\n").length;
    const few = lines(await scrape());
    for (let i = 0; i < 20; i += 1) {
      await call("GET", `/api/v1/memories/canary-${i}`);
      await call("GET", `/canary-${i}`);
      await call("POST", "/v1/chat/completions", {
        model: `canary-${i}`,
        messages: [{ role: "user", content: "Hi." }],
      });
    }
    const many = lines(await scrape());
    for (let i = 20; i < 40; i += 1) {
      await call("GET", `/api/v1/memories/canary-${i}`);
      await call("GET", `/canary-${i}`);
      await call("POST", "/v1/chat/completions", {
        model: `canary-${i}`,
        messages: [{ role: "user", content: "Hi." }],
      });
    }
    expect(lines(await scrape())).toBe(many);
    expect(many - few).toBeLessThan(80);
  });
});

describe("who may read them", () => {
  const keys = apiKeys({ store: passingKeys(), clock });
  const status = async (
    metrics: Parameters<typeof httpApp>[0]["metrics"],
    bearer?: string,
  ): Promise<number> => {
    const served = httpApp({ keepsake: memory, keys, ...(metrics ? { metrics } : {}) });
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    return (await served.request("/metrics", { headers })).status;
  };
  const text = async (): Promise<string> => "";

  it("is who has a key with the scope admin", async () => {
    expect(await status({ text })).toBe(401);
    expect(await status({ text }, keys.create({ scopes: ["read"] }).key)).toBe(403);
    expect(await status({ text }, keys.create({ scopes: ["admin"] }).key)).toBe(200);
  });

  it("is everybody where the settings say so, and nobody where they are off", async () => {
    expect(await status({ text, isOpen: true })).toBe(200);
    expect(await status(undefined, keys.create({ scopes: ["admin"] }).key)).toBe(404);
  });
});

it("stand in the page as in the code", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/metrics.md"), "utf8");
  expect(metricsPage(page)).toBe(page);
});

it("are all in the table: a name that is counted and does not stand there would be counted nowhere", () => {
  const source = join(import.meta.dirname, "../src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
  );
  const counted = files.flatMap((path) =>
    [
      ...readFileSync(join(source, path), "utf8").matchAll(
        /\b(?:count|observe|set)\(\s*"([a-z]+_[a-z0-9_]+)"/g,
      ),
    ].map((match) => match[1] ?? ""),
  );
  expect(counted.length).toBeGreaterThan(25);
  expect(counted.filter((name) => !(name in METRICS))).toEqual([]);
  expect(Object.keys(METRICS).filter((name) => !counted.includes(name))).toEqual([]);
});
