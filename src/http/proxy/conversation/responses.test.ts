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

function open(hasUpstream: boolean = true): void {
  const server = { baseUrl: upstream.url, apiKey: "sk-server" };
  app = httpApp({
    keepsake,
    keys,
    lifecycle: life,
    proxy: { clock, retrievalMs: 5000, ...(hasUpstream ? { upstream: server } : {}) },
  });
}
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  life = createLifecycle();
  upstream = await openaiServer({ reply: () => "Noted." });
  open();
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
    headers: response.headers,
    json: (text.startsWith("{") ? JSON.parse(text) : undefined) as Json,
  };
}
const respond = (input: unknown, more: object = {}, headers: Record<string, string> = {}) =>
  call("POST", "/responses", { model: "gpt-4o-mini", input, ...more }, headers);
const create = async (items: object[] = []): Promise<string> =>
  (await call("POST", "/conversations", { items })).json.id;
const itemsOf = async (id: string): Promise<Json[]> =>
  (await call("GET", `/conversations/${id}/items?order=asc&limit=100`)).json.data;
const textOf = ({ type, content, output, name }: Json): string =>
  content?.[0]?.text ?? output ?? `${type} ${name}`;
const sent = (): Json => upstream.received.at(-1)?.body;
/** What the model was sent, without what the memory adds. */
const wordsSent = (): string[] =>
  (upstream.received.at(-1)?.turns ?? []).map(({ text }) =>
    text.replace(/<keepsake-[\s\S]*?<\/keepsake-\w+>/g, "").trim(),
  );
const exported = async (user = "ana"): Promise<string> => {
  const lines: string[] = [];
  for await (const line of keepsake.scope({ user }).export()) lines.push(JSON.stringify(line));
  return lines.join("\n");
};
const WEATHER = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: {} },
  strict: false,
};

