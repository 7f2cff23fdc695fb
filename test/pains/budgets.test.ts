import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { modelExtractor } from "../../src/adapters/model/index.ts";
import { openaiEmbedder, openaiModel } from "../../src/adapters/openai/index.ts";
import { openSqliteStore, type SqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { Budgets } from "../../src/domain/model-usage.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import { rulesExtractor } from "../../src/language/en/grammar/rules.ts";
import { createMemory } from "../../src/memory.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/index.ts";

/**
 * Tens of thousands of calls and tens of millions of tokens within hours, and nobody was told (graphiti#290, claude-mem#1090);
 * work that goes on behind a budget that is used up (LibreChat#13594).
 */

let server: OpenaiServer;
let now: Date;

beforeAll(async () => {
  server = await openaiServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  now = new Date("2026-11-21T23:00:00Z");
});

const clock = (): Date => now;
const ANA = { user: "ana" };

/** A memory that asks models for everything: understanding, answers and embeddings. */
function open(budgets: Budgets, more: { record?: SqliteStore } = {}): Promise<Keepsake> {
  return createMemory({
    path: ":memory:",
    clock,
    costs: { budgets },
    model: (hooks) => openaiModel({ baseUrl: server.url, tries: 1, ...hooks }),
    extractor: (hooks) => [
      rulesExtractor(),
      modelExtractor(openaiModel({ baseUrl: server.url, tries: 1, ...hooks }), { lingerMs: 0 }),
    ],
    embedder: (hooks) => openaiEmbedder({ baseUrl: server.url, tries: 1, ...hooks }),
    ...(more.record ? { record: more.record, calls: more.record.calls } : {}),
  });
}

const asked = (path: string): number => server.received.filter((one) => one.path.endsWith(path)).length;

/** Why a job waits, as soon as it says so. */
async function hindered(memory: Keepsake, job: string): Promise<string> {
  const problem = async () => (await memory.jobs()).find(({ name }) => name === job)?.problem;
  await expect.poll(problem, { timeout: 10_000, interval: 20 }).toBeDefined();
  return (await problem()) ?? "";
}

describe("a budget that is used up", () => {
  it("stops every call to a model, and says so; nothing is lost, and nobody waits", async () => {
    await using memory = await open({ project: { day: { usd: 0 } } });
    const ana = memory.scope(ANA);
    await ana.remember("I use Shram and Magnet as productivity tools.");
    expect(await hindered(memory, "understanding")).toMatch(/budget of this project for the day/);
    expect(await hindered(memory, "embedding")).toMatch(/KEEPSAKE_BUDGET_PROJECT_DAY_USD/);
    expect((await ana.answer("What productivity tools do I use?")).text).toBe("You use Shram and Magnet.");
    expect((await ana.recall("Shram")).items.length).toBeGreaterThan(0);
    expect((await ana.stats()).pending).toBe(1);
    const { usage } = await memory.stats();
    expect(usage.budgets).toMatchObject([{ limit: 0, left: 0, until: "2026-11-22T00:00:00.000Z" }]);
    expect([usage.calls, server.received.length]).toEqual([0, 0]);
  });

  it("goes on by itself when the day turns", async () => {
    // Through the record: what waits is read by the next program, as after a restart.
    const record = await openSqliteStore({ path: ":memory:" });
    const budgets: Budgets = { user: { day: { tokens: 100_000 } } };
    const first = await open(budgets, { record });
    // All of the day.
    await record.calls.note([
      {
        ...CALL,
        id: "1",
        project: "default",
        user: "ana",
        at: "2026-11-21T22:00:00.000Z",
        tokensIn: 100_000,
      },
    ]);
    await first.scope(ANA).remember("I use Shram and Magnet as productivity tools.");
    expect(await hindered(first, "understanding")).toMatch(/budget of this user/);
    expect(asked("/chat/completions")).toBe(0);
    await first.close();
    now = new Date("2026-11-22T00:00:01Z");
    const second = await open(budgets, { record });
    await expect.poll(() => asked("/chat/completions"), { timeout: 10_000 }).toBeGreaterThan(0);
    await second.close();
    await record.close();
  });

  it("never stops the chat that is passed on", async () => {
    await using memory = await open({ project: { day: { usd: 0 }, month: { tokens: 0 } } });
    const keys = apiKeys({ store: passingKeys(), clock });
    const app = httpApp({
      keepsake: memory,
      keys,
      proxy: { upstream: { baseUrl: server.url, apiKey: "sk-1" } },
    });
    const response = await app.request("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "gpt-4o-mini",
        user: "ana",
        messages: [{ role: "user", content: "Hello." }],
      }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("chat.completion");
    const { usage } = await memory.stats();
    expect(usage.chat).toMatchObject({ calls: 1, failed: 0 });
    expect(usage.budgets.map(({ spent }) => spent)).toEqual([0, 0]);
  });
});

it("asks no model at all while there is nothing to do", async () => {
  await using memory = await open({});
  await memory.scope(ANA).list();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(server.received.length).toBe(0);
});

const CALL = {
  purpose: "understand",
  model: "gpt-4o-mini",
  host: "api.openai.com",
  outcome: "ok",
  units: 1,
  tokensCached: 0,
  tokensOut: 0,
  ms: 1,
} as const;
