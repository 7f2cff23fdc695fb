import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prometheusMeter } from "../../src/adapters/prometheus/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { API_OPERATIONS } from "../../src/http/app.ts";
import { apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import type { ApiDocument } from "../../src/http/openapi/document.ts";
import { createMemory } from "../../src/memory.ts";
import { type Echo, echo } from "../tenants/echo.ts";
import { type Conformance, conformance } from "./conforms.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let keepsake: Keepsake;
let model: Echo;
let app: ReturnType<typeof httpApp>;
let key: string;
let keyRing: ReturnType<typeof apiKeys>;
let rules: Conformance;
const visited = new Set<string>();

beforeAll(async () => {
  const embedders = { second: { ...staticEmbedder(), fingerprint: "second/256" } };
  keepsake = await createMemory({ path: ":memory:", clock, embedders, webhooks: { allowsLoopback: true } });
  const keys = apiKeys({ store: passingKeys(), clock });
  keyRing = keys;
  key = keys.first ?? "";
  model = await echo();
  app = httpApp({
    keepsake,
    keys,
    metrics: { text: async () => prometheusMeter().text() },
    settings: [
      { name: "KEEPSAKE_API_KEY", from: "environment", hidden: true },
      { name: "KEEPSAKE_CACHE_MB", from: "settings_file", value: "64" },
      { name: "KEEPSAKE_PORT", from: "default" },
    ],
    proxy: { upstream: { baseUrl: model.url }, anthropic: { baseUrl: model.url } },
  });
  rules = conformance((await (await app.request("/openapi.json")).json()) as ApiDocument);
});
afterAll(async () => {
  await keepsake.close();
  await model.close();
});

/** Calls, and holds what comes back against the document. */
async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Json; text: string; headers: Headers }> {
  const response = await app.request(path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const { status } = response;
  const text = await response.text();
  const told = [method, path, status];
  expect([...told, rules.faults(method, path, { status, headers: response.headers, body: text })]).toEqual([
    ...told,
    [],
  ]);
  if (status < 400) visited.add(rules.operationOf(method, path) ?? "");
  const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "");
  return { status, text, json: isJson ? JSON.parse(text) : undefined, headers: response.headers };
}

