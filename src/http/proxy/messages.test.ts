import Anthropic from "@anthropic-ai/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallReport } from "../../domain/model-usage.ts";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { createMemory } from "../../memory.ts";
import { type AnthropicServer, anthropicServer } from "../../testing/anthropic/anthropic-server.ts";
import { type OpenaiServer, openaiServer } from "../../testing/openai/openai-server.ts";
import { type Served, serve } from "../server.ts";
import type { ProxyOptions } from "./proxy.ts";
import { MAX_PROXY_BYTES } from "./request/proxy-request.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;
const KEY = "a-key-for-this-test-only-1";
const UPSTREAM_KEY = "sk-ant-of-the-server";

let keepsake: Keepsake;
let upstream: AnthropicServer;
let other: OpenaiServer;
let served: Served;
let reports: CallReport[];

async function open(proxy: ProxyOptions, broken: Partial<ScopedMemory> = {}): Promise<void> {
  served = await serve({
    keepsake: { ...keepsake, scope: (named) => ({ ...keepsake.scope(named), ...broken }) as ScopedMemory },
    stopMs: 1000,
    clock,
    port: 0,
    apiKey: KEY,
    proxy: { clock, retrievalMs: 1000, deadlineMs: 2000, onCall: (report) => reports.push(report), ...proxy },
  });
}
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  upstream = await anthropicServer({ apiKey: UPSTREAM_KEY });
  other = await openaiServer();
  reports = [];
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
  await upstream.close();
  await other.close();
});
const openWithUpstream = (more: ProxyOptions = {}, broken: Partial<ScopedMemory> = {}) =>
  open({ anthropic: { baseUrl: upstream.url, apiKey: UPSTREAM_KEY }, ...more }, broken);

const client = (more: object = {}): Anthropic =>
  new Anthropic({ baseURL: served.url, apiKey: KEY, maxRetries: 0, ...more });
type Params = Anthropic.MessageCreateParamsNonStreaming;
const ask = (content: Anthropic.MessageParam["content"], more: Partial<Params> = {}): Params => ({
  model: "claude-haiku-4-5",
  max_tokens: 100,
  metadata: { user_id: "ana" },
  messages: [{ role: "user", content }],
  ...more,
});
const say = (content: Anthropic.MessageParam["content"], more: Partial<Params> = {}) =>
  client().messages.create(ask(content, more));
