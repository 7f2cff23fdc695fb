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
  upstream = await openaiServer({ reply: ({ turns }) => `Reply to: ${withoutMemory(turns.at(-1)?.text)}` });
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
  const text = await response.text().catch(() => "cut");
  await life.waitUntilIdle(5000);
  return {
    status: response.status,
    text,
    json: (text.startsWith("{") ? JSON.parse(text) : undefined) as Json,
  };
}
const respond = (input: unknown, more: object = {}, headers: Record<string, string> = {}) =>
  call("POST", "/responses", { model: "gpt-4o-mini", input, ...more }, headers);
const create = async (items: object[] = []): Promise<string> =>
  (await call("POST", "/conversations", { items })).json.id;
const itemsOf = async (id: string): Promise<Json[]> =>
  (await call("GET", `/conversations/${id}/items?order=asc&limit=100`)).json.data;
const inputOf = async (id: string): Promise<Json[]> =>
  (await call("GET", `/responses/${id}/input_items?order=asc&limit=100`)).json.data;
const textsOf = (items: Json[]): string[] => items.map(({ content }) => content[0].text);
const says = (content: string): object => ({ role: "user", content });
const refer = (id: string): object => ({ type: "item_reference", id });
const sent = (): Json => upstream.received.at(-1)?.body;
const withoutMemory = (text: string = ""): string =>
  text.replace(/<keepsake-[\s\S]*?<\/keepsake-\w+>/g, "").trim();
/** What the model was sent, without what the memory adds. */
const wordsSent = (): string[] =>
  (upstream.received.at(-1)?.turns ?? []).map(({ text }) => withoutMemory(text));
const messages = async (user = "ana"): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of keepsake.scope({ user }).export())
    if (line.type === "message") lines.push(JSON.stringify(line));
  return lines;
};

async function expectRefused(answer: Promise<{ status: number; json: Json }>, status: number): Promise<Json> {
  const before = upstream.received.length;
  const { status: got, json } = await answer;
  expect([got, json.error]).toMatchObject([status, { type: "invalid_request_error", param: "input" }]);
  expect(upstream.received).toHaveLength(before);
  return json.error;
}

describe("a reference to an item of a stored response", () => {
  it.each([false, true])(
    "is sent as that item, and the provider stores nothing, streaming: %s",
    async (stream) => {
      const first = await respond("I use Shram.");
      const [reply] = first.json.output;
      for (const reference of [refer(reply.id), { id: reply.id }, { type: null, id: reply.id }]) {
        const { status } = await respond([says("I use Shram."), reference, says("And?")], { stream });
        expect(status).toBe(200);
        expect(wordsSent()).toEqual(["I use Shram.", "Reply to: I use Shram.", "And?"]);
        expect(sent().store).toBe(false);
        expect(JSON.stringify(sent())).not.toMatch(/item_reference|msg_/);
      }
    },
  );

  it("lets a client go on by references alone, without copies of what was said before", async () => {
    const input: object[] = [];
    let id = "";
    for (const text of ["I use Shram.", "I like cork.", "I live in Porto."]) {
      input.push(says(text));
      const { status, json } = await respond(input);
      expect(status).toBe(200);
      id = json.id;
      input.push(refer(json.output[0].id));
    }
    const whole = ["I use Shram.", "Reply to: I use Shram.", "I like cork.", "Reply to: I like cork."];
    expect(wordsSent()).toEqual([...whole, "I live in Porto."]);
    expect(textsOf(await inputOf(id))).toEqual([...whole, "I live in Porto."]);
    for (const text of whole) {
      const isSaid = (line: string): boolean => JSON.parse(line).message.content === text;
      expect([text, (await messages()).filter(isSaid).length]).toEqual([text, 1]);
      expect((await messages()).filter((line) => line.includes(JSON.stringify(text)))).toHaveLength(1);
    }
    await respond("And?", { previous_response_id: id });
    expect(wordsSent()).toEqual([...whole, "I live in Porto.", "Reply to: I live in Porto.", "And?"]);
    // What the response only named belongs to the others.
    expect((await call("DELETE", `/responses/${id}`)).status).toBe(200);
    await respond([...input.slice(0, 4), says("And?")]);
    expect(wordsSent()).toEqual([...whole, "And?"]);
    expect((await messages()).join("\n")).not.toContain("Porto");
    expect(await keepsake.check()).toEqual([]);
  });

  it("may be a call of a function with its result, and leaves out reasoning that cannot be sent", async () => {
    const reasoning = (fields: object) => ({ type: "reasoning", summary: [], ...fields });
    upstream.reply = ({ turns }) =>
      turns.at(-1)?.role === "tool"
        ? "Sunny."
        : { toolCalls: [{ id: "c1", name: "weather", arguments: {} }] };
    upstream.troubles.push({
      change: (answer: Json) => ({
        ...answer,
        output: [
          reasoning({ id: "rs_1" }),
          reasoning({ id: "rs_2", encrypted_content: "c2VjcmV0" }),
          ...answer.output,
        ],
      }),
    });
    const tools = [{ type: "function", name: "weather", parameters: { type: "object", properties: {} } }];
    const { json } = await respond("What is the weather?", { tools });
    const references = json.output.map(({ id }: Json) => refer(id));
    const result = { type: "function_call_output", call_id: json.output[2].call_id, output: "sunny" };
    expect((await respond([says("What is the weather?"), ...references, result], { tools })).status).toBe(
      200,
    );
    expect(sent().input.map(({ type = "message", id }: Json) => [type, id])).toEqual([
      ["message", undefined],
      ["reasoning", "rs_2"],
      ["function_call", undefined],
      ["function_call_output", undefined],
    ]);
  });

  it("is not learnt once more, as words of this request", async () => {
    const { json } = await respond("I live in Porto.");
    const [said] = await inputOf(json.id);
    await respond("I moved to Lisbon.");
    await respond([refer(said.id), says("Hello.")]);
    expect(wordsSent()).toEqual(["I live in Porto.", "Hello."]);
    expect((await keepsake.scope({ user: "ana" }).answer("Where do I live?")).text).toBe(
      "You live in Lisbon.",
    );
    const isSaid = (line: string): boolean => JSON.parse(line).message.content === "I live in Porto.";
    expect((await messages()).filter(isSaid)).toHaveLength(1);
  });

  it("stands beside a long image, which is sent whole", async () => {
    const { json } = await respond("I use Shram.");
    const image = `data:image/png;base64,${"iVBORw0KGgo".repeat(450_000)}`;
    const content = [
      { type: "input_image", image_url: image },
      { type: "input_text", text: "See?" },
    ];
    const { status } = await respond([refer(json.output[0].id), { role: "user", content }]);
    expect(status).toBe(200);
    const [reply, seen] = sent().input;
    expect(reply.content[0].text).toBe("Reply to: I use Shram.");
    expect(seen.content.find(({ type }: Json) => type === "input_image").image_url === image).toBe(true);
  });
});

