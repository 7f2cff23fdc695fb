import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "./openai-server.ts";
import { SPOILT, times } from "./script.ts";

let server: OpenaiServer;
beforeAll(async () => {
  server = await openaiServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.reply = () => "All is well.";
});

type Fields = { readonly [field: string]: unknown };

const post = (path: string, body: Fields): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o-mini", ...body }),
  });
const said = (...content: string[]): Fields => ({
  messages: content.map((text) => ({ role: "user", content: text })),
});
const dataOf = (text: string): Fields[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? "") as Fields);

describe("chat completions", () => {
  it("answers by the script, and keeps the request", async () => {
    const response = await post("/chat/completions", said("How are you?"));
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      model: "gpt-4o-mini-2024-07-18",
      choices: [{ index: 0, message: { role: "assistant", content: "All is well." }, finish_reason: "stop" }],
      usage: { prompt_tokens_details: { cached_tokens: 0 } },
    });
    expect(server.received).toMatchObject([
      { path: "/v1/chat/completions", turns: [{ role: "user", text: "How are you?" }], isGone: false },
    ]);
  });

  it("streams a role, the words, an end, the usage if requested, and [DONE]", async () => {
    const response = await post("/chat/completions", {
      ...said("Hello"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const text = await response.text();
    expect(text).toBe(server.received[0]?.sent);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    const chunks = dataOf(text);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    const deltas = chunks.slice(0, -1).map(({ choices }) => (choices as [Fields])[0]);
    expect(deltas.map(({ delta }) => (delta as Fields).content)).toEqual([
      "",
      "All",
      " is",
      " well.",
      undefined,
    ]);
    expect(deltas.at(-1)).toMatchObject({ delta: {}, finish_reason: "stop" });
  });

  it("calls tools, in one piece and in parts, and accepts their results", async () => {
    server.reply = () => ({ toolCalls: [{ name: "weather", arguments: { city: "Utrecht" } }] });
    const whole = (await (await post("/chat/completions", said("Rain?"))).json()) as { choices: [Fields] };
    expect(whole.choices[0]).toMatchObject({
      message: { content: null, tool_calls: [{ function: { arguments: '{"city":"Utrecht"}' } }] },
      finish_reason: "tool_calls",
    });
    const streamed = await (await post("/chat/completions", { ...said("Rain?"), stream: true })).text();
    const calls = dataOf(streamed).flatMap(({ choices }) => {
      const [{ delta }] = choices as [{ delta: { tool_calls?: { function: Fields }[] } }];
      return delta.tool_calls ?? [];
    });
    expect(calls.map((call) => call.function.arguments).join("")).toBe('{"city":"Utrecht"}');
    const call = { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } };
    const result = { role: "tool", tool_call_id: "call_1", content: "Rain." };
    const called = { role: "assistant", content: null, tool_calls: [call] };
    expect((await post("/chat/completions", { messages: [called, result] })).status).toBe(200);
    expect((await post("/chat/completions", { messages: [result] })).status).toBe(400);
  });

  it("rejects an incomplete strict schema, and any schema as an old server", async () => {
    const asked = (schema: Fields): Fields => ({
      ...said("Hello"),
      response_format: { type: "json_schema", json_schema: { name: "claims", strict: true, schema } },
    });
    const list = { type: "array", items: { type: "string" } };
    const good = {
      type: "object",
      properties: { claims: list },
      required: ["claims"],
      additionalProperties: false,
    };
    expect((await post("/chat/completions", asked(good))).status).toBe(200);
    expect((await post("/chat/completions", asked({ ...good, required: [] }))).status).toBe(400);
    expect((await post("/chat/completions", asked({ ...good, additionalProperties: true }))).status).toBe(
      400,
    );
    server.refusesSchemas = true;
    expect((await post("/chat/completions", asked(good))).status).toBe(400);
    server.refusesSchemas = false;
  });

  it("counts a shared beginning as cached in prompts of at least 1,024 tokens", async () => {
    const usageOf = async (...texts: string[]): Promise<Fields> => {
      const body = (await (await post("/chat/completions", said(...texts))).json()) as { usage: Fields };
      return body.usage;
    };
    const rules = "Keep to these rules. ".repeat(400);
    const cached = { prompt_tokens_details: { cached_tokens: 0 } };
    expect(await usageOf(rules, "first")).toMatchObject(cached);
    const second = await usageOf(rules, "second");
    const tokens = (second.prompt_tokens_details as { cached_tokens: number }).cached_tokens;
    expect(tokens).toBeGreaterThan(1900);
    expect(tokens % 128).toBe(0);
    expect(await usageOf("short", "first")).toMatchObject(cached);
    expect(await usageOf("short", "first")).toMatchObject(cached);
  });
});

