import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import { createMemory } from "../../../memory.ts";
import { type OpenaiServer, openaiServer } from "../../../testing/openai/openai-server.ts";
import { httpApp } from "../../app.ts";
import { createLifecycle, type Lifecycle } from "../../graceful-shutdown.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../../keys/api-keys.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let keepsake: Keepsake;
let keys: ApiKeys;
let life: Lifecycle;
let upstream: OpenaiServer;
let app: ReturnType<typeof httpApp>;
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  life = createLifecycle();
  upstream = await openaiServer({ reply: () => "Noted." });
  const server = { baseUrl: upstream.url, apiKey: "sk-server" };
  app = httpApp({ keepsake, keys, lifecycle: life, proxy: { clock, retrievalMs: 5000, upstream: server } });
});
afterEach(async () => {
  await life.waitUntilIdle(5000);
  await keepsake.close();
  await upstream.close();
});

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await app.request(`/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${keys.first}`,
      "x-keepsake-user": "ana",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  await life.waitUntilIdle(5000);
  return { status: response.status, text, json: JSON.parse(text) as Json };
}
const respond = async (input: unknown, more: object = {}): Promise<string> =>
  (await call("POST", "/responses", { model: "gpt-4o-mini", input, ...more })).json.id;
const create = async (): Promise<string> => (await call("POST", "/conversations", {})).json.id;
const get = (id: string) => call("GET", `/responses/${id}`);
const inputOf = (id: string, query = "") => call("GET", `/responses/${id}/input_items${query}`);
const textsOf = (items: Json[]): string[] => items.map(({ content }) => content[0].text);
const exported = async (): Promise<string> => {
  const lines: string[] = [];
  for await (const line of keepsake.scope({ user: "ana" }).export()) lines.push(JSON.stringify(line));
  return lines.join("\n");
};

describe("a stored response", () => {
  it("is given in OpenAI's form, alone, in a chain and in a conversation", async () => {
    const first = await respond("I use Shram.");
    const second = await respond("I like cork.", { previous_response_id: first });
    const conversation = await create();
    const third = await respond("And?", { conversation });
    for (const [id, on] of [
      [first, { conversation: null, previous_response_id: null }],
      [second, { conversation: null, previous_response_id: first }],
      [third, { conversation: { id: conversation }, previous_response_id: null }],
    ] as const) {
      const { status, json } = await get(id);
      expect(status).toBe(200);
      expect(json).toMatchObject({
        id,
        object: "response",
        created_at: 1_772_366_400,
        status: "completed",
        model: "gpt-4o-mini",
        usage: null,
        ...on,
      });
      expect(textsOf(json.output)).toEqual(["Noted."]);
      expect(json.output[0]).toMatchObject({ type: "message", role: "assistant", status: "completed" });
    }
    expect(textsOf((await inputOf(second)).json.data)).toEqual(["I like cork."]);
  });

  it("lists its own input in pages", async () => {
    const id = await respond([
      { role: "developer", content: "Be short." },
      { role: "user", content: "I use Shram." },
    ]);
    const { json } = await inputOf(id);
    expect(json).toMatchObject({ object: "list", has_more: false });
    expect(textsOf(json.data)).toEqual(["I use Shram.", "Be short."]);
    expect([json.first_id, json.last_id]).toEqual(json.data.map((item: Json) => item.id));
    const page = await inputOf(id, "?order=asc&limit=1");
    expect([textsOf(page.json.data), page.json.has_more]).toEqual([["Be short."], true]);
    const rest = await inputOf(id, `?order=asc&after=${page.json.last_id}`);
    expect(textsOf(rest.json.data)).toEqual(["I use Shram."]);
    expect((await inputOf(id, "?after=msg_0")).status).toBe(400);
  });

  it("is a 404 in OpenAI's form for another user, an unknown id, a message and where store is false", async () => {
    const id = await respond("I use Shram.");
    const unstored = await respond("I like cork.", { store: false });
    const [message] = (await keepsake.scope({ user: "ana" }).session((await sessionOf()) ?? "")).items;
    for (const [one, user] of [
      [id, "bo"],
      ["resp_0", "ana"],
      [unstored, "ana"],
      [message?.id, "ana"],
    ])
      for (const [method, path] of [
        ["GET", ""],
        ["GET", "/input_items"],
        ["DELETE", ""],
      ] as const) {
        const headers = { "x-keepsake-user": user ?? "" };
        const { status, json } = await call(method, `/responses/${one}${path}`, undefined, headers);
        expect([status, json.error]).toMatchObject([
          404,
          {
            type: "invalid_request_error",
            param: "response_id",
            message: expect.stringContaining("not found"),
          },
        ]);
      }
    expect((await get(id)).status).toBe(200);
  });
});

const sessionOf = async (): Promise<string | undefined> =>
  (await keepsake.scope({ user: "ana" }).sessions()).items[0]?.id;