describe("a response in a conversation", () => {
  it("is given the items before it, and its input and output are appended once", async () => {
    const id = await create([{ role: "user", content: "I use Shram." }]);
    for (const conversation of [id, { id }]) {
      const { status, headers } = await respond(`What about ${typeof conversation}?`, { conversation });
      expect([status, headers.get("x-keepsake-memory")]).toEqual([200, "on"]);
    }
    expect(wordsSent()).toEqual(["I use Shram.", "What about string?", "Noted.", "What about object?"]);
    expect(sent()).not.toHaveProperty("conversation");
    expect(sent().store).toBe(false);
    expect((await itemsOf(id)).map(textOf)).toEqual([
      "I use Shram.",
      "What about string?",
      "Noted.",
      "What about object?",
      "Noted.",
    ]);
    const { items } = await keepsake.scope({ user: "ana" }).session(id, { limit: 100 });
    expect(items.filter(({ content }) => content === "What about string?")).toHaveLength(1);
  });

  it("streams the same, and two conversations do not mix", async () => {
    const [one, two] = [await create(), await create()];
    await respond("I live in Porto.", { conversation: one, stream: true });
    await respond("I like cork.", { conversation: two, stream: true });
    const { text } = await respond("And?", { conversation: one, stream: true });
    expect(text).toContain("response.completed");
    expect(wordsSent()).toEqual(["I live in Porto.", "Noted.", "And?"]);
    expect((await itemsOf(one)).map(textOf)).toEqual(["I live in Porto.", "Noted.", "And?", "Noted."]);
    expect((await itemsOf(two)).map(textOf)).toEqual(["I like cork.", "Noted."]);
    expect((await keepsake.scope({ user: "ana" }).answer("Where do I live?")).text).toBe(
      "You live in Porto.",
    );
  });

  it("keeps calls of functions and their results, in order", async () => {
    const id = await create();
    upstream.reply = ({ turns }) =>
      turns.at(-1)?.role === "tool"
        ? "It is sunny."
        : { toolCalls: [{ id: "c1", name: "weather", arguments: { city: "Porto" } }] };
    const asked = await respond("What is the weather?", { conversation: id, tools: [WEATHER] });
    const { call_id } = asked.json.output[0];
    const output = { type: "function_call_output", call_id, output: "sunny" };
    await respond([output], { conversation: id, tools: [WEATHER] });
    expect((await itemsOf(id)).map(textOf)).toEqual([
      "What is the weather?",
      "function_call weather",
      "sunny",
      "It is sunny.",
    ]);
    expect(sent().input.map(({ type }: Json) => type)).toEqual([
      "message",
      "function_call",
      "function_call_output",
    ]);
  });

  it("that fails, or whose stream breaks, appends nothing, and a retry appends once", async () => {
    const id = await create();
    upstream.troubles.push({ status: 500 }, { afterEvents: 6, it: "resets" }, { afterEvents: 6, it: "ends" });
    expect((await respond("I live in Porto.", { conversation: id })).status).toBe(500);
    for (let i = 0; i < 2; i += 1) await respond("I live in Porto.", { conversation: id, stream: true });
    expect(await itemsOf(id)).toEqual([]);
    await respond("I live in Porto.", { conversation: id });
    expect((await itemsOf(id)).map(textOf)).toEqual(["I live in Porto.", "Noted."]);
    const messages = (await keepsake.scope({ user: "ana" }).session(id, { limit: 100 })).items;
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
    // The words were stored when they were said, as in every chat.
    expect((await keepsake.scope({ user: "ana" }).answer("Where do I live?")).text).toBe(
      "You live in Porto.",
    );
  });

  it("does not come back if it is deleted while the model replies", async () => {
    const id = await create();
    upstream.reply = async () => {
      const headers = { authorization: `Bearer ${keys.first}`, "x-keepsake-user": "ana" };
      await app.request(`/v1/conversations/${id}`, { method: "DELETE", headers });
      return "Noted.";
    };
    expect((await respond("I like cork.", { conversation: id })).status).toBe(200);
    expect((await call("GET", `/conversations/${id}`)).status).toBe(404);
    expect((await respond("And?", { conversation: id })).status).toBe(404);
  });

  it("keeps what is said again after it was deleted", async () => {
    const id = await create();
    await respond("I like cork.", { conversation: id });
    for (const item of await itemsOf(id)) await call("DELETE", `/conversations/${id}/items/${item.id}`);
    expect(await itemsOf(id)).toEqual([]);
    await respond("I like cork.", { conversation: id });
    expect((await itemsOf(id)).map(textOf)).toEqual(["I like cork.", "Noted."]);
  });

  it("without store is appended and cannot be continued; in the mode read it is not appended", async () => {
    const id = await create();
    const { json } = await respond("I like cork.", { conversation: id, store: false });
    expect(await itemsOf(id)).toHaveLength(2);
    expect((await respond("And?", { previous_response_id: json.id })).status).toBe(400);
    await respond("And?", { conversation: id }, { "x-keepsake-memory": "read" });
    expect(wordsSent()).toEqual(["I like cork.", "Noted.", "And?"]);
    expect(await itemsOf(id)).toHaveLength(2);
    expect((await respond("And?", { conversation: id }, { "x-keepsake-memory": "off" })).status).toBe(400);
  });

  it("is refused for another user's or an unknown conversation, with nothing sent", async () => {
    const id = await create([{ role: "user", content: "I live in Porto." }]);
    for (const [conversation, user] of [
      [id, "bo"],
      [`conv_ks${"0".repeat(32)}`, "ana"],
      ["conv_123", "ana"],
      [{}, "ana"],
    ]) {
      const { status, json } = await respond("Hi.", { conversation }, { "x-keepsake-user": String(user) });
      expect([conversation, status, json.error.param]).toEqual([conversation, 404, "conversation"]);
    }
    expect((await respond("Hi.", { conversation: id, previous_response_id: "resp_1" })).status).toBe(400);
    expect((await respond("Hi.", { conversation: id }, { "x-keepsake-user": "" })).status).toBe(400);
    expect(upstream.received).toEqual([]);
  });

  it("forgets before the model is asked, and the conversation forgets with it", async () => {
    const id = await create();
    await respond("I use Shram and Magnet as productivity tools.", { conversation: id });
    await respond("Forget that I ever mentioned Magnet.", { conversation: id });
    expect(JSON.stringify(sent().input.slice(0, -1))).not.toContain("Magnet");
    await respond("What do I use?", { conversation: id });
    expect(JSON.stringify(sent())).not.toContain("Magnet");
    expect(JSON.stringify(await itemsOf(id))).not.toContain("Magnet");
    expect(await exported()).not.toContain("Magnet");
  });

  it("is answered by the built-in model from memory, and appended", async () => {
    open(false);
    const id = await create();
    await respond("I live in Porto.", { conversation: id });
    const { json } = await respond("Where do I live?", { conversation: id });
    expect(json.output[0].content[0].text).toBe("You live in Porto.");
    expect((await itemsOf(id)).map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect((await respond("And now?", { previous_response_id: json.id })).status).toBe(200);
    expect((await respond("And now?", { previous_response_id: "resp_0" })).status).toBe(400);
  });
});

describe("what an agent says through the proxy and adds to its conversation afterwards", () => {
  it("is learnt and found once, and comes back from the conversation whole", async () => {
    const id = await create();
    await respond("I live in Porto.");
    const items = [
      { role: "user", content: "I live in Porto." },
      { role: "assistant", content: [{ type: "output_text", text: "Noted." }] },
    ];
    await call("POST", `/conversations/${id}/items`, { items });
    expect((await itemsOf(id)).map(textOf)).toEqual(["I live in Porto.", "Noted."]);
    const { items: found } = await keepsake.scope({ user: "ana" }).recall("Where do I live?", { limit: 20 });
    expect(found.filter(({ text }) => text.includes("I live in Porto."))).toHaveLength(1);
    await keepsake.scope({ user: "ana" }).forget("Porto");
    expect(await exported()).not.toContain("Porto");
    expect(JSON.stringify(await itemsOf(id))).not.toContain("Porto");
  });
});

describe("a yes to what the memory asked", () => {
  const FACTS = "I live in Porto. I use Shram. I like cork. My dog is called Rex. I work at Vantor.";
  const hasFacts = async (): Promise<boolean> => (await exported()).includes("Vantor");

  it.each(["the built-in model", "a model"])(
    "counts in a chain and in a conversation, with %s",
    async (by) => {
      if (by === "the built-in model") open(false);
      // As a model does that is told of the question.
      upstream.reply = ({ turns }) =>
        JSON.stringify(turns).includes("Forget everything")
          ? "Say “yes” to confirm that. Shall I?"
          : "Noted.";
      for (const isNamed of [false, true]) {
        const conversation = isNamed ? await create() : undefined;
        await respond(FACTS, { store: false });
        const first = await respond(
          "Forget everything you know about me.",
          conversation ? { conversation } : {},
        );
        expect(await hasFacts()).toBe(true);
        const on = conversation ? { conversation } : { previous_response_id: first.json.id };
        await respond("Yes, forget them.", on);
        expect(await hasFacts()).toBe(false);
      }
    },
  );

  it("counts with the built-in model where it is plain, and its client sends the history", async () => {
    open(false);
    await respond(FACTS, { store: false });
    const order = { role: "user", content: "Forget everything you know about me." };
    const { json } = await respond([order]);
    const said = { role: "assistant", content: json.output[0].content[0].text };
    expect(await hasFacts()).toBe(true);
    await respond([order, said, { role: "user", content: "Yes." }]);
    expect(await hasFacts()).toBe(false);
  });
});

describe("a response that continues from another", () => {
  it("is given the chain, for the same user alone", async () => {
    const first = await respond("I use Shram.");
    const second = await respond("I like cork.", { previous_response_id: first.json.id, stream: true });
    const id = /"id":"(resp_[^"]+)"/.exec(second.text)?.[1];
    const third = await respond([{ role: "user", content: "And?" }], { previous_response_id: id });
    expect(third.status).toBe(200);
    expect(wordsSent()).toEqual(["I use Shram.", "Noted.", "I like cork.", "Noted.", "And?"]);
    expect(sent()).not.toHaveProperty("previous_response_id");
    // Another branch of the same chain.
    await respond("Or?", { previous_response_id: first.json.id });
    expect(wordsSent()).toEqual(["I use Shram.", "Noted.", "Or?"]);
    const sessions = (await keepsake.scope({ user: "ana" }).sessions()).items;
    expect(sessions).toHaveLength(1);
    const count = upstream.received.length;
    for (const headers of [{ "x-keepsake-user": "bo" }, { "x-keepsake-user": "ana" }]) {
      const previous = headers["x-keepsake-user"] === "bo" ? first.json.id : "resp_unknown";
      const { status, json } = await respond("Hi.", { previous_response_id: previous }, headers);
      expect([status, json.error]).toMatchObject([
        400,
        { type: "invalid_request_error", param: "previous_response_id", code: "previous_response_not_found" },
      ]);
    }
    expect(upstream.received).toHaveLength(count);
  });

  it("uses tools over the chain", async () => {
    upstream.reply = ({ turns }) =>
      turns.at(-1)?.role === "tool"
        ? "It is sunny."
        : { toolCalls: [{ id: "c1", name: "weather", arguments: {} }] };
    const asked = await respond("What is the weather?", { tools: [WEATHER] });
    const output = { type: "function_call_output", call_id: "c1", output: "sunny" };
    const { json } = await respond([output], { tools: [WEATHER], previous_response_id: asked.json.id });
    expect(json.output[0].content[0].text).toBe("It is sunny.");
    expect(sent().input.map(({ type }: Json) => type)).toEqual([
      "message",
      "function_call",
      "function_call_output",
    ]);
  });

  it("goes on from the newest response, where a server gives the same id twice", async () => {
    const same = { change: (answer: unknown) => ({ ...(answer as object), id: "resp_7" }) };
    upstream.troubles.push(same, same, same);
    await respond("I use Shram.");
    await respond("I like cork.");
    await respond("And Porto.", { previous_response_id: "resp_7" });
    expect(wordsSent()).toEqual(["I like cork.", "Noted.", "And Porto."]);
    await respond("Well?", { previous_response_id: "resp_7" });
    expect(wordsSent()).toEqual(["I like cork.", "Noted.", "And Porto.", "Noted.", "Well?"]);
  });

  it("goes on from a response in a conversation, up to that response", async () => {
    const id = await create();
    const { json } = await respond("I use Shram.", { conversation: id });
    await respond("I like cork.", { conversation: id });
    await respond("And?", { previous_response_id: json.id });
    expect(wordsSent()).toEqual(["I use Shram.", "Noted.", "And?"]);
    expect(await itemsOf(id)).toHaveLength(4);
  });

  it("is not kept where store is false, or where the client sends the history itself and does not ask for it", async () => {
    const history = [
      { role: "user", content: "I use Shram." },
      { role: "assistant", content: "Good." },
      { role: "user", content: "And cork?" },
    ];
    for (const [input, more, status] of [
      ["I use Shram.", { store: false }, 400],
      [history, {}, 400],
      [history, { store: true }, 200],
    ] as const) {
      const { json } = await respond(input, more);
      expect((await respond("And?", { previous_response_id: json.id })).status).toBe(status);
    }
    expect(wordsSent()).toEqual(["I use Shram.", "Good.", "And cork?", "Noted.", "And?"]);
  });

  it("with the client's own key passes ids that are not ours untouched", async () => {
    const { json } = await respond("I use Shram.");
    const headers = { "x-keepsake-upstream-key": "sk-client" };
    const own = await respond("I like cork.", {}, headers);
    await respond("And?", { previous_response_id: own.json.id }, headers);
    expect(sent()).toMatchObject({ previous_response_id: own.json.id });
    expect(upstream.received.at(-1)?.authorization).toBe("Bearer sk-client");
    await respond("Hi.", { conversation: "conv_123" }, headers);
    expect(sent()).toMatchObject({ conversation: "conv_123" });
    await respond("And?", { previous_response_id: json.id }, headers);
    expect(sent()).not.toHaveProperty("previous_response_id");
    expect(wordsSent()).toEqual(["I use Shram.", "Noted.", "And?"]);
  });
});

