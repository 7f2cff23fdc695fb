import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openaiModel } from "../../src/adapters/openai/index.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { type Served, serve } from "../../src/http/index.ts";
import { createMemory } from "../../src/memory.ts";
import { type OpenaiServer, openaiServer, type Received } from "../../src/testing/index.ts";

/** The whole way: a client, our server, a model's server. */

let upstream: OpenaiServer;
let keepsake: Keepsake;
let served: Served;
let key: string;

beforeAll(async () => {
  upstream = await openaiServer();
  keepsake = await createMemory({
    path: ":memory:",
    patience: { first: 10_000, whole: 10_000 },
    model: openaiModel({ baseUrl: upstream.url, tries: 1 }),
  });
  const clock = (): Date => new Date("2026-03-11T10:00:00Z");
  served = await serve({ keepsake, clock, port: 0 });
  key = served.firstKey ?? "";
});
afterAll(async () => {
  await served.close();
  await keepsake.close();
  await upstream.close();
});
beforeEach(() => upstream.reset());
afterEach(() => keepsake.scope({ user: "ana" }).forget({ everything: true }));

const post = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(new URL(path, served.url), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
const say = (message: string, more: object = {}): Promise<Response> =>
  post("/api/v1/conversation", { user_id: "ana", session_id: "s1", message, ...more });

interface Event {
  readonly event: string;
  readonly data: { readonly [field: string]: unknown };
}
const eventsIn = (text: string): Event[] =>
  [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, event = "", data = ""]) => ({
    event,
    data: JSON.parse(data) as Event["data"],
  }));

function numberOf(request: Received, words: string): string {
  const lines = request.turns.at(-1)?.text.split("\n") ?? [];
  return /"n":(\d+)/.exec(lines.find((one) => one.startsWith("{") && one.includes(words)) ?? "")?.[1] ?? "";
}

describe("POST /api/v1/conversation with a model", () => {
  it("gives the model's reply, what it rests on, what was learnt, and the tokens that it took", async () => {
    upstream.reply = (request) =>
      request.turns.at(-1)?.text.includes("Where do I live?")
        ? `You live in Utrecht [${numberOf(request, "Utrecht")}].`
        : "A fine town!";
    const told = (await (await say("I live in Utrecht.")).json()) as { usage: { prompt_tokens: number } };
    expect(told).toMatchObject({
      reply: "A fine town!",
      by: "model",
      model: "gpt-4o-mini-2024-07-18",
      receipt: { memories: [{ action: "added" }] },
    });
    expect(told.usage.prompt_tokens).toBeGreaterThan(100);
    expect(await (await say("Where do I live?", { session_id: "s2" })).json()).toMatchObject({
      reply: "You live in Utrecht.",
      by: "model",
      memories_used: [{ text: "The user lives in Utrecht." }],
    });
  });

  it("streams the reply as it comes, and the whole at the end", async () => {
    upstream.reply = () => "A fine town, that!";
    upstream.always = { betweenMs: 20 };
    const response = await say("I live in Utrecht.", { stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = eventsIn(await response.text());
    expect(events.map(({ event }) => event)).toEqual(["part", "part", "part", "part", "done"]);
    expect(
      events
        .slice(0, -1)
        .map(({ data }) => data.text)
        .join(""),
    ).toBe("A fine town, that!");
    expect(events.at(-1)?.data).toMatchObject({
      reply: "A fine town, that!",
      by: "model",
      receipt: { memories: [{}] },
    });
  });

  it("replies from memory where the model fails, streamed or not, and says why", async () => {
    upstream.always = { status: 500 };
    expect(await (await say("I live in Utrecht.")).json()).toMatchObject({
      reply: "Noted: you live in Utrecht.",
      by: "memory",
      trouble: "unavailable",
      usage: { total_tokens: 0 },
    });
    const events = eventsIn(await (await say("Where do I live?", { stream: true })).text());
    expect(events.at(-1)?.data).toMatchObject({
      reply: "You live in Utrecht.",
      by: "memory",
      trouble: "unavailable",
    });
  });

  it("stops the model when the client goes, and has stored what was said", async () => {
    upstream.reply = () => "One two three four five six seven eight nine ten.";
    upstream.always = { betweenMs: 50 };
    const leaving = new AbortController();
    const response = await post(
      "/api/v1/conversation",
      { user_id: "ana", message: "I live in Utrecht.", stream: true },
      leaving.signal,
    );
    await response.body?.getReader().read();
    leaving.abort();
    await expect.poll(() => upstream.received[0]?.isGone).toBe(true);
    expect((await keepsake.scope({ user: "ana" }).list()).total).toBe(1);
  });

  it("tells what is wrong before any stream begins", async () => {
    expect((await say("", { stream: true })).status).toBe(400);
  });
});

it("POST /message gives the model's reply alone", async () => {
  upstream.reply = () => "A fine town!";
  const response = await post("/message", { userId: "ana", message: "I live in Utrecht." });
  expect(await response.json()).toEqual({ reply: "A fine town!" });
});