describe("deleting a response", () => {
  it("erases its input and output with what was learnt, and leaves the others", async () => {
    const first = await respond("I use Shram.");
    const second = await respond("I live in Porto.", { previous_response_id: first });
    const third = await respond("I like cork.", { previous_response_id: second });
    const deleted = await call("DELETE", `/responses/${second}`);
    expect(deleted).toMatchObject({ status: 200, json: { id: second, object: "response", deleted: true } });
    expect(await exported()).not.toContain("Porto");
    for (const method of ["GET", "DELETE"])
      expect((await call(method, `/responses/${second}`)).status).toBe(404);
    expect((await get(first)).status).toBe(200);
    expect(textsOf((await inputOf(third)).json.data)).toEqual(["I like cork."]);
    expect(await keepsake.check()).toEqual([]);
  });

  it("erases all with its id, where a server gives it twice", async () => {
    const same = { change: (answer: unknown) => ({ ...(answer as object), id: "resp_7" }) };
    upstream.troubles.push(same, same);
    await respond("I live in Porto.");
    await respond("I like cork.");
    expect(textsOf((await inputOf("resp_7")).json.data)).toEqual(["I like cork."]);
    await call("DELETE", "/responses/resp_7");
    expect((await get("resp_7")).status).toBe(404);
    expect(await exported()).not.toMatch(/Porto|cork/);
  });

  it("erases its items of a conversation", async () => {
    const conversation = await create();
    const id = await respond("I live in Porto.", { conversation });
    await respond("I use Shram.", { conversation });
    await call("DELETE", `/responses/${id}`);
    const { json } = await call("GET", `/conversations/${conversation}/items?order=asc`);
    expect(textsOf(json.data)).toEqual(["I use Shram.", "Noted."]);
  });
});

describe("an erasure of words", () => {
  it("reaches what is given of a response, which stays", async () => {
    upstream.reply = () => "Zorbimax is good.";
    for (const more of [{}, { conversation: await create() }]) {
      const id = await respond("I use Zorbimax.", more);
      await keepsake.scope({ user: "ana" }).forget("Zorbimax");
      const { status, text } = await get(id);
      expect([status, text.includes("Zorbimax")]).toEqual([200, false]);
      expect((await inputOf(id)).text).not.toContain("Zorbimax");
    }
  });

  it("takes the name of a model, and the response stays", async () => {
    const id = await respond("I use Shram.");
    await keepsake.scope({ user: "ana" }).forget("gpt-4o-mini");
    const { json } = await get(id);
    expect([json.model, textsOf(json.output)]).toEqual(["", ["Noted."]]);
    const next = await respond("And?", { previous_response_id: id });
    expect((await get(next)).json.previous_response_id).toBe(id);
  });
});

describe("a response of the built-in model", () => {
  const tell = async (input: string, more: object = {}): Promise<string> =>
    (await call("POST", "/responses", { model: "keepsake", input, ...more })).json.id;
  const holds = async (): Promise<string[]> => {
    const texts: string[] = [];
    for await (const { text } of keepsake.scope({ user: "ana" }).list()) texts.push(text);
    return texts.sort();
  };

  it("is erased with what the model remembers of its input", async () => {
    const first = await tell("I live in Porto.");
    const second = await tell("I use Shram.", { previous_response_id: first });
    expect(await holds()).toEqual(["The user lives in Porto.", "The user uses Shram."]);
    expect((await call("DELETE", `/responses/${first}`)).json.deleted).toBe(true);
    expect(await holds()).toEqual(["The user uses Shram."]);
    expect(await exported()).not.toContain("Porto");
    expect((await keepsake.scope({ user: "ana" }).answer("Where do I live?")).text).not.toContain("Porto");
    expect((await inputOf(second)).text).toContain("Shram");
  });

  it("remembers several messages of one request each by itself", async () => {
    const conversation = await create();
    const said = ["I live in Porto.", "I use Shram."].map((content) => ({ role: "user", content }));
    await call("POST", "/responses", { model: "keepsake", input: said, conversation });
    expect(await holds()).toEqual(["The user lives in Porto.", "The user uses Shram."]);
    const { data } = (await call("GET", `/conversations/${conversation}/items?order=asc`)).json;
    await call("DELETE", `/conversations/${conversation}/items/${data[0].id}`);
    expect(await holds()).toEqual(["The user uses Shram."]);
  });

  it("leaves nothing of an item of its conversation that is deleted", async () => {
    const conversation = await create();
    await tell("I live in Porto.", { conversation });
    await tell("I use Shram.", { conversation });
    const { data } = (await call("GET", `/conversations/${conversation}/items?order=asc`)).json;
    const [item] = data.filter(({ role }: Json) => role === "user");
    expect((await call("DELETE", `/conversations/${conversation}/items/${item.id}`)).status).toBe(200);
    expect(await holds()).toEqual(["The user uses Shram."]);
    const left = (await exported()).split("\n").filter((line) => line.includes("Porto"));
    // The reply says it again. It is an item of its own.
    expect(left.every((line) => line.includes("assistant"))).toBe(true);
  });
});