describe("limits", () => {
  const big = (letter: string, bytes: number): object => ({ role: "user", content: letter.repeat(bytes) });

  it("of what a conversation holds and a request is given end in a 400, and nothing is sent", async () => {
    const id = await create();
    for (const letter of ["a", "b", "c"])
      expect(
        (await call("POST", `/conversations/${id}/items`, { items: [big(letter, 900_000)] })).status,
      ).toBe(200);
    expect((await call("POST", `/conversations/${id}/items`, { items: [big("d", 1_000_001)] })).status).toBe(
      400,
    );
    expect((await respond([big("e", 1_000_001)], { conversation: id })).json.error.param).toBe("input");
    expect((await respond("Hi.", { conversation: id })).status).toBe(200);
    const count = upstream.received.length;
    await call("POST", `/conversations/${id}/items`, { items: [big("f", 900_000)] });
    const { status, json } = await respond("Hi.", { conversation: id });
    expect([status, json.error.param, upstream.received.length]).toEqual([400, "input", count]);
    // Such a response without a conversation is passed on, and cannot be continued.
    const alone = await respond([big("g", 1_000_001)]);
    expect(alone.status).toBe(200);
    expect((await respond("And?", { previous_response_id: alone.json.id })).status).toBe(400);
  });

  it("of a chain end in a 400", async () => {
    const part = (i: number) => ({
      type: "responseend",
      said: [],
      ...(i > 0 ? { previous: `resp_${i - 1}` } : {}),
    });
    const records = Array.from({ length: 1001 }, (_, i) => ({
      id: `resp_${i}`,
      role: "system" as const,
      content: [part(i)],
    }));
    await keepsake.scope({ user: "ana" }).remember(records, { session: "long" });
    expect((await respond("Hi.", { previous_response_id: "resp_999" })).status).toBe(200);
    expect((await respond("Hi.", { previous_response_id: "resp_1000" })).status).toBe(400);
  });
});