describe("a reference to an item of a conversation", () => {
  it("is sent without the conversation, after a response, and in another conversation, which keeps it", async () => {
    const id = await create([says("I use Shram."), says("I like cork.")]);
    const [shram, cork] = await itemsOf(id);
    await respond([refer(cork.id), says("And?")]);
    expect(wordsSent()).toEqual(["I like cork.", "And?"]);
    const { json } = await respond("Hello.");
    await respond([refer(shram.id), says("And?")], { previous_response_id: json.id });
    expect(wordsSent()).toEqual(["Hello.", "Reply to: Hello.", "I use Shram.", "And?"]);
    const other = await create();
    await respond([refer(shram.id), says("Well?")], { conversation: other });
    expect(wordsSent()).toEqual(["I use Shram.", "Well?"]);
    expect(textsOf(await itemsOf(other))).toEqual(["I use Shram.", "Well?", "Reply to: Well?"]);
    await respond("So?", { conversation: other });
    expect(wordsSent()).toEqual(["I use Shram.", "Well?", "Reply to: Well?", "So?"]);
    expect(textsOf(await itemsOf(id))).toEqual(["I use Shram.", "I like cork."]);
  });

  it("is refused where the conversation, the chain or the input has it already, or names it twice", async () => {
    const id = await create([says("I use Shram.")]);
    const [shram] = await itemsOf(id);
    const { json } = await respond("Hello.", { conversation: id });
    const [reply] = json.output;
    for (const [input, more] of [
      [[refer(shram.id)], { conversation: id }],
      [[refer(reply.id)], { previous_response_id: json.id }],
      [[refer(shram.id), says("And?"), refer(shram.id)], {}],
      [[refer(shram.id), says("And?"), { id: shram.id }], {}],
      [[refer(reply.id), reply, says("And?")], {}],
    ] as const) {
      const error = await expectRefused(respond([...input, says("And?")], more), 400);
      expect(error.message).toContain("Duplicate item");
    }
    expect(await itemsOf(id)).toHaveLength(3);
  });

  it("is not found where the turn of the item did not end", async () => {
    const id = await create();
    upstream.troubles.push({ afterEvents: 6, it: "ends" });
    await respond("I use Shram.", { conversation: id, stream: true });
    const { items } = await keepsake.scope({ user: "ana" }).session(id);
    const lost =
      items
        .find(({ content }) => content === "I use Shram.")
        ?.id.split(".")
        .at(-1) ?? "";
    expect(lost).toMatch(/^msg_/);
    await expectRefused(respond([refer(lost), says("And?")], { conversation: id }), 404);
    await respond("I use Shram.", { conversation: id });
    expect((await respond([refer(lost), says("And?")])).status).toBe(200);
  });
});

