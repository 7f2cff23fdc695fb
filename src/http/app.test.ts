import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";
import { httpApp } from "./app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let keepsake: Keepsake;
let keys: ApiKeys;
let app: ReturnType<typeof httpApp>;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  app = httpApp({ keepsake, keys });
});
afterEach(() => keepsake.close());

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Json; headers: Headers }> {
  const response = await app.request(path, {
    method,
    headers: {
      authorization: `Bearer ${keys.first}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    json: text === "" ? undefined : JSON.parse(text),
    headers: response.headers,
  };
}

const add = async (user: string, content: string, more: object = {}): Promise<Json> =>
  (await call("POST", "/api/v1/memories", { user_id: user, content, ...more })).json;

it("a request whose client has gone before its turn is not begun", async () => {
  const headers = { authorization: `Bearer ${keys.first}`, "content-type": "application/json" };
  const said = { user_id: "ana", messages: [{ role: "user", content: "I live in Porto." }] };
  await call("POST", "/api/v1/messages", said);
  const client = new AbortController();
  const first = app.request("/api/v1/memories/ana", { headers });
  const erasing = app.request("/api/v1/memories/ana/all", {
    method: "DELETE",
    headers,
    signal: client.signal,
  });
  client.abort();
  expect((await first).status).toBe(200);
  expect((await erasing).status).toBeGreaterThanOrEqual(400);
  expect((await call("GET", "/api/v1/memories/ana")).json.total).toBe(1);
  expect((await keepsake.scope({ user: "ana" }).erasures()).length).toBe(0);
});

describe("memories added directly", () => {
  it("are created with the given fields and found at their location", async () => {
    const { status, json, headers } = await call("POST", "/api/v1/memories", {
      user_id: "ana",
      content: "Ana lives in Porto.",
      type: "fact",
      source_turn: 7,
      confidence: 0.8,
      importance: 0.9,
      metadata: { camelCase: "stays" },
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      user_id: "ana",
      content: "Ana lives in Porto.",
      text: "Ana lives in Porto.",
      type: "fact",
      source_turn: 7,
      confidence: 0.8,
      importance: 0.9,
      metadata: { camelCase: "stays" },
      status: "current",
      receipt: { memories: [{ id: json.id, action: "added" }] },
    });
    const found = await call("GET", headers.get("location") ?? "");
    expect(found.json).toMatchObject({ id: json.id, content: "Ana lives in Porto." });
  });

  it("are listed in pages, by kind and by status", async () => {
    for (const place of ["Porto", "Lisbon", "Faro"])
      await add("ana", `Ana has been to ${place}.`, { kind: "event" });
    await add("ana", "Ana likes cork.", { type: "preference" });
    const first = (await call("GET", "/api/v1/memories/ana?kind=event&limit=2")).json;
    expect(first).toMatchObject({ total: 3, items: [{ kind: "event" }, { kind: "event" }] });
    const next = (await call("GET", `/api/v1/memories/ana?kind=event&limit=2&cursor=${first.cursor}`)).json;
    expect(next.items).toHaveLength(1);
    expect([next.cursor, next.next_cursor]).toEqual([undefined, undefined]);
    expect((await call("GET", "/api/v1/memories/ana?status=retracted")).json.total).toBe(0);
  });

  it("can be changed field by field, and the history keeps every version", async () => {
    const { id } = await add("ana", "Ana lives in Porto.", { metadata: { from: "crm" } });
    const changed = await call("PATCH", `/api/v1/memories/ana/${id}`, {
      content: "Ana lives in Faro.",
      source_turn: 2,
    });
    expect(changed.json).toMatchObject({
      content: "Ana lives in Faro.",
      version: 2,
      metadata: { from: "crm", source_turn: 2 },
    });
    const { json } = await call("GET", `/api/v1/memories/ana/${id}/history`);
    expect(json.items.map(({ version, content }: Json) => [version, content])).toEqual([
      [1, "Ana lives in Porto."],
      [2, "Ana lives in Faro."],
    ]);
  });

  it("can be retracted, and undo restores them", async () => {
    const { id } = await add("ana", "Ana lives in Porto.");
    const { json: receipt } = await call("DELETE", `/api/v1/memories/ana/${id}`);
    expect(receipt.memories).toMatchObject([{ id, action: "retracted" }]);
    expect((await call("GET", "/api/v1/memories/ana")).json.total).toBe(0);
    await call("POST", "/api/v1/memories/ana/undo", { revision: receipt.revision });
    expect((await call("GET", "/api/v1/memories/ana")).json.items).toMatchObject([{ id }]);
  });

  it("are counted", async () => {
    await add("ana", "Ana lives in Porto.");
    const { id } = await add("ana", "Ana likes cork.", { kind: "preference" });
    await call("DELETE", `/api/v1/memories/ana/${id}`);
    expect((await call("GET", "/api/v1/memories/ana/stats")).json).toMatchObject({
      user_id: "ana",
      total: 2,
      current: 1,
      superseded: 0,
      retracted: 1,
      kinds: { fact: 1, preference: 0, event: 0 },
      revision: 3,
    });
  });

  it("are searched by a query in the query string or the body", async () => {
    await add("ana", "Ana uses Shram as a productivity tool.");
    const byAddress = (await call("POST", "/api/v1/memories/ana/search?query=productivity&top_k=1")).json;
    const byBody = (
      await call("POST", "/api/v1/memories/ana/search", { query: "productivity", explain: true })
    ).json;
    for (const found of [byAddress, byBody]) {
      expect(found).toMatchObject({
        abstained: false,
        items: [{ content: "Ana uses Shram as a productivity tool." }],
      });
      expect(found.context).toContain("Shram");
    }
    expect(byBody.explanation.query).toBe("productivity");
  });

  it("are searched with a filter over their texts; a wrong one is a 400 without its words", async () => {
    await add("ana", "Ana uses Shram as a productivity tool.");
    await add("ana", "Ana uses Magnet as a productivity tool.");
    const search = (where_text: unknown) =>
      call("POST", "/api/v1/memories/ana/search", { query: "productivity tools", where_text });
    const found = await search({ $or: [{ $contains: "Shram" }, { $regex: "(?i)notion" }] });
    expect(found.json.items.map(({ text }: { text: string }) => text)).toEqual([
      "Ana uses Shram as a productivity tool.",
    ]);
    const nothing = await search({ $regex: "Lisbon$" });
    expect([nothing.status, nothing.json.items, nothing.json.abstained]).toEqual([200, [], true]);
    for (const wrong of [{ $regex: "(secret" }, { $secret: "a" }, { $contains: 5 }, "secret"]) {
      const { status, json } = await search(wrong);
      expect([status, json.code]).toEqual([400, "invalid_input"]);
      expect(json.detail).not.toContain("secret");
    }
  });

  it("are listed, put into a context and erased by a filter over their texts", async () => {
    await add("ana", "Ana uses Shram as a productivity tool.");
    await add("ana", "Ana uses Magnet as a productivity tool.");
    const where_text = { $contains: "Shram" };
    const list = (text: string) => call("GET", `/api/v1/memories/ana?where_text=${encodeURIComponent(text)}`);
    const listed = await list(JSON.stringify(where_text));
    expect([listed.json.total, listed.json.items[0].text]).toEqual([
      1,
      "Ana uses Shram as a productivity tool.",
    ]);
    const context = await call("POST", "/api/v1/context", {
      user_id: "ana",
      request: "plan my work",
      where_text,
    });
    expect(context.json.text).toMatch(/Shram/);
    expect(context.json.text).not.toMatch(/Magnet/);
    const plan = await call("POST", "/api/v1/erasures", { user_id: "ana", where_text, dry_run: true });
    expect(plan.json.memories).toHaveLength(1);
    expect((await call("POST", "/api/v1/erasures", { user_id: "ana", where_text })).status).toBe(201);
    expect((await call("GET", "/api/v1/memories/ana")).json.items).toHaveLength(1);
    for (const wrong of ["secret", "[]", '{"$regex":"(secret"}', "null"]) {
      const { status, json } = await list(wrong);
      expect([status, json.code]).toEqual([400, "invalid_input"]);
      expect(json.detail).not.toContain("secret");
    }
    expect((await call("POST", "/api/v1/erasures", { user_id: "ana", where_text: {} })).status).toBe(400);
  });

  it("are ranked by weights, with every part of a score, and show how often recalls returned them", async () => {
    const { id } = await add("ana", "Ana uses Shram as a productivity tool.");
    const search = (body: object) =>
      call("POST", "/api/v1/memories/ana/search", { query: "productivity", explain: true, ...body });
    const { json } = await search({ weights: { similarity: 1, access: null } });
    expect([json.explanation.profile, Object.keys(json.items[0].why.adds)]).toEqual([
      "classic",
      ["similarity"],
    ]);
    await search({ profile: "classic" });
    const shown = (await call("GET", `/api/v1/memories/ana/${id}`)).json;
    expect(shown).toMatchObject({ usage: { count: 2 }, access_count: 2, decay_score: 1 });
    expect(shown.last_accessed).toBe(shown.usage.last_at);
    const [listed] = (await call("GET", "/api/v1/memories/ana")).json.items;
    expect(listed).toMatchObject({ access_count: 2 });
    for (const wrong of [
      { weights: {} },
      { weights: { likeness: 1 } },
      { weights: { access: -1 } },
      { profile: "x" },
    ])
      expect((await search(wrong)).status).toBe(400);
  });

  it("are of a kind or of a group of kinds, in a write, a list and a search", async () => {
    const made = [
      await add("ana", "Ana plans a party.", { type: "context" }),
      await add("ana", "Ana met Marta at a party.", { type: "episodic" }),
    ];
    expect(made.map(({ type }) => type)).toEqual(["context", "event"]);
    const listed = (await call("GET", "/api/v1/memories/ana?type=episodic")).json;
    expect(listed.items.map(({ kind }: { kind: string }) => kind)).toEqual(["event"]);
    const found = await call("POST", "/api/v1/memories/ana/search", { query: "party", kinds: ["semantic"] });
    expect(found.json.items.map(({ kind }: { kind: string }) => kind)).toEqual(["context"]);
    expect((await call("GET", "/api/v1/memories/ana?kind=nonsense")).status).toBe(400);
  });

  it("go into what a model is told before it answers a request, within a size", async () => {
    await call("POST", "/api/v1/messages", {
      user_id: "ana",
      messages: [{ role: "user", content: "I am allergic to peanuts." }],
    });
    await call("POST", "/api/v1/messages", {
      user_id: "bob",
      messages: [{ role: "user", content: "I am allergic to walnuts." }],
    });
    const { status, json } = await call("POST", "/api/v1/context", {
      user_id: "ana",
      request: "Suggest a snack.",
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ left: 0, recall_id: expect.any(String), tokens: expect.any(Number) });
    expect(json.text).toContain("peanuts");
    expect(json.text).not.toContain("walnuts");
    expect(json.items.map(({ content }: { content: string }) => content)).toContain(
      "I am allergic to peanuts.",
    );
    const explained = await call("GET", `/api/v1/memories/ana/recalls/${json.recall_id}`);
    expect(explained.status).toBe(200);
    const small = await call("POST", "/api/v1/context", {
      user_id: "ana",
      request: "a snack",
      max_tokens: 5,
    });
    expect(small.json.tokens).toBeLessThanOrEqual(5);
    const nobody = await call("POST", "/api/v1/context", { user_id: "eva", request: "a snack" });
    expect(nobody.json).toMatchObject({ text: "", items: [], left: 0 });
    for (const wrong of [
      { request: "a snack" },
      { user_id: "ana" },
      { user_id: "ana", request: "a", max_tokens: 0 },
    ])
      expect((await call("POST", "/api/v1/context", wrong)).status).toBe(400);
  });

  it("are not found for another user, however the path spells the name", async () => {
    const { id } = await add("ana/../../eva", "Ana lives in Porto.");
    expect((await call("GET", `/api/v1/memories/${encodeURIComponent("ana/../../eva")}/${id}`)).status).toBe(
      200,
    );
    expect((await call("GET", `/api/v1/memories/eva/${id}`)).json).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });
});

describe("messages", () => {
  it("with one idempotency key are stored once and get the same response", async () => {
    const body = { user_id: "ana", messages: [{ role: "user", content: "I live in Porto." }] };
    const first = await call("POST", "/api/v1/messages", body, { "idempotency-key": "k1" });
    const again = await call("POST", "/api/v1/messages", body, { "idempotency-key": "k1" });
    expect(first.status).toBe(201);
    expect(again.json).toEqual(first.json);
    const other = { ...body, messages: [{ role: "user", content: "I live in Faro." }] };
    const conflict = await call("POST", "/api/v1/messages", other, { "idempotency-key": "k1" });
    expect(conflict).toMatchObject({ status: 409, json: { code: "conflict" } });
  });

  it("are refused together if one is invalid, by its number", async () => {
    const messages = [
      { role: "user", content: "I live in Porto." },
      { role: "user", content: "x".repeat(1_000_001) },
    ];
    const { status, json } = await call("POST", "/api/v1/messages", { user_id: "ana", messages });
    expect([status, json.code]).toEqual([400, "invalid_input"]);
    expect(json.detail).toMatch(/\b[12]\b/);
    expect((await call("GET", "/api/v1/memories/ana")).json.total).toBe(0);
  });
});

describe("erasures", () => {
  it("accept a time and a topic, and list receipts of one user or of all", async () => {
    const say = (user_id: string, content: string, at?: string) =>
      call("POST", "/api/v1/messages", {
        user_id,
        messages: [{ role: "user", content, ...(at ? { at } : {}) }],
      });
    await say("tim", "I play the oboe.", "2024-05-01T10:00:00Z");
    await say("tim", "I am allergic to penicillin. I live in Porto.");
    await say("una", "I live in Faro.");
    const erase = (user_id: string, what: object) => call("POST", "/api/v1/erasures", { user_id, ...what });
    expect((await erase("tim", { to: "2024-06-01", dry_run: true })).json.memories).toMatchObject([
      { display: "You play the oboe." },
    ]);
    const first = await erase("tim", { from: "2024-01-01", to: "2024-06-01" });
    const second = await erase("tim", { topic: "health" });
    const third = await erase("una", { everything: true });
    expect([first, second, third].map(({ status }) => status)).toEqual([201, 201, 201]);
    const listed = await call("GET", "/api/v1/erasures?user_id=tim");
    expect(listed.json).toEqual({ items: [first.json, second.json], total: 2 });
    expect((await call("GET", "/api/v1/erasures")).json.items.slice(-3)).toEqual([
      first.json,
      second.json,
      third.json,
    ]);
    expect((await call("GET", `/api/v1/erasures/${first.json.id}?user_id=tim`)).json).toEqual(first.json);
    expect((await call("GET", `/api/v1/erasures/${first.json.id}?user_id=una`)).status).toBe(404);
    expect((await erase("tim", { topic: "nonsense" })).status).toBe(400);
    expect((await erase("tim", { topic: "health", from: "2024-01-01" })).status).toBe(400);
    expect((await erase("tim", { from: "soon" })).status).toBe(400);
  });

  it("erase at the revision of a plan only what it showed", async () => {
    await add("ana", "Ana uses Magnet.");
    const about = { user_id: "ana", about: "Magnet" };
    const planned = async () => (await call("POST", "/api/v1/erasures", { ...about, dry_run: true })).json;
    const { revision } = await planned();
    await add("ana", "Ana gave Magnet to Tim.");
    const late = await call("POST", "/api/v1/erasures", { ...about, if_revision: revision });
    expect([late.status, late.json.code]).toEqual([409, "conflict"]);
    expect((await call("GET", "/api/v1/memories/ana")).json.total).toBe(2);
    const again = { ...about, if_revision: (await planned()).revision };
    const { status, json: receipt } = await call("POST", "/api/v1/erasures", again);
    expect([status, receipt.erased.memories]).toEqual([201, 2]);
  });

  it("show a plan without erasing, then erase, and give the receipt again", async () => {
    const { id } = await add("ana", "Ana uses Magnet.");
    const plan = (await call("POST", "/api/v1/erasures", { user_id: "ana", ids: [id], dry_run: true })).json;
    expect(plan).toMatchObject({ dry_run: true, memories: [{ id, text: "Ana uses Magnet." }] });
    expect((await call("GET", "/api/v1/memories/ana")).json.total).toBe(1);

    const { status, json: receipt } = await call("POST", "/api/v1/erasures", { user_id: "ana", ids: [id] });
    expect(status).toBe(201);
    expect(receipt).toMatchObject({ ids: [id], complete: true, erased: { memories: 1 } });
    expect((await call("GET", "/api/v1/memories/ana?status=all")).json.total).toBe(0);
    expect((await call("GET", `/api/v1/erasures/${receipt.id}`)).json).toEqual(receipt);
  });

  it("need exactly one target: a request without one is refused", async () => {
    await add("ana", "Ana uses Magnet.");
    for (const what of [
      {},
      { ids: [] },
      { everything: false },
      { where: {} },
      { about: "x", everything: true },
    ]) {
      const { status, json } = await call("POST", "/api/v1/erasures", { user_id: "ana", ...what });
      expect([status, json.code]).toEqual([400, "invalid_input"]);
    }
    expect((await call("DELETE", "/api/v1/memories/ana")).status).toBe(405);
    expect((await call("GET", "/api/v1/memories/ana")).json.total).toBe(1);
  });

  it("of everything about a user do not affect other users", async () => {
    await add("ana", "Ana uses Magnet.");
    await add("eva", "Eva uses Magnet.");
    const { json } = await call("DELETE", "/api/v1/memories/ana/all");
    expect(json).toMatchObject({ complete: true, erased: { memories: 1 } });
    expect((await call("GET", "/api/v1/memories/ana?status=all")).json.total).toBe(0);
    expect((await call("GET", "/api/v1/memories/eva")).json.total).toBe(1);
  });
});

describe("two projects", () => {
  it("cannot see each other's user of the same name", async () => {
    const other = { authorization: `Bearer ${keys.create({ project: "shop" }).key}` };
    const { id } = await add("ana", "Ana uses Magnet.");
    const { json: receipt } = await call("POST", "/api/v1/erasures", { user_id: "ana", about: "Magnet" });
    const { id: kept } = await add("ana", "Ana uses Shram.");
    const seen = await Promise.all([
      call("GET", "/api/v1/memories/ana?status=all", undefined, other),
      call("POST", "/api/v1/memories/ana/search?query=Shram", undefined, other),
    ]);
    expect(seen.map(({ json }) => json.items)).toEqual([[], []]);
    const refused = await Promise.all([
      call("GET", `/api/v1/memories/ana/${kept}`, undefined, other),
      call("PATCH", `/api/v1/memories/ana/${kept}`, { content: "Gotcha." }, other),
      call("DELETE", `/api/v1/memories/ana/${kept}`, undefined, other),
      call("GET", `/api/v1/memories/ana/${kept}/history`, undefined, other),
      call("GET", `/api/v1/memories/ana/${id}/history`, undefined, other),
      call("POST", "/api/v1/erasures", { user_id: "ana", ids: [kept] }, other),
      call("GET", `/api/v1/erasures/${receipt.id}`, undefined, other),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 404));
    await call("DELETE", "/api/v1/memories/ana/all", undefined, other);
    expect((await call("GET", "/api/v1/memories/ana")).json.items).toMatchObject([{ id: kept, version: 1 }]);
  });

  it("cannot be chosen by a name in the request", async () => {
    const { status } = await call("POST", "/api/v1/memories", {
      user_id: "ana",
      content: "x",
      project: "shop",
    });
    expect(status).toBe(400);
  });
});

describe("a conversation", () => {
  it("returns its sources, its changes, its turn and its cost", async () => {
    const told = await call("POST", "/api/v1/conversation", {
      user_id: "ana",
      message: "I use Shram.",
      session_id: "s1",
    });
    expect(told.json).toMatchObject({
      turn_number: 1,
      memories_used: [],
      receipt: { memories: [{ action: "added" }] },
    });
    const asked = await call("POST", "/api/v1/conversation", {
      user_id: "ana",
      message: "What do I use?",
      session_id: "s2",
      turn_number: 9,
    });
    expect(asked.json).toMatchObject({ turn_number: 9, usage: { memories_used: 1, prompt_tokens: 0 } });
    expect(asked.json.reply).toContain("Shram");
    expect(asked.json.memories_used[0].sources[0].quote).toContain("Shram");
  });

  it("shows no erased data if one message asks and forgets", async () => {
    await call("POST", "/api/v1/conversation", { user_id: "ana", message: "I use Shram and Magnet." });
    const { json } = await call("POST", "/api/v1/conversation", {
      user_id: "ana",
      message: "What do I use? Forget that I ever mentioned Magnet.",
    });
    expect(json.receipt.erasures).toMatchObject([{ erased: { memories: 1 } }]);
    expect(JSON.stringify(json)).not.toContain("Magnet");
  });

  it("omits the memories on request, and still counts them", async () => {
    await call("POST", "/api/v1/conversation", { user_id: "ana", message: "I use Shram." });
    const { json } = await call("POST", "/api/v1/conversation", {
      user_id: "ana",
      message: "What do I use?",
      include_memories: false,
    });
    expect(json).toMatchObject({ memories_used: [], usage: { memories_used: 1 } });
  });

  it("streams its reply in parts, and the full response at the end", async () => {
    await call("POST", "/api/v1/conversation", { user_id: "ana", message: "I use Shram." });
    const response = await app.request("/api/v1/conversation", {
      method: "POST",
      headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/json" },
      body: JSON.stringify({ user_id: "ana", message: "What do I use?", stream: true }),
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = (await response.text())
      .trim()
      .split("\n\n")
      .map((event) => {
        const [name, data] = event.split("\n");
        return { name: name?.slice(7), data: JSON.parse(data?.slice(6) ?? "") as Json };
      });
    const done = events.at(-1);
    expect(done).toMatchObject({ name: "done", data: { turn_number: 2, usage: { memories_used: 1 } } });
    const parts = events.filter(({ name }) => name === "part").map(({ data }) => data.text);
    expect(parts.join("")).toBe(done?.data.reply);
    expect(parts.length).toBeGreaterThan(1);
  });
});

describe("the two simple calls", () => {
  it("store, answer, and forget, by a sentence or by a name", async () => {
    const say = async (message: string): Promise<string> =>
      (await call("POST", "/message", { userId: "ana", message })).json.reply;
    await say("I use Shram and Magnet as productivity tools.");
    expect(await say("What are the productivity tools that I use?")).toMatch(/Shram.*Magnet|Magnet.*Shram/);
    const { json } = await call("POST", "/forget", {
      userId: "ana",
      message: "Forget that I ever mentioned Magnet.",
    });
    expect(json.reply).toMatch(/^Forgotten: 1 memory/);
    expect(json.reply).not.toContain("Magnet");
    expect(await say("What are the productivity tools that I use?")).not.toContain("Magnet");
    expect((await call("POST", "/forget", { userId: "ana", message: "Shram" })).json.reply).toMatch(
      /^Forgotten/,
    );
    expect((await call("POST", "/forget", { userId: "ana", message: "Zettlr" })).json.reply).toMatch(
      /nothing/,
    );
  });
});
