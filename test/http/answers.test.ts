import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prometheusMeter } from "../../src/adapters/prometheus/index.ts";
import type { Keepsake } from "../../src/engine/api.ts";
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
let rules: Conformance;
const visited = new Set<string>();

beforeAll(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  const keys = apiKeys({ store: passingKeys(), clock });
  key = keys.first ?? "";
  model = await echo();
  app = httpApp({
    keepsake,
    keys,
    metrics: { text: async () => prometheusMeter().text() },
    proxy: { upstream: { baseUrl: model.url } },
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
    await call("GET", "/api/v1/memories/ana/stats");
    await call("GET", "/api/v1/stats?by=day&since=2026-01-01");
    await call("GET", "/metrics");
    const found = await call("POST", "/api/v1/memories/ana/search", {
      query: "Where does Ana live?",
      explain: true,
    });
    await call("POST", "/api/v1/memories/ana/search?query=productivity&top_k=1");
    await call("POST", "/api/v1/context", { user_id: "ana", request: "Plan my week.", max_tokens: 400 });
    await call("GET", `/api/v1/memories/ana/recalls/${found.json.id}?about=${made.id}`);
  });

  it("of sessions, history, and what is moved", async () => {
    await call("GET", "/api/v1/sessions/ana?limit=1");
    await call("GET", "/api/v1/sessions/ana/three");
    await call("GET", "/api/v1/sessions/ana/nothing");
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

  it("of OpenAI's protocol", async () => {
    const messages = [{ role: "user", content: "What do I use?" }];
    await call("POST", "/v1/chat/completions", { model: "echo", user: "ana", messages });
    await call("POST", "/v1/responses", { model: "echo", user: "ana", input: "What do I use?" });
    await call("POST", "/v1/embeddings", { model: "echo", input: "A word." });
    await call("GET", "/v1/models");
    await call("GET", "/v1/models/echo");
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
