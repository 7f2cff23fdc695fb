import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import { createMemory } from "../../../memory.ts";
import { openaiServer } from "../../../testing/openai/openai-server.ts";
import { httpApp } from "../../app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../../keys/api-keys.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let keepsake: Keepsake;
let keys: ApiKeys;
let app: ReturnType<typeof httpApp>;
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  app = httpApp({ keepsake, keys, proxy: { clock } });
});
afterEach(() => keepsake.close());

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { "x-keepsake-user": "ana" },
): Promise<{ status: number; json: Json; text: string; headers: Headers }> {
  const response = await app.request(`/v1/conversations${path}`, {
    method,
    headers: {
      authorization: `Bearer ${keys.first}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text), headers: response.headers };
}
const says = (text: string, role = "user"): object => ({ type: "message", role, content: text });
const create = async (items: object[] = []): Promise<string> => (await call("POST", "", { items })).json.id;
const list = async (id: string, query = "?order=asc"): Promise<Json> =>
  (await call("GET", `/${id}/items${query}`)).json;
const textsOf = ({ data }: Json): string[] => data.map(({ content }: Json) => content?.[0]?.text);
const exported = async (user = "ana"): Promise<string> => {
  const lines: string[] = [];
  for await (const line of keepsake.scope({ user }).export()) lines.push(JSON.stringify(line));
  return lines.join("\n");
};

describe("a conversation", () => {
  it("is created, given, changed and deleted in OpenAI's form", async () => {
    const made = await call("POST", "", { metadata: { topic: "tools" } });
    expect(made).toMatchObject({
      status: 200,
      json: { object: "conversation", created_at: 1_772_366_400, metadata: { topic: "tools" } },
    });
    const { id } = made.json;
    expect(id).toMatch(/^conv_/);
    expect((await call("GET", `/${id}`)).json).toEqual(made.json);
    const changed = await call("POST", `/${id}`, { metadata: { place: "Porto" } });
    expect(changed.json).toEqual({ ...made.json, metadata: { place: "Porto" } });
    expect((await call("GET", `/${id}`)).json).toEqual(changed.json);
    expect((await call("DELETE", `/${id}`)).json).toEqual({
      id,
      object: "conversation.deleted",
      deleted: true,
    });
    expect((await call("GET", `/${id}`)).status).toBe(404);
    expect((await call("DELETE", `/${id}`)).status).toBe(404);
    expect(await exported()).not.toMatch(/Porto|tools/);
  });

  it("needs no body, and gives an error in OpenAI's form for a wrong one or no user", async () => {
    expect((await call("POST", "")).json.metadata).toEqual({});
    const refused = await call("POST", "", { metadata: { topic: 7 } });
    expect([refused.status, refused.json.error.type]).toEqual([400, "invalid_request_error"]);
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, "v"]));
    expect((await call("POST", "", { metadata: many })).status).toBe(400);
    const nobody = await call("POST", "", {}, {});
    expect([nobody.status, nobody.json.error.param]).toEqual([400, "user"]);
    const missing = await call("GET", `/conv_ks${"0".repeat(32)}`);
    expect(missing).toMatchObject({
      status: 404,
      json: { error: { type: "invalid_request_error", param: "conversation_id" } },
    });
  });

  it("is another user's and another project's 404, for every call", async () => {
    const id = await create([says("I live in Porto.")]);
    const item = (await list(id)).data[0].id;
    const bound = keys.create({ user: "bo" }).key;
    const elsewhere = keys.create({ project: "bolt" }).key;
    const callers: Record<string, string>[] = [
      { "x-keepsake-user": "bo" },
      { authorization: `Bearer ${bound}` },
      { authorization: `Bearer ${elsewhere}`, "x-keepsake-user": "ana" },
    ];
    for (const headers of callers) {
      for (const [method, path, body] of [
        ["GET", `/${id}`, undefined],
        ["POST", `/${id}`, { metadata: {} }],
        ["DELETE", `/${id}`, undefined],
        ["GET", `/${id}/items`, undefined],
        ["POST", `/${id}/items`, { items: [says("Hi.")] }],
        ["GET", `/${id}/items/${item}`, undefined],
        ["DELETE", `/${id}/items/${item}`, undefined],
      ] as const) {
        const { status, text } = await call(method, path, body, headers);
        expect([method, path, status, text.includes("Porto")]).toEqual([method, path, 404, false]);
      }
    }
    expect(textsOf(await list(id))).toEqual(["I live in Porto."]);
  });
});

describe("items", () => {
  const ITEMS = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "I use Shram." }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "c2VjcmV0" },
    { type: "function_call", call_id: "c1", name: "open", arguments: '{"app":"Shram"}' },
    { type: "function_call_output", call_id: "c1", output: "opened" },
    { role: "assistant", content: "It is open." },
    { role: "developer", content: "Be brief." },
  ];

  it("come back whole, in order, with ids, one by one and in pages", async () => {
    const id = await create(ITEMS.slice(0, 2));
    const added = await call("POST", `/${id}/items`, { items: ITEMS.slice(2) });
    expect(added.json).toMatchObject({ object: "list", has_more: false });
    const all = await list(id);
    expect(all.data).toMatchObject([
      { ...ITEMS[0], status: "completed" },
      ITEMS[1],
      ITEMS[2],
      ITEMS[3],
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "It is open.", annotations: [] }],
      },
      { role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
    ]);
    expect(all.data.slice(2)).toEqual(added.json.data);
    const ids: string[] = all.data.map((one: Json) => one.id);
    expect(new Set(ids).size).toBe(6);
    expect(ids[0]).toMatch(/^msg_/);
    for (const [i, item] of ids.entries())
      expect((await call("GET", `/${id}/items/${item}`)).json).toEqual(all.data[i]);
    const first = await list(id, "?limit=4");
    expect(first).toMatchObject({ first_id: ids[5], last_id: ids[2], has_more: true });
    const rest = await list(id, `?limit=4&after=${first.last_id}`);
    expect(rest.data.map((one: Json) => one.id)).toEqual([ids[1], ids[0]]);
    expect(rest.has_more).toBe(false);
    expect(await list(await create())).toEqual({
      object: "list",
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it("with images come back with them", async () => {
    const picture = `data:image/gif;base64,${Buffer.from("GIF89a, and a grey day").toString("base64")}`;
    const content = [
      { type: "input_image", image_url: picture, detail: "auto" },
      { type: "input_text", text: "My dog Rex." },
      { type: "input_image", image_url: "https://a.example/x.png", detail: "low" },
    ];
    const id = await create([{ type: "message", role: "user", content }]);
    expect((await list(id)).data[0].content).toEqual(content);
    expect((await keepsake.scope({ user: "ana" }).attachments()).total).toBe(1);
  });

  it("are refused beyond 20, without a type or a role, and where they name stored objects", async () => {
    const id = await create();
    const post = async (items: unknown) => (await call("POST", `/${id}/items`, { items })).status;
    expect(await post(Array.from({ length: 21 }, () => says("Hi.")))).toBe(400);
    for (const items of [
      [],
      "Hi.",
      [{ type: "item_reference", id: "msg_1" }],
      [{ role: "user" }],
      [{ role: "king", content: "Hi." }],
      [{ type: "message", role: "user", content: [{ type: "input_file", file_id: "file-1" }] }],
      [{ type: "code_interpreter_call", container_id: "cntr_1" }],
      [says("Hi."), { type: "" }],
    ])
      expect([items, await post(items)]).toEqual([items, 400]);
    expect((await list(id)).data).toEqual([]);
    expect((await call("GET", `/${id}/items?after=msg_1`)).status).toBe(400);
    expect((await call("GET", `/${id}/items?limit=101`)).status).toBe(400);
  });

  it("teach the memory, and are found by it", async () => {
    await create([says("I live in Porto."), says("You live on Mars.", "assistant")]);
    const ana = keepsake.scope({ user: "ana" });
    expect((await ana.answer("Where do I live?")).text).toBe("You live in Porto.");
  });

  it("are added once under an Idempotency-Key, and another body under it is a conflict", async () => {
    const headers = { "x-keepsake-user": "ana", "idempotency-key": "k1" };
    const first = await call("POST", "", { items: [says("I live in Porto.")] }, headers);
    const again = await call("POST", "", { items: [says("I live in Porto.")] }, headers);
    expect(again.json).toEqual(first.json);
    expect((await call("POST", "", { items: [says("I live in Braga.")] }, headers)).status).toBe(409);
    const more = { items: [says("And I like it.")] };
    const added = { "x-keepsake-user": "ana", "idempotency-key": "k2" };
    for (let i = 0; i < 2; i += 1) await call("POST", `/${first.json.id}/items`, more, added);
    expect((await list(first.json.id)).data).toHaveLength(2);
    const other = await call("POST", "", {}, { ...headers, "x-keepsake-user": "bo" });
    expect(other.json.id).not.toBe(first.json.id);
  });

  it("come through an export and an import of it", async () => {
    const id = await create(ITEMS);
    const all = await list(id);
    const send = (method: string, path: string, body?: string): Promise<Response> =>
      Promise.resolve(
        app.request(path, {
          method,
          headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/x-ndjson" },
          ...(body === undefined ? {} : { body }),
        }),
      );
    const lines = await (await send("GET", "/api/v1/export/ana")).text();
    expect((await send("POST", "/api/v1/import/copy", lines)).status).toBe(200);
    const copied = await call("GET", `/${id}/items?order=asc`, undefined, { "x-keepsake-user": "copy" });
    expect(copied.json).toEqual(all);
  });

  it("may be deleted and added again with the same id", async () => {
    const id = await create([ITEMS[1] as object, says("Hi.")]);
    const [reasoning] = (await list(id)).data;
    expect(reasoning.id).toBe("rs_1");
    const deleted = await call("DELETE", `/${id}/items/rs_1`);
    expect(deleted.json).toMatchObject({ id, object: "conversation" });
    expect((await call("GET", `/${id}/items/rs_1`)).status).toBe(404);
    await call("POST", `/${id}/items`, { items: [ITEMS[1]] });
    expect((await list(id)).data.map((one: Json) => one.type)).toEqual(["message", "reasoning"]);
  });
});

describe("with the client's own key for the upstream", () => {
  it("conversations are the client's own there, but for those that began here", async () => {
    await using upstream = await openaiServer({ apiKey: "sk-client" });
    const id = await create([says("I live in Porto.")]);
    app = httpApp({
      keepsake,
      keys,
      proxy: { clock, upstream: { baseUrl: upstream.url, apiKey: "sk-server" } },
    });
    const headers = { "x-keepsake-user": "ana", "x-keepsake-upstream-key": "sk-client" };
    for (const [method, path, body] of [
      ["POST", "", { metadata: {} }],
      ["GET", "/conv_0123", undefined],
      ["POST", "/conv_0123/items", { items: [] }],
      ["DELETE", "/conv_0123/items/msg_1", undefined],
    ] as const)
      await call(method, path, body, headers);
    expect(upstream.received.map(({ method, path, authorization }) => [method, path, authorization])).toEqual(
      [
        ["POST", "/v1/conversations", "Bearer sk-client"],
        ["GET", "/v1/conversations/conv_0123", "Bearer sk-client"],
        ["POST", "/v1/conversations/conv_0123/items", "Bearer sk-client"],
        ["DELETE", "/v1/conversations/conv_0123/items/msg_1", "Bearer sk-client"],
      ],
    );
    expect((await call("GET", `/${id}`, undefined, headers)).json.id).toBe(id);
    const without = { "x-keepsake-user": "ana" };
    expect((await call("GET", "/conv_0123", undefined, without)).status).toBe(404);
    expect(upstream.received).toHaveLength(4);
  });
});

describe("an erasure", () => {
  const CANARY = "Zorbimax";
  const ITEMS = [
    says(`I use ${CANARY} and Shram.`),
    { type: "function_call", call_id: "c1", name: "open", arguments: `{"app":"${CANARY}"}` },
    { type: "function_call_output", call_id: "c1", output: `opened ${CANARY}` },
    says(`${CANARY} is open.`, "assistant"),
    says(`Never mention ${CANARY}.`, "system"),
  ];

  it("by words reaches every item, and leaves the rest", async () => {
    const id = (
      await call("POST", "", { items: [...ITEMS, says("I live in Porto.")], metadata: { of: CANARY } })
    ).json.id;
    const receipt = await keepsake.scope({ user: "ana" }).forget(CANARY);
    expect(receipt.complete).toBe(true);
    expect(await exported()).not.toContain(CANARY);
    const { text } = await call("GET", `/${id}/items?order=asc`);
    expect(text).not.toContain(CANARY);
    expect(text).toContain("Shram");
    expect(text).toContain("I live in Porto.");
    expect((await call("GET", `/${id}`)).json.metadata).toEqual({});
    expect(await keepsake.check()).toEqual([]);
  });

  it("of the session or of the user leaves nothing of the conversation", async () => {
    const ana = keepsake.scope({ user: "ana" });
    for (const what of [(id: string) => ({ session: id }), () => ({ everything: true }) as const]) {
      const id = await create(ITEMS);
      expect((await ana.forget(what(id))).complete).toBe(true);
      expect((await call("GET", `/${id}`)).status).toBe(404);
      expect((await call("GET", `/${id}/items`)).status).toBe(404);
      expect(await exported()).not.toContain(CANARY);
    }
  });

  it("by deletion needs a key that may erase", async () => {
    const { key } = keys.create({ scopes: ["read", "write"] });
    const id = await create(ITEMS);
    const headers = { authorization: `Bearer ${key}`, "x-keepsake-user": "ana" };
    expect((await call("DELETE", `/${id}`, undefined, headers)).status).toBe(403);
    expect((await call("GET", `/${id}`, undefined, headers)).status).toBe(200);
  });
});