describe("responses", () => {
  it("streams typed and numbered events, and the complete response at the end", async () => {
    const text = await (await post("/responses", { input: "Hello", stream: true })).text();
    const events = dataOf(text);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, place) => place));
    expect([...new Set(events.map(({ type }) => type))]).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.at(-1)).toMatchObject({
      response: { status: "completed", output: [{ content: [{ text: "All is well." }] }] },
    });
  });

  it("continues an earlier response with its turns", async () => {
    const first = (await (
      await post("/responses", { input: "I am Ada.", instructions: "Be kind." })
    ).json()) as {
      id: string;
    };
    await post("/responses", { input: "Who am I?", previous_response_id: first.id });
    expect(server.received[1]?.turns.map(({ text }) => text)).toEqual([
      "I am Ada.",
      "All is well.",
      "Who am I?",
    ]);
    expect((await post("/responses", { input: "Who?", previous_response_id: "resp_none" })).status).toBe(400);
  });

  it("calls functions", async () => {
    server.reply = () => ({ toolCalls: [{ id: "call_7", name: "weather", arguments: { city: "Utrecht" } }] });
    expect(await (await post("/responses", { input: "Rain?" })).json()).toMatchObject({
      output: [{ type: "function_call", call_id: "call_7", arguments: '{"city":"Utrecht"}' }],
    });
  });
});

describe("faults", () => {
  it.each([401, 404, 429, 500, 503])("answers %i in OpenAI's shape, as often as planned", async (status) => {
    server.troubles.push(...times(2, { status, headers: { "retry-after": "1" } }));
    const first = await post("/chat/completions", said("Hello"));
    expect([first.status, first.headers.get("retry-after")]).toEqual([status, "1"]);
    expect(await first.json()).toMatchObject({ error: { message: expect.any(String), param: null } });
    expect((await post("/chat/completions", said("Hello"))).status).toBe(status);
    expect((await post("/chat/completions", said("Hello"))).status).toBe(200);
  });

  it("applies a fault only to its path", async () => {
    server.troubles.push({ at: "/embeddings", trouble: { status: 500 } });
    expect((await post("/chat/completions", said("Hello"))).status).toBe(200);
    expect((await post("/embeddings", { input: "a" })).status).toBe(500);
    expect((await post("/embeddings", { input: "a" })).status).toBe(200);
  });

  it.each([
    ["fenced", '```json\n{"a":1}\n```'],
    ["broken", `{"a"`],
    ["thought aloud", '<think>The user wants something.</think>{"a":1}'],
    ["empty", ""],
  ] as const)("spoils an answer: %s", async (way, text) => {
    server.reply = () => '{"a":1}';
    server.troubles.push(SPOILT[way]);
    const body = (await (await post("/chat/completions", said("Hello"))).json()) as { choices: [Fields] };
    expect(body.choices[0]).toMatchObject({ message: { content: text } });
  });

  it("ends a stream early, resets it, or inserts an error", async () => {
    const streamed = async (it: "ends" | "resets" | "errs"): Promise<string> => {
      server.troubles.push({ afterEvents: 2, it });
      const response = await post("/chat/completions", { ...said("Hello"), stream: true });
      return response.text();
    };
    expect(await streamed("ends")).not.toContain("[DONE]");
    expect(await streamed("errs")).toContain('"type":"server_error"');
    await expect(streamed("resets")).rejects.toThrow();
  });

  it("notices that a client disconnected", async () => {
    server.troubles.push({ afterEvents: 2, it: "hangs" });
    const response = await post("/chat/completions", { ...said("Hello"), stream: true });
    await response.body?.cancel();
    await expect.poll(() => server.received[0]?.isGone).toBe(true);
  });

  it("never answers, or closes the connection", async () => {
    server.troubles.push("hangs");
    const waiting = fetch(`${server.url}/models`, { signal: AbortSignal.timeout(30) });
    await expect(waiting).rejects.toThrow();
    server.always = "hangs up";
    await expect(fetch(`${server.url}/models`)).rejects.toThrow();
  });
});

describe("other endpoints", () => {
  it("lists models, and rejects unknown ones", async () => {
    const get = async (path: string): Promise<unknown> => (await fetch(`${server.url}${path}`)).json();
    expect(await get("/models")).toMatchObject({ object: "list", data: [{ id: "gpt-4o-mini" }, {}, {}, {}] });
    expect(await get("/models/gpt-4o")).toMatchObject({ id: "gpt-4o", object: "model" });
    expect(await get("/models/none")).toMatchObject({ error: { code: "model_not_found" } });
    expect(await get("/nothing")).toMatchObject({ error: { type: "invalid_request_error" } });
  });

  it("embeds in floats and in base64, with equal numbers", async () => {
    const asked = async (format: string): Promise<{ data: [{ embedding: number[] | string }] }> =>
      (await post("/embeddings", { input: ["tea"], dimensions: 8, encoding_format: format })).json() as never;
    const floats = (await asked("float")).data[0].embedding as number[];
    const bytes = Buffer.from((await asked("base64")).data[0].embedding as string, "base64");
    expect(floats.map((_part, place) => bytes.readFloatLE(place * 4))).toEqual(floats.map(Math.fround));
  });

  it("answers without a script from a line of the request", async () => {
    const open = await openaiServer();
    const system = {
      role: "system",
      content: "[1] The user keeps two goats.\n[2] The user lives in Utrecht.",
    };
    const asks = { role: "user", content: "Where is it that the user lives?" };
    const response = await fetch(`${open.url}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "gpt-4o", messages: [system, asks] }),
    });
    expect(await response.json()).toMatchObject({
      choices: [{ message: { content: "I was told: [2] The user lives in Utrecht." } }],
    });
    await open.close();
  });
});