describe("an erasure", () => {
  const CANARY = "Zorbimax";

  it("reaches what is kept of responses, and their chain goes on with the rest", async () => {
    upstream.reply = ({ turns }) =>
      turns.at(-1)?.role === "tool"
        ? `${CANARY} is open.`
        : { toolCalls: [{ id: "c1", name: "weather", arguments: { app: CANARY } }] };
    const id = await create();
    const first = await respond(`I use ${CANARY} and Shram.`, { conversation: id, tools: [WEATHER] });
    const output = { type: "function_call_output", call_id: "c1", output: `opened ${CANARY}` };
    await respond([output], { conversation: id, tools: [WEATHER] });
    const chain = await respond("I live in Porto.", { tools: [WEATHER] });
    const on = { tools: [WEATHER], previous_response_id: chain.json.id };
    const end = await respond([output], on);
    const receipt = await keepsake.scope({ user: "ana" }).forget(CANARY);
    expect(receipt.complete).toBe(true);
    expect(await exported()).not.toContain(CANARY);
    expect(JSON.stringify(await itemsOf(id))).not.toContain(CANARY);
    upstream.reply = () => "Noted.";
    for (const more of [{ conversation: id }, { previous_response_id: end.json.id }]) {
      expect((await respond("And?", more)).status).toBe(200);
      expect(JSON.stringify(sent())).not.toContain(CANARY);
    }
    expect(wordsSent()).toEqual(["I live in Porto.", "And?"]);
    await keepsake.scope({ user: "ana" }).forget({ session: id });
    expect((await respond("And?", { previous_response_id: first.json.id })).status).toBe(400);
    expect(await keepsake.check()).toEqual([]);
  });
});