describe("a reference that leads to nothing", () => {
  it("is a 404 for another user, another project and an unknown id, and names no id", async () => {
    const { json } = await respond("I use Shram.");
    const [reply] = json.output;
    const elsewhere = keys.create({ project: "bolt" }).key;
    for (const headers of [
      { "x-keepsake-user": "bo" },
      { authorization: `Bearer ${keys.create({ user: "bo" }).key}`, "x-keepsake-user": "" },
      { authorization: `Bearer ${elsewhere}` },
    ] as Record<string, string>[]) {
      const conversation = (await call("POST", "/conversations", {}, headers)).json.id;
      const error = await expectRefused(
        respond([says("Hello."), refer(reply.id), says("And?")], { conversation }, headers),
        404,
      );
      expect(error).toMatchObject({ code: "not_found", message: expect.stringContaining("input[1]") });
      expect(JSON.stringify(error)).not.toContain(reply.id);
      // Without anything that is stored here, it is what the server's key refuses.
      const alone = await expectRefused(respond([refer(reply.id), says("And?")], {}, headers), 400);
      expect(alone.message).toContain("x-keepsake-upstream-key");
    }
    for (const id of ["msg_0", "resp_0", json.id, "end", "a.b", "x".repeat(600)])
      await expectRefused(respond([refer(reply.id), refer(id), says("And?")]), 404);
    await expectRefused(respond([refer("msg_0"), says("And?")], { model: "keepsake" }), 404);
    expect((await respond([refer(reply.id), says("And?")], {}, { "x-keepsake-memory": "read" })).status).toBe(
      200,
    );
    for (const headers of [{ "x-keepsake-memory": "off" }, { "x-keepsake-user": "" }] as Record<
      string,
      string
    >[])
      await expectRefused(respond([refer(reply.id), says("And?")], {}, headers), 400);
  });

  it.each([
    ["by itself", (id: string, item: string) => call("DELETE", `/conversations/${id}/items/${item}`)],
    [
      "with its response",
      (_id: string, _item: string, response: string) => call("DELETE", `/responses/${response}`),
    ],
    ["with its conversation", (id: string) => call("DELETE", `/conversations/${id}`)],
    ["by its words", () => keepsake.scope({ user: "ana" }).forget("Shram")],
    ["with everything", () => keepsake.scope({ user: "ana" }).forget({ everything: true })],
  ])("is a 404 where the item was erased %s", async (_how, erase) => {
    const id = await create();
    const { json } = await respond("Shram", { conversation: id });
    const [said] = await itemsOf(id);
    const on = async () => ({ conversation: await create() });
    expect((await respond([refer(said.id), says("And?")])).status).toBe(200);
    await erase(id, said.id, json.id);
    await expectRefused(respond([refer(said.id), says("And?")], await on()), 404);
  });

  it("is left out where the request itself asks to forget it", async () => {
    const id = await create([says("Magnet"), says("I use Shram.")]);
    const [magnet, shram] = await itemsOf(id);
    const ask = says("Forget that I ever mentioned Magnet.");
    expect((await respond([refer(magnet.id), refer(shram.id), ask])).status).toBe(200);
    expect(sent().input).toHaveLength(2);
    expect(JSON.stringify(sent().input.slice(0, 1))).not.toMatch(/Magnet|item_reference/);
    expect(wordsSent()[0]).toBe("I use Shram.");
  });

  it("is refused among more than 1,000, and where the items are too large together", async () => {
    const many = Array.from({ length: 1001 }, (_, i) => refer(`msg_${i}`));
    await expectRefused(respond([...many, says("And?")]), 400);
    const id = await create();
    for (const letter of ["a", "b", "c", "d"])
      await call("POST", `/conversations/${id}/items`, { items: [says(letter.repeat(900_000))] });
    const references = (await itemsOf(id)).map((item) => refer(item.id));
    expect((await respond([...references.slice(1), says("And?")])).status).toBe(200);
    await expectRefused(respond([...references, says("And?")]), 400);
    const other = await create([says("e".repeat(900_000))]);
    await expectRefused(respond([...references.slice(1), says("And?")], { conversation: other }), 400);
  });
});

describe("with the client's own key", () => {
  it("items that are stored here are put in, and all other references pass unchanged", async () => {
    const { json } = await respond("I use Shram.");
    const headers = { "x-keepsake-upstream-key": "sk-client" };
    const input = [refer(json.output[0].id), refer("msg_theirs"), refer("msg_theirs"), says("And?")];
    await respond(input, { previous_response_id: "resp_theirs", store: true }, headers);
    expect(sent()).toMatchObject({ previous_response_id: "resp_theirs", store: true });
    expect(sent().input.slice(1, 3)).toEqual([refer("msg_theirs"), refer("msg_theirs")]);
    expect(sent().input[0].content[0].text).toBe("Reply to: I use Shram.");
  });
});
