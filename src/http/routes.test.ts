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

const send = (
  method: string,
  path: string,
  body?: RequestInit["body"],
  type = "application/json",
  key = keys.first,
) =>
  app.request(path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": type },
    ...(body === undefined ? {} : { body }),
    duplex: "half",
  } as RequestInit);

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; json: Json }> {
  const response = await send(method, path, body === undefined ? undefined : JSON.stringify(body));
  return { status: response.status, json: await response.json() };
}

const say = (session_id: string, ...contents: string[]) =>
  call("POST", "/api/v1/messages", {
    user_id: "ana",
    session_id,
    messages: contents.map((content) => ({ role: "user", content })),
  });
const take = (user: string, lines: RequestInit["body"], query = "") =>
  send("POST", `/api/v1/import/${user}${query}`, lines, "application/x-ndjson");
const linesOf = (...lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** All entries of a list, page by page. */
async function all(path: string, limit: number): Promise<Json[]> {
  const entries: Json[] = [];
  let cursor: string | undefined;
  do {
    const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { json } = await call("GET", `${path}?limit=${limit}${next}`);
    expect(json.items.length).toBeLessThanOrEqual(limit);
    entries.push(...json.items);
    expect(json.cursor).toBe(json.next_cursor);
    cursor = json.cursor;
  } while (cursor !== undefined);
  return entries;
}

describe("lists", () => {
  it("give each entry once, whatever the page size", async () => {
    for (const place of ["Porto", "Faro", "Lisbon", "Braga", "Evora"]) {
      await say(`trip to ${place}`, `I have been to ${place}.`, "It rained.");
    }
    const { json: memory } = await call("POST", "/api/v1/memories", {
      user_id: "ana",
      content: "Ana likes cork.",
    });
    for (const importance of [0.1, 0.2, 0.3]) {
      await call("PATCH", `/api/v1/memories/ana/${memory.id}`, { importance });
    }
    for (const about of ["Porto", "Faro", "Lisbon"]) {
      await call("POST", "/api/v1/erasures", { user_id: "ana", about });
    }
    await call("POST", "/api/v1/memories", { user_id: "eva", content: "Eva likes tea." });
    const lists = {
      "/api/v1/memories/ana": 3,
      "/api/v1/sessions/ana": 5,
      "/api/v1/history/ana": 12,
      "/api/v1/erasures": 3,
      [`/api/v1/memories/ana/${memory.id}/history`]: 4,
      "/api/v1/users": 2,
    };
    for (const [path, total] of Object.entries(lists)) {
      const whole = await all(path, 1000);
      expect([path, whole.length]).toEqual([path, total]);
      for (const limit of [1, 2, 3])
        expect([path, limit, await all(path, limit)]).toEqual([path, limit, whole]);
      const wrong = await call("GET", `${path}?cursor=${encodeURIComponent("*")}`);
      if (path !== "/api/v1/users") expect([path, wrong.status]).toEqual([path, 400]);
    }
  });
});

describe("sessions", () => {
  it("are listed, read and erased, with memories that come only from them", async () => {
    await say("one", "I use Shram.");
    await say("two", "I use Magnet.");
    const { json: read } = await call("GET", "/api/v1/sessions/ana/two");
    expect(read).toMatchObject({
      id: "two",
      user_id: "ana",
      total: 1,
      items: [{ content: "I use Magnet." }],
    });
    const { json: receipt } = await call("DELETE", "/api/v1/sessions/ana/two");
    expect(receipt).toMatchObject({ complete: true, erased: { memories: 1, messages: 1 } });
    expect((await call("GET", "/api/v1/sessions/ana/two")).status).toBe(404);
    expect((await call("DELETE", "/api/v1/sessions/ana/two")).status).toBe(404);
    expect((await call("GET", "/api/v1/sessions/ana")).json.items.map(({ id }: Json) => id)).toEqual(["one"]);
    expect((await call("GET", "/api/v1/memories/ana?status=all")).json.total).toBe(1);
  });
});

describe("history", () => {
  it("gives the revisions for undo", async () => {
    await say("one", "I use Shram.");
    await say("one", "I use Magnet.");
    const { json } = await call("GET", "/api/v1/history/ana?limit=1");
    expect(json.items).toMatchObject([{ revision: 2, cause: "remember", memories: [{ action: "added" }] }]);
    await call("POST", "/api/v1/memories/ana/undo", { revision: json.items[0].revision });
    expect((await call("GET", "/api/v1/memories/ana")).json.total).toBe(1);
    expect((await call("GET", "/api/v1/history/ana")).json.items[0]).toMatchObject({
      cause: "undo",
      undoes: 2,
    });
  });
});

describe("the profile", () => {
  it("gives current memories with sources, within a budget", async () => {
    await say("one", "I live in Porto. I use Shram and Magnet.", "I don't use Magnet anymore.");
    const { json } = await call("GET", "/api/v1/profile/ana");
    expect(json).toMatchObject({ user_id: "ana", left: 0 });
    expect(json.text).toContain("Porto");
    expect(json.text).not.toContain("Magnet");
    expect(json.sections[0].lines[0].memories).toHaveLength(1);
    const small = (await call("GET", "/api/v1/profile/ana?max_tokens=1")).json;
    expect([small.text, small.left > 0]).toEqual(["", true]);
  });
});

describe("export and import", () => {
  it("exports JSON lines and imports them once, also for another user", async () => {
    await say("one", "I use Shram.", "I live in Porto.");
    await call("POST", "/api/v1/memories", {
      user_id: "ana",
      content: "Ana likes cork.",
      type: "preference",
    });
    const response = await send("GET", "/api/v1/export/ana");
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const exported = await response.text();
    const lines = exported
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json);
    expect(lines[0]).toMatchObject({ type: "keepsake", version: 1, user: "ana" });

    const first = await take("copy", exported);
    expect(first.status).toBe(200);
    const done = (await first.json()) as Json;
    expect(done).toMatchObject({ read: 2, stored: 2, known: 0, memories: 3, passed_over: [] });
    const again = await take("copy", exported);
    expect(await again.json()).toMatchObject({ read: 2, stored: 0, known: 2, memories: 0, learnt: [] });
    const texts = (user: string) =>
      all(`/api/v1/memories/${user}`, 100).then((items) => items.map(({ text }) => text).sort());
    expect(await texts("copy")).toEqual(await texts("ana"));
  });

  it("imports plain messages, names an invalid line and keeps those before it", async () => {
    const good = Array.from({ length: 45 }, (_, i) => ({ id: `m${i}`, content: `I visited place ${i}.` }));
    const answer = await take("ana", `${linesOf(...good)}{"content": secret words}\n`);
    const problem = (await answer.json()) as Json;
    expect([answer.status, problem.code, answer.headers.get("connection")]).toEqual([
      400,
      "invalid_input",
      "close",
    ]);
    expect(problem.detail).toContain("line 46");
    expect(problem.detail).not.toContain("secret");
    const { import_id: importId, revision } = problem;
    expect(importId).toEqual(expect.any(String));
    const [newest] = await all("/api/v1/history/ana", 10);
    expect(newest).toMatchObject({ revision, import_id: importId });
    const repaired = await take("ana", linesOf(...good, { content: "I like tea." }, good[0] ?? {}));
    expect(await repaired.json()).toMatchObject({ read: 47, stored: 6, known: 41 });
  });

  it("erases nothing, whatever the messages say", async () => {
    await say("one", "I use Magnet.");
    await take("ana", linesOf({ content: "Forget that I ever mentioned Magnet." }));
    expect((await call("GET", "/api/v1/memories/ana?status=all")).json.total).toBe(1);
  });

  it("reads a stream, and refuses a line without an end", async () => {
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x78));
      },
    });
    const answer = await take("ana", endless);
    expect(answer.status).toBe(400);
    // A line holds 16 MiB at most: a message with an image in it.
    expect(sent).toBeLessThan(16 * 1024 * 1024 + 4 * 65_536);
  });

  it("imports an export of another program, first as a dry run, and takes it back with one undo", async () => {
    const chat = {
      uuid: "c",
      chat_messages: [{ uuid: "m", sender: "human", text: "I use Shram.", content: [] }],
    };
    const post = async (query: string): Promise<Json> => {
      const body = JSON.stringify([chat]);
      return (await (
        await send("POST", `/api/v1/import/ana${query}`, body, "application/json")
      ).json()) as Json;
    };
    const dry = await post("?dry_run=true");
    expect(dry).toMatchObject({ stored: 1, learnt: [{ action: "added", text: "The user uses Shram." }] });
    const total = async () => (await call("GET", "/api/v1/memories/ana")).json.total;
    expect(await total()).toBe(0);
    const done = await post("?format=claude");
    expect(await total()).toBe(1);
    const undone = await call("POST", "/api/v1/memories/ana/undo", { revision: done.revision });
    expect([undone.status, await total()]).toEqual([200, 0]);
  });

  it("exports Portable AI Memory that another user imports, and whose index names no files", async () => {
    await say("one", "I use Shram.", "I live in Porto.");
    const response = await send("GET", "/api/v1/export/ana?format=pam");
    expect(response.headers.get("content-disposition")).toContain("memory-store.json");
    const text = await response.text();
    expect(JSON.parse(text).conversations_index).toMatchObject([{ id: "one", message_count: 2 }]);
    expect(text).not.toContain('"storage"');
    const done = (await (await send("POST", "/api/v1/import/copy", text, "application/json")).json()) as Json;
    expect(done).toMatchObject({ memories: 2, passed_over: [] });
    const textsOf = async (user: string) =>
      (await all(`/api/v1/memories/${user}`, 100)).map((one) => one.text).sort();
    expect(await textsOf("copy")).toEqual(await textsOf("ana"));
    const list = await (await send("GET", "/api/v1/export/ana?format=markdown")).text();
    expect(list).toContain("The user lives in Porto.");
  });

  it("requires the content type of a file", async () => {
    const refused = await send("POST", "/api/v1/import/ana", linesOf({ content: "x" }), "image/gif");
    expect(refused.status).toBe(415);
  });

  it("needs a key with the scope read or write", async () => {
    const { key } = keys.create({ project: "default", scopes: ["read"] });
    expect((await send("GET", "/api/v1/export/ana", undefined, "application/json", key)).status).toBe(200);
    const refused = await send("POST", "/api/v1/import/ana", "{}", "application/x-ndjson", key);
    expect(refused.status).toBe(403);
  });
});