const post = (body: unknown, headers: Record<string, string> = {}, path = "/v1/messages") =>
  fetch(`${served.url}${path}`, {
    method: "POST",
    headers: {
      "x-api-key": KEY,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const sent = (): Json => upstream.received.at(-1)?.body;
const lastSent = (): string => upstream.received.at(-1)?.raw.toString("utf8") ?? "";
const messages = async (user = "ana"): Promise<Json[]> => {
  const all: Json[] = [];
  for await (const line of keepsake.scope({ user }).export())
    if (line.type === "message") all.push(line.message);
  return all;
};
const stored = async (count: number): Promise<Json[]> => {
  await expect.poll(async () => (await messages()).length, { timeout: 3000, interval: 10 }).toBe(count);
  return (await messages()).map(({ content }) => content);
};

describe("a conversation through Anthropic's client", () => {
  beforeEach(() => openWithUpstream());

  it("is remembered in the next one, changed, and forgotten", async () => {
    await say("I use Shram and Magnet as productivity tools.");
    expect(await stored(2)).toEqual(["I use Shram and Magnet as productivity tools.", "All right."]);
    await say("What productivity tools do I use?");
    expect(lastSent()).toContain("Magnet");
    await stored(4);
    await say("Forget that I ever mentioned Magnet.");
    await say("What productivity tools do I use?");
    expect(lastSent()).not.toContain("Magnet");
    expect(lastSent()).toContain("Shram");
    expect(JSON.stringify(await messages())).not.toContain("Magnet");
  });

  it("gets the answer byte for byte, with the headers about memory", async () => {
    const response = await post(ask("Hello there."));
    expect([response.status, response.headers.get("x-keepsake-memory")]).toEqual([200, "on"]);
    expect(response.headers.get("request-id")).toBe("req_00000001");
    expect(await response.text()).toBe(upstream.received[0]?.sent);
    expect(reports[0]).toMatchObject({ purpose: "chat", model: "claude-haiku-4-5", outcome: "ok" });
    expect(reports[0]?.isEstimated).toBeUndefined();
  });

  it("sends what it does not know, and the version and the beta of the client, on unchanged", async () => {
    const body = `{"model":"m","max_tokens":1.0,"x":12345678901234567890,"messages":[{"role":"user","content":"Hi."}]}`;
    await post(body, { "anthropic-beta": "one,two", "x-keepsake-memory": "off" });
    expect(lastSent()).toBe(body);
    expect(upstream.received[0]?.headers).toMatchObject({
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "one,two",
      "x-api-key": UPSTREAM_KEY,
    });
    expect(upstream.received[0]?.headers.authorization).toBeUndefined();
  });

  it("stores what the user said, and neither results of tools nor notes of the program", async () => {
    const note = "<system-reminder>\nThe user lives in Rome.\n</system-reminder>";
    await say([
      { type: "text", text: note },
      { type: "text", text: "I live in Porto." },
    ]);
    const call = { type: "tool_use" as const, id: "toolu_1", name: "weather", input: { city: "Porto" } };
    const result = { type: "tool_result" as const, tool_use_id: "toolu_1", content: "I live in Oslo." };
    await say("", {
      messages: [
        { role: "user", content: "I live in Porto." },
        { role: "assistant", content: [{ type: "text", text: "Let me see." }, call] },
        { role: "user", content: [result, { type: "text", text: note }] },
      ],
    });
    await say("", {
      messages: [
        { role: "user", content: "I live in Porto." },
        { role: "assistant", content: [call] },
        { role: "user", content: [result, { type: "text", text: "I like rain." }] },
      ],
    });
    const all = await stored(5);
    expect(all.filter((text) => text !== "All right.")).toEqual(["I live in Porto.", "I like rain."]);
    expect(
      await keepsake
        .scope({ user: "ana" })
        .list()
        .then(({ items }) => JSON.stringify(items)),
    ).not.toMatch(/Oslo|Rome/);
  });

  it("stores calls of tools with the reply, plain and streamed", async () => {
    upstream.reply = () => [{ text: "One moment." }, { tool: "weather", input: { city: "Porto", days: 2 } }];
    await say("How is the weather?");
    const streamed = await client().messages.stream(ask("How is it now?")).finalMessage();
    expect(streamed.content).toMatchObject([
      { type: "text" },
      { type: "tool_use", input: { city: "Porto" } },
    ]);
    const call = { type: "tool_call", name: "weather", arguments: '{"city":"Porto","days":2}' };
    await stored(4);
    const replies = (await messages()).filter(({ role }) => role === "assistant").map(({ parts }) => parts);
    expect(replies).toMatchObject([
      [
        { type: "text", text: "One moment." },
        { ...call, id: "toolu_1_1" },
      ],
      [
        { type: "text", text: "One moment." },
        { ...call, id: "toolu_2_1" },
      ],
    ]);
  });

  it("keeps an image beside the words", async () => {
    const gif = Buffer.from("GIF89a\u0001\u0000\u0001\u0000").toString("base64");
    const source = { type: "base64" as const, media_type: "image/gif" as const, data: gif };
    await say([
      { type: "image", source },
      { type: "text", text: "This is my dog Rex." },
    ]);
    await stored(2);
    const { items } = await keepsake.scope({ user: "ana" }).attachments();
    expect(items).toMatchObject([{ mediaType: "image/gif" }]);
  });
});

describe("a count of tokens for Anthropic's client", () => {
  const count = {
    model: "claude-haiku-4-5",
    messages: [{ role: "user" as const, content: "Where do I live?" }],
  };

  it("is the upstream's, of the request as it was sent, and stores nothing", async () => {
    await openWithUpstream();
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const response = await post(
      { ...count, metadata: { user_id: "ana" } },
      {},
      "/v1/messages/count_tokens?beta=true",
    );
    expect(await response.text()).toBe(upstream.received[0]?.sent);
    expect(upstream.received[0]?.path).toBe("/v1/messages/count_tokens?beta=true");
    expect(lastSent()).toBe(JSON.stringify({ ...count, metadata: { user_id: "ana" } }));
    await say("Hello.");
    await stored(3);
    const file = { type: "document" as const, source: { type: "file" as const, file_id: "file_1" } };
    const refused = await post(
      { ...count, messages: [{ role: "user", content: [file] }] },
      {},
      "/v1/messages/count_tokens",
    );
    expect(refused.status).toBe(400);
  });

  it("is an estimate without an upstream", async () => {
    await open({});
    const short = await client().messages.countTokens(count);
    const long = await client().messages.countTokens({ ...count, system: "Be brief, and kind, and clear." });
    expect(short.input_tokens).toBeGreaterThan(2);
    expect(long.input_tokens).toBeGreaterThan(short.input_tokens + 4);
  });
});

describe("memory in a request of Anthropic's client", () => {
  beforeEach(async () => {
    await openWithUpstream();
    await keepsake.scope({ user: "ana" }).remember("I live in Porto. I use Magnet.");
  });
  const mark = { type: "ephemeral" as const };

  it.each<[string, Params["system"], (system: Json) => unknown]>([
    ["is the whole of an absent system", undefined, (system) => system[0].text],
    [
      "follows a system that is a text",
      "Be brief.",
      (system) => /^Be brief\.\n\n([\s\S]*)$/.exec(system)?.[1],
    ],
    [
      "follows the last breakpoint of a system of blocks",
      [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind.", cache_control: mark },
      ],
      (system) => {
        expect(system.slice(0, 2)).toEqual([
          { type: "text", text: "Be brief." },
          { type: "text", text: "Be kind.", cache_control: mark },
        ]);
        return system[2].text;
      },
    ],
  ])("%s", async (_how, system, find) => {
    await say("Where do I live?", system === undefined ? {} : { system });
    expect(find(sent().system)).toMatch(/^<keepsake-\w+>\n[\s\S]*Porto[\s\S]*<\/keepsake-\w+>$/);
  });

  it("leaves every request the beginning of the next, up to the client's last breakpoint", async () => {
    const begun = ask([{ type: "text", text: "Where do I live?", cache_control: mark }], {
      system: [{ type: "text", text: "Be brief.", cache_control: mark }],
    });
    await client().messages.create(begun);
    const first = sent();
    expect(first.messages[0].content).toHaveLength(2);
    await client().messages.create({
      ...begun,
      messages: [
        ...begun.messages,
        { role: "assistant", content: "In Porto." },
        { role: "user", content: [{ type: "text", text: "And what do I use?", cache_control: mark }] },
      ],
    });
    expect(sent().system).toEqual(first.system);
    expect(sent().messages[0].content).toEqual(first.messages[0].content.slice(0, 1));
    expect(sent().messages[2].content.at(-1).text).toMatch(/^<keepsake-/);
  });

  it.each<[string, Anthropic.MessageParam["content"]]>([
    ["a text", "Where do I live?"],
    ["blocks", [{ type: "text", text: "Where do I live?" }]],
  ])("does not move the automatic breakpoint behind recalled items, after %s", async (_what, content) => {
    await say(content, { cache_control: mark });
    expect(sent().cache_control).toBeNull();
    expect(sent().messages[0].content).toMatchObject([
      { type: "text", text: "Where do I live?", cache_control: mark },
      { type: "text", text: expect.stringMatching(/^<keepsake-/) },
    ]);
    expect(sent().messages[0].content[1].cache_control).toBeUndefined();
  });

  it("stays the same while the model works with tools", async () => {
    const tools: Params["tools"] = [{ name: "weather", input_schema: { type: "object", properties: {} } }];
    upstream.reply = () => [{ tool: "weather", input: {} }];
    const first = await say("How is the weather where I live?", { tools });
    const before = sent();
    upstream.reply = () => "Sunny.";
    await say("", {
      tools,
      messages: [
        { role: "user", content: "How is the weather where I live?" },
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1_0", content: "sunny" }] },
      ],
    });
    expect(sent().messages[0]).toEqual(before.messages[0]);
    expect(sent().system).toEqual(before.system);
    expect(sent().messages[2].content).toHaveLength(1);
  });
});

describe("a stream of Anthropic's client", () => {
  beforeEach(() => openWithUpstream());

  it("arrives byte for byte, and its reply is stored", async () => {
    upstream.reply = () => "Grüße 👋🏽 from the “model”. 你好。";
    const response = await post({ ...ask("Hello."), stream: true });
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(await response.text()).toBe(upstream.received[0]?.sent);
    expect(await stored(2)).toEqual(["Hello.", "Grüße 👋🏽 from the “model”. 你好。"]);
    expect(reports[0]).toMatchObject({ outcome: "ok", model: "claude-haiku-4-5" });
    expect(reports[0]?.isEstimated).toBeUndefined();
  });

  it.each([["resets"], ["ends"], ["errs"]] as const)(
    "that the upstream %s is cut here, too, and its part is stored as cut",
    async (how) => {
      upstream.reply = () => "One two three four five six.";
      upstream.troubles.push({ afterEvents: 6, it: how });
      const stream = client().messages.stream(ask("Count for me, please."));
      await expect(stream.finalMessage()).rejects.toThrow();
      const [, reply] = await stored(2);
      expect(reply).toMatch(/^One two/);
      expect((await messages()).at(-1)?.metadata).toMatchObject({ cut: true });
      expect(reports.map(({ outcome }) => outcome)).toEqual(["cut"]);
    },
  );

  it("ends at the upstream when the client disconnects, and its part is stored", async () => {
    upstream.reply = () => "One two three four five six seven eight nine ten.";
    upstream.troubles.push({ betweenMs: 40 });
    const stream = client().messages.stream(ask("Count for me, please."));
    stream.on("text", (_delta, text) => {
      if (text.includes("two")) stream.abort();
    });
    await expect(stream.finalMessage()).rejects.toThrow();
    await expect.poll(() => upstream.received[0]?.isGone).toBe(true);
    const [, reply] = await stored(2);
    expect(reply).toMatch(/^One two/);
    expect(reply).not.toContain("ten");
    expect(reports.map(({ outcome }) => outcome)).toEqual(["aborted"]);
  });
});

describe("a server that stops during a stream of Anthropic's client", () => {
  it("ends the stream with an error event in Anthropic's form", async () => {
    await openWithUpstream({ deadlineMs: 20_000 });
    upstream.reply = () => "word ".repeat(200);
    upstream.troubles.push({ betweenMs: 20 });
    const stream = client().messages.stream(ask("Count for me, please."));
    const ended = stream.finalMessage().catch((error: unknown) => error);
    await new Promise((resolve) => stream.once("text", resolve));
    await served.close();
    expect(await ended).toMatchObject({ type: "overloaded_error", error: { type: "error" } });
    expect((await stored(2))[1]).toMatch(/^word/);
  });
});

describe("a request of Anthropic's client", () => {
  it("of many megabytes reaches the upstream whole, with the memory behind its long texts", async () => {
    await openWithUpstream();
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const long = (letter: string): string => `${letter.repeat(2_500_000)}."\\`;
    const words = `Where do I live? ${long("w")}`;
    const mark = { type: "ephemeral" as const };
    const response = await post({ ...ask(words), system: long("s"), cache_control: mark });
    expect(response.status).toBe(200);
    const { system, messages: turns } = sent();
    expect(system.startsWith(`${long("s")}\n\n<keepsake-`)).toBe(true);
    expect(turns[0].content[0].text === words).toBe(true);
    expect(turns[0].content[0].cache_control).toEqual(mark);
  });

  it("of more than 32 MiB is refused in Anthropic's form", async () => {
    await openWithUpstream();
    const response = await post(ask("w".repeat(MAX_PROXY_BYTES)));
    expect([response.status, ((await response.json()) as Json).error.type]).toEqual([
      413,
      "request_too_large",
    ]);
    expect(upstream.received).toEqual([]);
  });

  it("is answered although the memory fails, and says so", async () => {
    const fail = () => Promise.reject(new Error("disk full"));
    await openWithUpstream({}, { context: fail, remember: fail } as unknown as Partial<ScopedMemory>);
    const response = await post(ask("Where do I live?"));
    expect([response.status, response.headers.get("x-keepsake-memory")]).toEqual([200, "degraded"]);
    expect(lastSent()).not.toContain("<keepsake-");
  });
});

describe("an error of the Messages API", () => {
  const caught = (work: Promise<unknown>): Promise<Json> => work.catch((error: unknown) => error);

  it.each([
    [400, "invalid_request_error"],
    [429, "rate_limit_error"],
    [529, "overloaded_error"],
  ])("of the upstream is forwarded unchanged: %i", async (status, type) => {
    await openWithUpstream();
    upstream.troubles.push({ status, type, headers: { "retry-after": "7" } });
    const response = await post(ask("Hello there."));
    expect([response.status, response.headers.get("retry-after")]).toEqual([status, "7"]);
    expect(await response.text()).toBe(upstream.received[0]?.sent);
    expect(await stored(1)).toEqual(["Hello there."]);
  });

  it("has Anthropic's form if the upstream is unreachable or too late", async () => {
    await openWithUpstream({ deadlineMs: 200 });
    upstream.troubles.push("hangs up");
    const gone = await caught(say("Hello there."));
    expect(gone).toBeInstanceOf(Anthropic.InternalServerError);
    expect([gone.status, gone.type, gone.error.type]).toEqual([502, "api_error", "error"]);
    upstream.troubles.push("hangs");
    const late = await caught(say("Hello there."));
    expect([late.status, late.type]).toEqual([504, "timeout_error"]);
    expect(JSON.stringify([gone.error, late.error])).not.toContain("Hello");
  });

  it("has Anthropic's form for a request that is not right", async () => {
    await openWithUpstream();
    const refused = async (response: Response) => {
      const { type, error, request_id } = (await response.json()) as Json;
      expect([type, typeof error.message, typeof request_id]).toEqual(["error", "string", "string"]);
      return [response.status, error.type];
    };
    for (const body of ["", "[]", "{", "{}", '{"model":7}'])
      expect(await refused(await post(body))).toEqual([400, "invalid_request_error"]);
    expect(await refused(await post("{}", { "content-type": "text/plain" }))).toEqual([
      415,
      "invalid_request_error",
    ]);
    expect(await refused(await post(ask("Hi."), { "x-api-key": "wrong" }))).toEqual([
      401,
      "authentication_error",
    ]);
    expect(await refused(await post({}, {}, "/v1/messages/batches"))).toEqual([404, "not_found_error"]);
    const wrong = await fetch(`${served.url}/v1/messages`, { headers: { "x-api-key": KEY } });
    expect(await refused(wrong)).toEqual([405, "invalid_request_error"]);
    expect(upstream.received).toEqual([]);
  });

  it("says which setting is missing if only OpenAI's upstream is there", async () => {
    await open({ upstream: { baseUrl: other.url, apiKey: "sk-openai" } });
    const error = await caught(say("Hello there."));
    expect([error.status, error.type]).toEqual([404, "not_found_error"]);
    expect(error.message).toContain("ANTHROPIC_API_KEY");
    expect(other.received).toEqual([]);
  });
});

describe("the key of Anthropic's client", () => {
  it("is Keepsake's, in x-api-key or in authorization", async () => {
    await openWithUpstream();
    await say("Hello.");
    await post(ask("Hello again."));
    expect(upstream.received.map(({ headers }) => headers["x-api-key"])).toEqual([
      UPSTREAM_KEY,
      UPSTREAM_KEY,
    ]);
    expect(upstream.received.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it("of the client's own account goes to Anthropic's server and to no other", async () => {
    await openWithUpstream({ upstream: { baseUrl: other.url, apiKey: "sk-openai" } });
    const own = client({ apiKey: "sk-ant-theirs", defaultHeaders: { "x-keepsake-key": KEY } });
    await expect(own.messages.create(ask("Hello."))).rejects.toThrow(Anthropic.AuthenticationError);
    await own.models.list().catch(() => {});
    await own.messages.batches.list().catch(() => {});
    await post(ask("Hello."), { "x-api-key": "sk-ant-theirs", "x-keepsake-key": KEY });
    expect(upstream.received.map(({ headers }) => headers["x-api-key"] ?? headers.authorization)).toEqual([
      ...Array.from({ length: 3 }, () => "Bearer sk-ant-theirs"),
      "sk-ant-theirs",
    ]);
    expect(other.received).toEqual([]);
  });

  it.each<[string, object]>([
    [
      "a file",
      {
        messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: "f" } }] }],
      },
    ],
    ["a container", { container: "container_1" }],
    ["a skill", { container: { skills: [{ type: "custom", skill_id: "skill_1" }] } }],
    ["an unknown tool", { tools: [{ type: "file_search_20260101", name: "x" }] }],
  ])("of the server does not reach what is stored at the upstream: %s", async (_what, more) => {
    await openWithUpstream();
    const response = await post({ ...ask("Hello."), ...more });
    expect([response.status, ((await response.json()) as Json).error.type]).toEqual([
      400,
      "invalid_request_error",
    ]);
    expect(upstream.received).toEqual([]);
  });

  it("of the server passes what belongs to the request alone", async () => {
    await openWithUpstream();
    const input = { file_id: "not an id of the upstream", nested: { id: "one" } };
    const response = await post({
      ...ask("Hello."),
      tools: [
        { name: "weather", input_schema: { type: "object", properties: { file_id: { type: "string" } } } },
        { type: "web_search_20250305", name: "web_search" },
      ],
      messages: [
        { role: "user", content: "Hello." },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "sunny" }] },
      ],
    });
    expect(response.status).toBe(200);
    expect(sent().messages[1].content[0].input).toEqual(input);
  });

  it("that is bound to a user counts more than the id that a program gives for the provider", async () => {
    await openWithUpstream();
    const headers = { "x-api-key": KEY, "content-type": "application/json" };
    const made = await fetch(`${served.url}/api/v1/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ label: "one", user_id: "bob", scopes: ["read", "write"] }),
    });
    const { key } = (await made.json()) as Json;
    const response = await post(ask("I live in Faro."), { ...headers, "x-api-key": key });
    expect([response.status, response.headers.get("x-keepsake-user")]).toEqual([200, "bob"]);
    const named = await post(ask("Hi."), { "x-api-key": key, "x-keepsake-user": "ana" });
    expect([named.status, ((await named.json()) as Json).error.type]).toEqual([403, "permission_error"]);
  });
});

describe("the built-in model through Anthropic's client", () => {
  beforeEach(() => open({}));

  it("answers without an upstream, for any model name, and names itself", async () => {
    await say("I use Shram and Magnet as productivity tools.");
    const answer = await say("What productivity tools do I use?");
    expect(answer).toMatchObject({
      type: "message",
      model: "keepsake",
      content: [{ type: "text", text: "You use Shram and Magnet." }],
      stop_reason: "end_turn",
    });
    await say("Forget that I ever mentioned Magnet.");
    expect((await say("What productivity tools do I use?")).content).toMatchObject([
      { text: "You use Shram." },
    ]);
    expect(JSON.stringify(await messages())).not.toContain("Magnet");
  });

  it("streams the same answer as events of the client", async () => {
    await say("I live in Porto.");
    const stream = client().messages.stream(ask("Where do I live?"));
    const deltas: string[] = [];
    stream.on("text", (delta) => deltas.push(delta));
    const answer = await stream.finalMessage();
    expect(deltas.join("")).toBe("You live in Porto.");
    expect(deltas.length).toBeGreaterThan(1);
    expect(answer).toMatchObject({ stop_reason: "end_turn", content: [{ text: "You live in Porto." }] });
    expect(answer.usage.output_tokens).toBeGreaterThan(0);
  });

  it("refuses a request without a user, and one for JSON", async () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    for (const more of [{ metadata: {} }, { output_config: { format } }]) {
      const response = await post({ ...ask("Where do I live?"), ...more });
      expect([response.status, ((await response.json()) as Json).error.type]).toEqual([
        400,
        "invalid_request_error",
      ]);
    }
  });

  it("answers by its name beside an upstream", async () => {
    await served.close();
    await openWithUpstream();
    expect((await say("I live in Porto.", { model: "keepsake" })).model).toBe("keepsake");
    expect(upstream.received).toEqual([]);
  });
});