describe("every answer holds to the document", () => {
  it("of the server itself", async () => {
    await call("GET", "/api/v1/health");
    await call("GET", "/api/v1/ready");
    await call("GET", "/openapi.json");
    await call("GET", "/docs");
  });

  it("of a conversation", async () => {
    const say = (message: string, more: object = {}) =>
      call("POST", "/api/v1/conversation", { user_id: "ana", message, ...more });
    await say("I use Shram and Magnet as productivity tools.", { session_id: "one" });
    await say("What are the productivity tools that I use?", { session_id: "two", include_memories: true });
    await say("What are the productivity tools that I use?", { stream: true });
    await say("My sister Eva lives in Porto and her birthday is on 3 May 1990.");
    await say("I don't use Magnet anymore.");
    await say("Forget that I ever mentioned Magnet.");
    await say("Forget everything you know about me.");
    await call("POST", "/message", { userId: "bob", message: "I use Shram." });
    await call("POST", "/forget", { userId: "bob", message: "Forget Shram." });
    await call("POST", "/api/v1/messages", {
      user_id: "ana",
      session_id: "three",
      messages: [
        {
          id: "m1",
          role: "user",
          content: "I live in Porto.",
          at: "2026-02-01T10:00:00+01:00",
          metadata: { from: "test" },
        },
        { role: "assistant", content: [{ type: "text", text: "How nice." }] },
        { role: "user", content: "My password is hunter2hunter2. I am allergic to penicillin." },
      ],
    });
  });

  it("of associations", async () => {
    const add = async (content: string): Promise<string> =>
      (await call("POST", "/api/v1/memories", { user_id: "eve", content })).json.id;
    const [home, gym] = [await add("Eve lives in Faro."), await add("Eve trains in Faro.")];
    const [links, ends] = ["/api/v1/memories/eve/links", `from=${gym}&to=${home}`];
    await call("POST", links, { from: gym, to: home, type: "depends_on", strength: 0.5 });
    await call("GET", `${links}?memory=${home}&limit=1`);
    await call("GET", `/api/v1/memories/eve/${home}/related?depth=2&min_strength=0.5&inferred=false`);
    await call("PATCH", `/api/v1/memories/eve/${home}`, { content: "Eve lives in Lagos." });
    expect((await call("GET", "/api/v1/memories/eve?review=true")).json.total).toBe(1);
    await call("PATCH", `/api/v1/memories/eve/${gym}`, { reviewed: true });
    await call("DELETE", `${links}?${ends}&type=depends_on`);
    expect((await call("DELETE", `${links}?${ends}`)).status).toBe(404);
    expect((await call("GET", "/api/v1/memories/eve/stats")).json).toMatchObject({ links: 0, review: 0 });
    await call("GET", "/api/v1/history/eve");
    const changes = await call("GET", "/api/v1/changes?user_id=eve&after=1&limit=2");
    expect(changes.json).toMatchObject({ items: [{ revision: 2 }, { revision: 3 }], after: 3, more: true });
  });

  it("of overviews", async () => {
    for (const content of ["Una works at Vantor.", "Una's boss is Petra."])
      await call("POST", "/api/v1/memories", { user_id: "una", content });
    const clusters = await call("GET", "/api/v1/memories/una/clusters?limit=3&memories=1&kind=semantic");
    expect(clusters.json).toMatchObject({ total: 2, left: 0 });
    const reflections = await call(
      "GET",
      "/api/v1/memories/una/reflections?topic=work&min_memories=1&limit=5",
    );
    expect(reflections.json).toMatchObject({ total: 1 });
    expect((await call("GET", "/api/v1/memories/una/reflections?from=never")).status).toBe(400);
    const facets = await call("GET", "/api/v1/memories/una/facets?by=topic&sensitive=false&limit=5");
    expect(facets.json).toMatchObject({ items: [{ value: "work", count: 2 }], total: 2, left: 0 });
    expect((await call("GET", "/api/v1/memories/una?topic=work&limit=1")).json.total).toBe(2);
    expect((await call("GET", "/api/v1/memories/una/facets?by=mood")).status).toBe(400);
  });

  it("of sharing", async () => {
    const { json: made } = await call("POST", "/api/v1/memories", {
      user_id: "ivy",
      content: "The spare key is at the bakery.",
      metadata: { roomNr: 3 },
    });
    const { json: group } = await call("POST", "/api/v1/groups/ivy", {
      name: "home",
      members: ["ivy", "jo"],
    });
    const share = (body: object) => call("POST", "/api/v1/grants/ivy", body);
    const { json: first } = await share({
      to_user: "jo",
      where: { roomNr: 3 },
      until: "2026-04-01T00:00:00Z",
    });
    expect(first).toMatchObject({ to_user: "jo", state: "active", what: { where: { roomNr: 3 } } });
    await share({
      to_group: "home",
      about: ["spare key"],
      where_text: { $contains: "bakery" },
      messages: true,
    });
    await share({ to_group: group.id, ids: [made.id], kinds: ["fact"], sensitive: true });
    expect((await share({ to_user: "jo" })).status).toBe(400);
    expect((await share({ to_group: "none", everything: true })).status).toBe(404);
    const { json: found } = await call("POST", "/api/v1/memories/jo/search", { query: "spare key" });
    expect(found.items[0]).toMatchObject({ owner: "ivy", text: "The spare key is at the bakery." });
    const { json: context } = await call("POST", "/api/v1/context", { user_id: "jo", request: "spare key" });
    expect(context.items[0].owner).toBe("ivy");
    await call("GET", `/api/v1/memories/jo/recalls/${found.id}`);
    expect((await call("GET", "/api/v1/prompts/jo")).json).toEqual({ items: [], total: 0 });
    expect((await call("GET", "/api/v1/prompts/jo?session_id=%20")).status).toBe(400);
    const without = { user_id: "jo", request: "spare key", shared: false };
    expect((await call("POST", "/api/v1/context", without)).json.items).toEqual([]);
    await call("GET", "/api/v1/prompts/jo?limit=1");
    expect((await call("GET", "/api/v1/shared/jo?limit=1")).json.total).toBe(1);
    const hide = (isPrivate: boolean) =>
      call("PATCH", `/api/v1/memories/ivy/${made.id}`, { private: isPrivate });
    expect((await hide(true)).json.metadata).toMatchObject({ private: true });
    expect((await call("GET", "/api/v1/shared/jo")).json.total).toBe(0);
    await hide(false);
    expect((await call("GET", "/api/v1/shared/jo")).json.total).toBe(1);
    await call("GET", `/api/v1/shared/ivy?grant=${first.id}`);
    expect((await call("PATCH", `/api/v1/grants/jo/${first.id}`, { declined: true })).json.state).toBe(
      "declined",
    );
    expect((await call("PATCH", `/api/v1/grants/jo/${first.id}`, { declined: false })).json.state).toBe(
      "active",
    );
    expect((await call("DELETE", `/api/v1/grants/ivy/${first.id}`)).json.state).toBe("withdrawn");
    expect((await call("GET", "/api/v1/grants/jo")).json.received).toHaveLength(2);
    expect((await call("GET", "/api/v1/grants/ivy?all=true")).json.given).toHaveLength(3);
    expect((await call("GET", "/api/v1/groups/jo")).json.groups).toHaveLength(1);
    expect((await call("DELETE", `/api/v1/groups/ivy/${group.id}`)).status).toBe(204);
    expect((await call("POST", "/api/v1/memories/jo/search", { query: "spare key" })).json.items).toEqual([]);
    await call("GET", "/api/v1/export/ivy");
  });

  it("of memories", async () => {
    const { json: made } = await call("POST", "/api/v1/memories", {
      user_id: "ana",
      content: "Ana lives in Faro.",
      type: "fact",
      claim: { subject: "user", relation: "live in", value: "Faro" },
      source_turn: 7,
      confidence: 0.8,
      valid_from: "2026-01-01",
      expires_at: "2027-01-01T00:00:00Z",
      metadata: { from: "test", tags: ["a", 1, null] },
    });
    await call("GET", `/api/v1/memories/ana/${made.id}`);
    await call("PATCH", `/api/v1/memories/ana/${made.id}`, { content: "Ana lives in Braga." });
    await call("GET", `/api/v1/memories/ana/${made.id}/history`);
    const removed = await call("DELETE", `/api/v1/memories/ana/${made.id}`);
    await call("POST", "/api/v1/memories/ana/undo", { revision: removed.json.revision });
    await call("GET", "/api/v1/memories/ana?status=all&limit=2");
    await call(
      "GET",
      "/api/v1/memories/ana?sort=oldest&offset=1&from=2026-01-01&origin=api&session_id=three",
    );
    expect((await call("GET", "/api/v1/memories/ana?as_of=2026-02-20&status=all")).status).toBe(400);
    await call("GET", "/api/v1/memories/ana?as_of=2026-02-20");
    expect((await call("GET", "/api/v1/memories/ana?known_at=2020-01-01")).json.total).toBe(0);
    expect((await call("GET", "/api/v1/memories/ana/facets?by=month&zone=Nowhere")).status).toBe(400);
    await call("GET", "/api/v1/memories/ana/stats");
    await call("GET", "/api/v1/stats?by=day&since=2026-01-01");
    await call("GET", "/metrics");
    const found = await call("POST", "/api/v1/memories/ana/search", {
      query: "Where does Ana live?",
      explain: true,
    });
    await call("POST", "/api/v1/memories/ana/search?query=productivity&top_k=1");
    await call("POST", "/api/v1/memories/ana/search", { query: "Where does Ana live?", record: false });
    await call("POST", "/api/v1/context", { user_id: "ana", request: "Plan my week.", max_tokens: 400 });
    await call("GET", `/api/v1/memories/ana/recalls/${found.json.id}?about=${made.id}`);
  });

  it("of images and recordings", async () => {
    const [path, gif] = ["/api/v1/attachments/zoe", { "content-type": "image/gif" }];
    const about = new URLSearchParams({
      description: "My cat is called Quixote.",
      text: "Look!",
      session_id: "s",
    });
    const added = await call("POST", `${path}?${about}&message_id=p1&at=2026-02-01`, "GIF89a, a cat", gif);
    expect(added.json).toMatchObject({ messages: ["p1"] });
    await call("POST", `${path}?message_id=p1`, "GIF89a, a cat", gif);
    const again = { ...gif, "idempotency-key": "a picture" };
    const once = await call("POST", path, "GIF89a, a dog", again);
    expect((await call("POST", path, "GIF89a, a dog", again)).json).toEqual(once.json);
    expect((await call("POST", path, "GIF89a, a fox", again)).status).toBe(409);
    await call("POST", "/api/v1/erasures", { user_id: "zoe", ids: once.json.messages });
    expect((await call("POST", path, "%PDF", gif)).status).toBe(400);
    expect((await call("POST", path, "<svg/>", { "content-type": "image/svg+xml" })).status).toBe(415);
    const content = [
      { type: "audio", data: Buffer.from("OggS, a song").toString("base64") },
      { type: "image", url: "https://a.example/x.png", description: "A door." },
    ];
    await call("POST", "/api/v1/messages", { user_id: "zoe", messages: [{ role: "user", content }] });
    const { json: page } = await call("GET", `${path}?limit=2`);
    expect(page).toMatchObject({ total: 3, cursor: expect.any(String) });
    const { json: rest } = await call("GET", `${path}?cursor=${page.cursor}&type=image&session_id=s`);
    const [{ id }] = rest.items;
    expect((await call("GET", `${path}/${id}`)).json).toMatchObject({
      media_type: "image/gif",
      is_kept: true,
    });
    const file = await call("GET", `${path}/${id}/content`);
    expect(file.text).toBe("GIF89a, a cat");
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "image/gif",
      "content-disposition": `attachment; filename="${id.slice(0, 12)}.gif"`,
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    const door = page.items.find(({ url }: Json) => url);
    expect((await call("GET", `${path}/${door.id}/content`)).status).toBe(404);
    expect((await call("GET", `${path}?cursor=x`)).status).toBe(400);
    const erased = await call("DELETE", `${path}/${id}`);
    expect(erased.json).toMatchObject({ complete: true, erased: { attachments: 1 } });
    expect((await call("GET", `${path}/${id}/content`)).status).toBe(404);
    expect((await call("DELETE", `${path}/${id}`)).status).toBe(404);
    const more = { user_id: "zoe", attachments: [door.id] };
    expect((await call("POST", "/api/v1/erasures", { ...more, dry_run: true })).json.messages).toMatchObject([
      { attachments: 1 },
    ]);
    expect((await call("POST", "/api/v1/erasures", more)).status).toBe(201);
    expect((await call("GET", path)).json.total).toBe(1);
  });

  it("of sessions, history, and what is moved", async () => {
    await call("GET", "/api/v1/sessions/ana?limit=1");
    await call("GET", "/api/v1/sessions/ana/three");
    await call("GET", "/api/v1/sessions/ana/nothing");
    await call("GET", "/api/v1/messages/ana/m1");
    await call("GET", "/api/v1/messages/ana/nothing");
    const state = { session_id: "state", topic: "Trip", context: { step: 1 }, preferences: null };
    await call("POST", "/api/v1/sessions/ana", state);
    await call("POST", "/api/v1/sessions/ana", state);
    await call("PATCH", "/api/v1/sessions/ana/state/state", { topic: null, preferences: { tone: "short" } });
    await call("GET", "/api/v1/sessions/ana/state/state");
    await call("GET", "/api/v1/sessions/ana/nothing/state");
    await call("DELETE", "/api/v1/sessions/ana/state/state");
    await call("GET", "/api/v1/history/ana?limit=2");
    await call("GET", "/api/v1/profile/ana?max_tokens=100");
    await call("GET", "/api/v1/users?limit=1");
    const { text } = await call("GET", "/api/v1/export/ana");
    const lines = { "content-type": "application/x-ndjson" };
    await call("POST", "/api/v1/import/copy", text, lines);
    await call("POST", "/api/v1/import/copy", "no JSON", lines);
    await call("POST", "/api/v1/import/copy", text);
    await call("DELETE", "/api/v1/sessions/ana/three");
  });

  it("of erasures", async () => {
    await call("POST", "/api/v1/erasures", { user_id: "ana", about: "Braga", dry_run: true });
    const { json: receipt } = await call("POST", "/api/v1/erasures", { user_id: "ana", about: "Braga" });
    await call("POST", "/api/v1/erasures", { user_id: "ana", about: "Zanzibar" });
    await call("GET", "/api/v1/erasures?user_id=ana");
    await call("GET", `/api/v1/erasures/${receipt.id}`);
    await call("DELETE", "/api/v1/memories/ana/all");
  });

  it("of what looks after memories", async () => {
    for (const content of ["The user keeps bees.", "User keeps bees"]) {
      await call("POST", "/api/v1/memories", { user_id: "ida", content });
    }
    const plan = await call("POST", "/api/v1/memories/ida/optimize?dry_run=true&current_turn=7");
    expect(plan.json).toMatchObject({
      dry_run: true,
      jobs: [{}, { memories: [{ action: "merged" }] }, {}, {}],
    });
    const { json } = await call("POST", "/api/v1/memories/ida/optimize");
    expect(json.jobs[1].revisions).toEqual([3]);
    await call("GET", "/api/v1/memories/ida?status=all");
    await call("POST", "/api/v1/memories/ida/optimize?dry_run=perhaps");
    const { items } = (await call("GET", "/api/v1/jobs")).json;
    expect(items.map(({ name }: Json) => name)).toContain("consolidation");
  });

  it("of settings: values for the project of the operator, names alone for others", async () => {
    expect((await call("GET", "/api/v1/settings")).json).toEqual({
      items: [
        { name: "KEEPSAKE_API_KEY", from: "environment", hidden: true },
        { name: "KEEPSAKE_CACHE_MB", from: "settings_file", value: "64" },
        { name: "KEEPSAKE_PORT", from: "default" },
      ],
      total: 3,
    });
    const { key: other } = keyRing.create({ project: "shop", scopes: ["admin"] });
    const theirs = await call("GET", "/api/v1/settings", undefined, { authorization: `Bearer ${other}` });
    expect(theirs.json.items[1]).toEqual({ name: "KEEPSAKE_CACHE_MB", from: "settings_file", hidden: true });
    expect(theirs.text).not.toContain("64");
  });

  it("of keys", async () => {
    const { json: made } = await call("POST", "/api/v1/keys", {
      label: "for a test",
      scopes: ["read", "admin"],
    });
    await call("GET", "/api/v1/keys");
    await call("POST", `/api/v1/keys/${made.id}/rotate`, { grace_seconds: 0 });
    await call("DELETE", `/api/v1/keys/${made.id}`);
    await call("DELETE", "/api/v1/keys/nothing");
  });

  it("of embedders", async () => {
    await call("POST", "/api/v1/memories", { user_id: "eli", content: "Eli plays the oboe." });
    const [project, user] = ["/api/v1/embedders", "/api/v1/embedders/eli"];
    const { json: first } = await call("GET", user);
    expect(first).toMatchObject({ embedder: "default", from: "default", available: ["default", "second"] });
    expect(first.progress).toMatchObject({ left: 0, total: 1 });
    expect((await call("PUT", project, { embedder: "second" })).json).toMatchObject({
      embedder: "second",
      from: "project",
      configured: true,
      users: [],
    });
    expect((await call("GET", user)).json).toMatchObject({ embedder: "second", from: "project" });
    expect((await call("PUT", user, { embedder: "default" })).json).toMatchObject({ from: "user" });
    expect((await call("GET", project)).json.users).toEqual([{ user_id: "eli", embedder: "default" }]);
    const { status, json } = await call("PUT", user, { embedder: "unknown" });
    expect([status, json.code, json.detail]).toEqual([
      400,
      "invalid_input",
      "There is no embedder of that name. Available: default, second.",
    ]);
    expect((await call("DELETE", user)).json).toMatchObject({ embedder: "second", from: "project" });
    expect((await call("DELETE", project)).json).toMatchObject({ embedder: "default", from: "default" });
  });

  it("of webhooks", async () => {
    const hook = {
      url: "http://127.0.0.1:9/",
      events: ["content.erased"],
      label: "for a test",
      enabled: false,
    };
    const { json: made } = await call("POST", "/api/v1/webhooks", hook);
    expect(made.secret).toMatch(/^whsec_/);
    const path = `/api/v1/webhooks/${made.id}`;
    expect((await call("GET", "/api/v1/webhooks")).json).toMatchObject({
      total: 1,
      items: [{ id: made.id }],
    });
    expect((await call("POST", `${path}/test`)).json).toMatchObject({ problem: "no_connection", attempt: 1 });
    expect((await call("GET", `${path}/attempts`)).json).toEqual({ items: [] });
    expect((await call("PATCH", path, { label: "changed" })).json).toMatchObject({ label: "changed" });
    const { json: rotated } = await call("POST", `${path}/rotate`, { grace_seconds: 60 });
    expect(rotated.secret).not.toBe(made.secret);
    expect((await call("GET", path)).json.old_secret_until).toBe("2026-03-01T12:01:00.000Z");
    expect((await call("GET", path)).text).not.toContain("whsec_");
    await call("POST", "/api/v1/webhooks", { url: "https://10.0.0.1/" });
    await call("PATCH", path, { events: [] });
    await call("DELETE", path);
    expect((await call("GET", path)).status).toBe(404);
  });

  it("of OpenAI's protocol", async () => {
    const messages = [{ role: "user", content: "What do I use?" }];
    await call("POST", "/v1/chat/completions", { model: "echo", user: "ana", messages });
    await call("POST", "/v1/responses", { model: "echo", user: "ana", input: "What do I use?" });
    await call("POST", "/v1/embeddings", { model: "echo", input: "A word." });
    await call("GET", "/v1/models");
    await call("GET", "/v1/models/echo");
    const named = { "x-keepsake-user": "ana" };
    const items = [
      { role: "user", content: "I like cork." },
      { role: "assistant", content: "Noted." },
    ];
    const made = await call("POST", "/v1/conversations", { items, metadata: { topic: "cork" } }, named);
    const place = `/v1/conversations/${made.json.id}`;
    await call("GET", place, undefined, named);
    await call("POST", place, { metadata: { topic: "bark" } }, named);
    await call("POST", `${place}/items`, { items }, named);
    const page = await call(
      "GET",
      `${place}/items?limit=2&order=asc&include=reasoning.encrypted_content`,
      undefined,
      named,
    );
    expect(page.json).toMatchObject({ has_more: true, data: [{ role: "user" }, { role: "assistant" }] });
    const item = `${place}/items/${page.json.first_id}`;
    await call("GET", item, undefined, named);
    await call("DELETE", item, undefined, named);
    await call("GET", item, undefined, named);
    await call("DELETE", place, undefined, named);
    await call("GET", place, undefined, named);
    await call("GET", place);
    const asked = await call("POST", "/v1/responses", { model: "echo", input: "I like cork." }, named);
    const response = `/v1/responses/${asked.json.id}`;
    expect((await call("GET", response, undefined, named)).json).toMatchObject({ id: asked.json.id });
    await call("GET", `${response}/input_items?limit=2&order=asc`, undefined, named);
    await call("DELETE", response, undefined, named);
    expect((await call("GET", response, undefined, named)).status).toBe(404);
    await call("GET", `${response}/input_items`, undefined, named);
    await call("DELETE", response, undefined, named);
  });

  it("of Anthropic's protocol", async () => {
    const messages = [{ role: "user", content: "What do I use?" }];
    const body = { model: "echo", metadata: { user_id: "ana" }, messages };
    await call("POST", "/v1/messages", body);
    await call("POST", "/v1/messages/count_tokens", body);
    const built = { ...body, model: "keepsake" };
    expect((await call("POST", "/v1/messages", built)).json.content).toHaveLength(1);
    expect((await call("POST", "/v1/messages/count_tokens", built)).json.input_tokens).toBeGreaterThan(3);
    await call("POST", "/v1/messages", "no JSON");
    await call("POST", "/v1/messages", "{}", { "content-type": "text/plain" });
    await call("POST", "/v1/messages", body, { authorization: "Bearer nothing" });
    await call("POST", "/v1/messages", body, { host: "evil.example" });
  });

  it("of signing in and out", async () => {
    const { headers, json } = await call("POST", "/session", { key });
    const signedIn = {
      cookie: headers.get("set-cookie")?.split(";")[0] ?? "",
      "x-keepsake-proof": json.proof,
    };
    await call("GET", "/session", undefined, signedIn);
    await call("DELETE", "/session", undefined, signedIn);
  });

  it("that is a problem", async () => {
    await call("GET", "/api/v1/ready", undefined, { authorization: "Bearer nothing" });
    await call("GET", "/api/v1/ready", undefined, { host: "evil.example" });
    await call("GET", "/api/v1/memories/ana/nothing");
    await call("POST", "/api/v1/messages", "no JSON");
    await call("POST", "/api/v1/messages", "{}", { "content-type": "text/plain" });
    await call("POST", "/api/v1/messages", { user_id: "ana", messages: [], colour: "red" });
    await call("POST", "/message", { userId: "ana", message: "x".repeat(1_100_000) });
    await call("GET", "/api/v1/memories/ana?limit=0");
    await call("GET", "/api/v1/memories/ana?colour=red");
    await call("POST", "/session", { key: "nothing" });
  });

  it("and a fault in one would be seen", () => {
    const faults = (body: object, status = 200, type = "application/json") => {
      const headers = new Headers({ "content-type": type, "x-request-id": "1" });
      return rules.faults("GET", "/api/v1/health", { status, headers, body: JSON.stringify(body) });
    };
    expect(faults({ status: "ok" })).toEqual([]);
    expect(faults({ status: "well" })).toHaveLength(1);
    expect(faults({ status: "ok", colour: "red" })).toHaveLength(1);
    expect(faults({ status: "ok" }, 200, "text/html")).toHaveLength(1);
    expect(faults({ status: "ok" }, 418)).toHaveLength(1);
  });

  it("and no operation is left out", () => {
    const all = API_OPERATIONS.filter(({ isHidden }) => !isHidden).map(({ id }) => id);
    expect(all.filter((id) => !visited.has(id))).toEqual([]);
  });
});
