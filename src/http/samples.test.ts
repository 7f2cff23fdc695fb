import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prometheusMeter } from "../adapters/prometheus/index.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";
import { httpApp } from "./app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";

// The requests of the documents about a memory as a service, in other words.

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let now: Date;
let keepsake: Keepsake;
let keys: ApiKeys;
let app: ReturnType<typeof httpApp>;

beforeEach(async () => {
  now = new Date("2026-03-01T12:00:00Z");
  const clock = () => now;
  const meter = prometheusMeter();
  keepsake = await createMemory({ path: ":memory:", clock, meter });
  keys = apiKeys({ store: passingKeys(), clock });
  app = httpApp({ keepsake, keys, metrics: { text: async () => meter.text() } });
});
afterEach(() => keepsake.close());

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  return app.request(path, {
    method,
    headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
const call = async (method: string, path: string, body?: unknown): Promise<Json> =>
  (await send(method, path, body)).json();
const say = (message: string, turn: number): Promise<Json> =>
  call("POST", "/api/v1/conversation", {
    user_id: "user_7",
    turn_number: turn,
    message,
    include_memories: true,
  });

describe("a memory as a service", () => {
  it("answers at turn 500 with a colour that was named at turn 3, and shows the memory", async () => {
    await say("My favorite color is teal.", 3);
    const { reply, memories_used, turn_number } = await say("What's my favorite color?", 500);
    expect(reply).toMatch(/teal/);
    expect(turn_number).toBe(500);
    expect(memories_used[0]).toMatchObject({ content: expect.stringContaining("teal") });
  });

  it("uses at turn 500 the coffee that was liked at turn 1", async () => {
    await say("I love espresso and prefer dark roast coffee", 1);
    const { memories_used } = await say("What kind of coffee should I buy?", 500);
    expect(JSON.stringify(memories_used)).toMatch(/espresso|dark roast/);
  });

  it("creates a memory with its type, turn and confidence, and shows its whole schema", async () => {
    const { id } = await call("POST", "/api/v1/memories", {
      user_id: "user_7",
      type: "preference",
      content: "User prefers large type",
      source_turn: 10,
      confidence: 0.9,
    });
    expect(await call("GET", `/api/v1/memories/user_7/${id}`)).toMatchObject({
      user_id: "user_7",
      type: "preference",
      content: "User prefers large type",
      source_turn: 10,
      created_at: "2026-03-01T12:00:00.000Z",
      access_count: 0,
      confidence: 0.9,
      decay_score: 1,
    });
  });

  it.each(["preference", "fact", "commitment", "instruction", "entity"])(
    "creates and lists memories of type %s",
    async (type) => {
      await call("POST", "/api/v1/memories", {
        user_id: "user_7",
        type,
        content: "The ferry leaves at six.",
      });
      const { items } = await call("GET", `/api/v1/memories/user_7?kind=${type}`);
      expect(items).toMatchObject([{ type }]);
    },
  );

  it("refuses a confidence above 1", async () => {
    const response = await send("POST", "/api/v1/memories", {
      user_id: "user_7",
      content: "A.",
      confidence: 1.1,
    });
    expect(response.status).toBe(400);
  });

  it("searches with a query and a number in the address, and counts the use", async () => {
    for (const content of ["User prefers large type", "User prefers quiet trains"])
      await call("POST", "/api/v1/memories", { user_id: "user_7", type: "preference", content });
    const { items } = await call("POST", "/api/v1/memories/user_7/search?query=preferences&top_k=10");
    expect(items.map(({ content }: Json) => content).sort()).toEqual([
      "User prefers large type",
      "User prefers quiet trains",
    ]);
    await expect
      .poll(async () => (await call("GET", `/api/v1/memories/user_7/${items[0].id}`)).access_count, {
        timeout: 5_000,
      })
      .toBe(1);
    expect((await call("GET", `/api/v1/memories/user_7/${items[0].id}`)).last_accessed).toBeDefined();
  });

  it("scores a search by similarity, recency, access and confidence with the classic weights", async () => {
    await call("POST", "/api/v1/memories", { user_id: "user_7", content: "User prefers large type" });
    const { items } = await call("POST", "/api/v1/memories/user_7/search", {
      query: "Which type does the user prefer?",
      profile: "classic",
      explain: true,
    });
    expect(Object.keys(items[0].why.adds).sort()).toEqual(["access", "confidence", "recency", "similarity"]);
  });

  it("reports a user's statistics, and optimises by the current turn", async () => {
    await say("I live in Porto.", 1);
    expect(await call("GET", "/api/v1/memories/user_7/stats")).toMatchObject({ total: 1, current: 1 });
    const { jobs } = await call("POST", "/api/v1/memories/user_7/optimize?current_turn=500");
    expect(jobs.map(({ name }: Json) => name)).toEqual(["expiry", "consolidation", "decay", "clean-up"]);
  });

  it("is alive without a key, and with one names what it depends on", async () => {
    expect(await (await app.request("/api/v1/health")).json()).toEqual({ status: "ok" });
    const { status, checks } = await call("GET", "/api/v1/health");
    expect(status).toBe("ok");
    expect(checks.map(({ name }: Json) => name)).toContain("durability");
  });

  it("shows its documentation as a page", async () => {
    const response = await app.request("/docs");
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("/api/v1/conversation");
  });

  it("deletes everything of one user, and of no other", async () => {
    for (const user_id of ["user_7", "user_8"])
      await call("POST", "/api/v1/memories", { user_id, content: "User prefers large type" });
    expect(await call("DELETE", "/api/v1/memories/user_7/all")).toMatchObject({ complete: true });
    expect((await call("GET", "/api/v1/memories/user_7?status=all")).total).toBe(0);
    expect((await call("GET", "/api/v1/memories/user_8")).total).toBe(1);
  });

  it.each([
    "memory_api_requests_total",
    "memory_api_request_duration_seconds",
    "memory_retrieval_duration_ms",
    "memory_operations_total",
    "llm_call_duration_seconds",
    "llm_tokens_used_total",
    "cache_hits_total",
    "cache_misses_total",
  ])("reports the metric %s", async (name) => {
    await say("I live in Porto.", 1);
    expect(await (await send("GET", "/metrics")).text()).toMatch(new RegExp(`^# TYPE ${name} `, "m"));
  });
});

describe("a memory with two calls", () => {
  const message = async (text: string, userId = "u1"): Promise<string> =>
    (await call("POST", "/message", { userId, message: text })).reply;
  const forget = async (text: string): Promise<string> =>
    (await call("POST", "/forget", { userId: "u1", message: text })).reply;

  it("stores the facts of a message, and answers a later one with them", async () => {
    await message("I work as a nurse, and I live in Faro.");
    expect(await message("Where do I live?")).toContain("Faro");
    expect(await message("What is my job?")).toMatch(/nurse/);
  });

  it("forgets what a sentence names, and nothing else", async () => {
    await message("I work as a nurse, and I live in Faro.");
    await message("I work as a nurse, and I live in Faro.", "u2");
    expect(await forget("Forget where I live.")).toMatch(/^Forgotten/);
    expect(await message("Where do I live?")).not.toContain("Faro");
    expect(await message("What is my job?")).toMatch(/nurse/);
    expect(await message("Where do I live?", "u2")).toContain("Faro");
  });

  it.each([
    "Forget Magnet.",
    "Please forget that I use Magnet.",
    "Delete what you know about Magnet.",
    "Remove Magnet from your memory.",
    "Can you forget Magnet?",
    "Forget what I said about Magnet.",
    "I want you to forget Magnet.",
    "Could you please remove what I told you about Magnet?",
  ])("forgets by either call what is asked in these words: %s", async (words) => {
    for (const ask of [message, forget]) {
      await message("I use Shram and Magnet as productivity tools.");
      expect(await message("What productivity tools do I use?")).toMatch(/Magnet/);
      await ask(words);
      const answer = await message("What productivity tools do I use?");
      expect(answer).toMatch(/Shram/);
      expect(answer).not.toMatch(/Magnet/);
    }
  });

  it("says that there is nothing to forget where nothing is known", async () => {
    expect(await forget("Forget my telephone number.")).toMatch(/nothing/i);
  });
});
