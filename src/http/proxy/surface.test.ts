import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMemory } from "../../memory.ts";
import { type OpenaiServer, openaiServer } from "../../testing/openai/openai-server.ts";
import { httpApp } from "../app.ts";
import { createLifecycle, type Lifecycle } from "../graceful-shutdown.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../keys/api-keys.ts";
import { MAX_PROXY_BYTES } from "./request/proxy-request.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let keepsake: Keepsake;
let keys: ApiKeys;
let life: Lifecycle;
let upstream: OpenaiServer | undefined;
let app: ReturnType<typeof httpApp>;

async function opened(withUpstream: boolean): Promise<void> {
  upstream = withUpstream ? await openaiServer({ reply: () => "Noted." }) : undefined;
  app = httpApp({
    keepsake,
    keys,
    lifecycle: life,
    proxy: { clock, ...(upstream ? { upstream: { baseUrl: upstream.url } } : {}) },
  });
}
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  life = createLifecycle();
});
afterEach(async () => {
  await life.waitUntilIdle(5000);
  await keepsake.close();
  await upstream?.close();
});

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await app.request(path, {
    method,
    headers: {
      authorization: `Bearer ${keys.first}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status } = response;
  return {
    status,
    text,
    headers: response.headers,
    json: (text.startsWith("{") ? JSON.parse(text) : undefined) as Json,
  };
}
const said = (content: unknown, more: object = {}): object => ({
  model: "gpt-4o-mini",
  user: "ana",
  messages: [{ role: "user", content }],
  ...more,
});
const chat = (content: unknown, more: object = {}, headers: Record<string, string> = {}) =>
  call("POST", "/v1/chat/completions", said(content, more), headers);
const stored = async (user = "ana"): Promise<Json[]> => {
  await life.waitUntilIdle(5000);
  const messages: Json[] = [];
  for await (const line of keepsake.scope({ user }).export())
    if (line.type === "message") messages.push(line.message);
  return messages;
};

describe("the built-in model", () => {
  beforeEach(() => opened(false));

  it("answers without an upstream, for any model name, and names itself", async () => {
    const ask = async () => (await chat("What productivity tools do I use?")).json.choices[0].message.content;
    const first = await chat("I use Shram and Magnet as productivity tools.");
    expect(first.json).toMatchObject({ object: "chat.completion", model: "keepsake" });
    expect(first.headers.get("x-keepsake-memory")).toBe("on");
    expect(await ask()).toBe("You use Shram and Magnet.");
    await chat("I don't use Magnet anymore.");
    expect(await ask()).toBe("You use Shram.");
    await chat("Forget that I ever mentioned Magnet.");
    expect(await ask()).toBe("You use Shram.");
    expect(JSON.stringify(await stored())).not.toContain("Magnet");
  });

  it("streams the same answer in chunks, with usage on request", async () => {
    await chat("I live in Porto.");
    const { text, headers } = await chat("Where do I live?", {
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(headers.get("content-type")).toMatch(/^text\/event-stream/);
    const events = text
      .trim()
      .split("\n\n")
      .map((event) => event.replace(/^data: /, ""));
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as Json);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("You live in Porto.");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it("answers through responses, with numbered events", async () => {
    await chat("I live in Porto.");
    const input = [{ role: "user", content: [{ type: "input_text", text: "Where do I live?" }] }];
    const whole = await call("POST", "/v1/responses", { model: "keepsake", user: "ana", input });
    expect(whole.json.output[0].content[0].text).toBe("You live in Porto.");
    const { text } = await call("POST", "/v1/responses", {
      model: "keepsake",
      user: "ana",
      input,
      stream: true,
    });
    const events = text
      .trim()
      .split("\n\n")
      .map((event) => JSON.parse(event.split("\ndata: ")[1] ?? "") as Json);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } });
  });

  it("gives a retry the same answer, and stores the message once", async () => {
    const first = await chat("I live in Porto.");
    const again = await chat("I live in Porto.");
    expect(again.json.choices[0].message.content).toBe(first.json.choices[0].message.content);
    expect(await stored()).toHaveLength(1);
  });

  it("only reads in the mode read, and refuses unsupported options", async () => {
    await chat("I live in Porto.");
    const read = await chat("Where do I live?", {}, { "x-keepsake-memory": "read" });
    expect(read.json.choices[0].message.content).toBe("You live in Porto.");
    expect(await stored()).toHaveLength(1);
    expect((await chat("Hi.", { user: undefined })).json.error.param).toBe("user");
    expect((await chat("Hi.", {}, { "x-keepsake-memory": "off" })).status).toBe(400);
    expect((await chat("Hi.", { response_format: { type: "json_object" } })).status).toBe(400);
    expect((await chat([{ type: "image_url", image_url: { url: "https://a.example/x.png" } }])).status).toBe(
      400,
    );
  });

  it("is the only model, and has no embeddings", async () => {
    expect((await call("GET", "/v1/models")).json.data.map(({ id }: Json) => id)).toEqual(["keepsake"]);
    expect((await call("GET", "/v1/models/keepsake")).json.object).toBe("model");
    expect((await call("GET", "/v1/models/gpt-4o")).status).toBe(404);
    expect((await call("POST", "/v1/embeddings", { model: "m", input: "x" })).json.error.message).toContain(
      "OPENAI",
    );
  });
});

describe("the user of a chat", () => {
  beforeEach(() => opened(true));

  it("is that of a key for one user, and no other", async () => {
    const { key } = keys.create({ scopes: ["read", "write"], user: "bo" });
    const authorization = `Bearer ${key}`;
    const own = await chat("I live in Porto.", { user: undefined }, { authorization });
    expect([own.status, own.headers.get("x-keepsake-memory")]).toEqual([200, "on"]);
    expect(await stored("bo")).toHaveLength(2);
    const other = await chat("Where do I live?", { user: "ana" }, { authorization });
    expect([other.status, other.json.error.type]).toEqual([403, "permission_error"]);
    const byHeader = await chat("Hello.", { user: "bo" }, { authorization, "x-keepsake-user": "ana" });
    expect(byHeader.status).toBe(403);
  });

  it("is read but not written by a key that may only read", async () => {
    const { key } = keys.create({ scopes: ["read"] });
    const { headers } = await chat("I live in Porto.", {}, { authorization: `Bearer ${key}` });
    expect(headers.get("x-keepsake-memory-why")).toBe("the key may not write");
    expect(await stored()).toEqual([]);
  });

  it("comes from the header if both name one, and is none for an invalid name", async () => {
    await chat("I live in Porto.", {}, { "x-keepsake-user": "bo" });
    expect([(await stored()).length, (await stored("bo")).length]).toEqual([0, 2]);
    const long = await chat("I live in Porto.", { user: "x".repeat(600) });
    expect([long.status, long.headers.get("x-keepsake-memory")]).toEqual([200, "off"]);
  });

  it("is not lost by a misspelt mode", async () => {
    const { status, json } = await chat("I live in Porto.", {}, { "x-keepsake-memory": "offf" });
    expect([status, json.error.param, upstream?.received.length]).toEqual([400, "x-keepsake-memory", 0]);
  });
});

describe("a forwarded request", () => {
  beforeEach(() => opened(true));

  it("keeps the speaker and files, and stores no file that is none", async () => {
    const image = `data:image/png;base64,${"iVBORw0KGgo=".repeat(1000)}`;
    const parts = [
      { type: "text", text: "This is my dog Rex." },
      { type: "image_url", image_url: { url: image } },
    ];
    await call("POST", "/v1/chat/completions", {
      model: "m",
      user: "ana",
      messages: [{ role: "user", name: "Bo", content: parts }],
    });
    expect(upstream?.received[0]?.raw.toString("utf8")).toContain(image);
    const [message] = await stored();
    expect(message).toMatchObject({ name: "Bo", content: "This is my dog Rex." });
    expect(JSON.stringify(message)).not.toContain("iVBORw0KGgo");
    expect(message.parts[1]).toEqual({ type: "image_url", left_out: true });
  });

  it("has its images and recordings kept apart, complete even in a long request, and addresses as they are", async () => {
    const picture = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), randomBytes(4_000_000)]);
    const song = Buffer.concat([Buffer.from("OggS"), randomBytes(900)]);
    const content = [
      { type: "text", text: "This is my dog Rex." },
      { type: "image_url", image_url: { url: `data:image/png;base64,${picture.toString("base64")}` } },
      { type: "input_audio", input_audio: { data: song.toString("base64"), format: "ogg" } },
      { type: "image_url", image_url: { url: "https://a.example/x.png", detail: "low" } },
      { type: "image_url", image_url: { url: "data:text/html;base64,PGI+" } },
    ];
    // As programs in PHP write it.
    const body = JSON.stringify(said(content, { user: "ana" })).replaceAll("/", "\\/");
    expect((await call("POST", "/v1/chat/completions", body)).status).toBe(200);
    await life.waitUntilIdle(5000);
    const ana = keepsake.scope({ user: "ana" });
    const { items } = await ana.attachments();
    expect(items.toReversed()).toMatchObject([
      { mediaType: "image/png", size: picture.length, isKept: true },
      { mediaType: "audio/ogg", size: song.length },
      { url: "https://a.example/x.png", isKept: false },
    ]);
    const { bytes } = await ana.attachment(items[2]?.id ?? "");
    expect(Buffer.compare(bytes ?? song, picture)).toBe(0);
    const [message] = await stored();
    expect(message).toMatchObject({ content: "This is my dog Rex." });
    expect(message.parts[4]).toEqual({ type: "image_url", left_out: true });
    // The same conversation again, with a further turn: what was stored is not stored again.
    const further = said(content, { user: "ana" }) as { messages: object[] };
    further.messages.push({ role: "assistant", content: "Noted." }, { role: "user", content: "And mine?" });
    await call("POST", "/v1/chat/completions", further);
    await life.waitUntilIdle(5000);
    expect((await ana.attachments()).total).toBe(3);
  });

  it("may contain characters that cannot be stored; the rest is stored", async () => {
    await chat("I live in Porto.\u0000\u0007 Yes.");
    await chat("I like cork.\ud800");
    const texts = (await stored()).map(({ content }) => content).filter((text) => text !== "Noted.");
    expect(texts).toEqual(["I live in Porto.   Yes.", "I like cork.\ufffd"]);
  });

  it("is refused if invalid, with an error in OpenAI's form", async () => {
    const post = (body: string, headers = {}) => call("POST", "/v1/chat/completions", body, headers);
    for (const body of ["", "[]", "null", "{", '"x"', "{}", '{"model":""}', '{"model":7}']) {
      const { status, json } = await post(body);
      expect([status, json.error.type, json.code]).toEqual([400, "invalid_request_error", "invalid_input"]);
    }
    expect((await post("{}", { "content-type": "text/plain" })).status).toBe(415);
    expect((await post("{}", { "content-length": String(MAX_PROXY_BYTES + 1) })).status).toBe(413);
    expect((await call("DELETE", "/v1/models")).status).toBe(405);
    for (const path of ["/v1/files", "/v1/responses/resp_1/cancel", "/v1", "/v1/organization/users"]) {
      const { status, json } = await call("GET", path);
      expect([status, json.error.code]).toEqual([404, "not_found"]);
    }
    expect(upstream?.received).toEqual([]);
  });

  it("is otherwise validated by the upstream", async () => {
    const odd = await call("POST", "/v1/chat/completions", { model: "m", user: "ana", messages: "none" });
    expect(odd.status).toBe(400);
    expect(odd.text).toBe(upstream?.received[0]?.sent);
  });

  it("can ask for models and embeddings, unchanged", async () => {
    const models = await call("GET", "/v1/models");
    expect(models.text).toBe(upstream?.received[0]?.sent);
    const body = '{"model":"text-embedding-3-small", "input":["a"],  "encoding_format":"float"}';
    const vectors = await call("POST", "/v1/embeddings", body);
    expect(vectors.text).toBe(upstream?.received[1]?.sent);
    expect(upstream?.received[1]?.raw.toString("utf8")).toBe(body);
  });

  it("begins with a large profile once it is ready, and never waits for it", async () => {
    const ana = keepsake.scope({ user: "ana" });
    await ana.remember("I live in Porto.");
    for (let i = 0; i < 220; i += 1) await ana.add({ text: `Ana's number ${i} is ${i * 7}.` });
    await chat("Hello there.");
    expect(upstream?.received.at(-1)?.raw.toString("utf8")).not.toContain("Lives in Porto");
    await expect
      .poll(
        async () => {
          await chat("Hello again.", {}, { "x-keepsake-memory": "read" });
          return upstream?.received.at(-1)?.raw.toString("utf8");
        },
        { timeout: 10_000, interval: 300 },
      )
      .toContain("Lives in Porto");
  });
});
