import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { MemoryError } from "../errors.ts";
import { createMemory } from "../memory.ts";
import { API_OPERATIONS, httpApp } from "./app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";
import { getRequiredScopes } from "./operation.ts";

let now = Date.parse("2026-03-01T12:00:00Z");
const clock = () => new Date(now);
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

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Json;
  readonly headers: Headers;
}

async function call(
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = { "idempotency-key": "k1" },
): Promise<Answer> {
  const response = await app.request(path, {
    method,
    headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return {
    status: response.status,
    text,
    json: isJson ? JSON.parse(text) : undefined,
    headers: response.headers,
  };
}

const add = (content: string, key = "k1", user = "ana") =>
  call("POST", "/api/v1/memories", { user_id: user, content }, { "idempotency-key": key });
const revision = async (): Promise<number> =>
  (await call("GET", "/api/v1/memories/ana/stats", undefined, {})).json.revision;

describe("a write with an idempotency key", () => {
  it("a write sent twice under one key is executed once, with the same answer byte for byte", async () => {
    const first = await add("Ana lives in Porto.");
    const again = await add("Ana lives in Porto.");
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await revision()).toBe(1);
  });

  it("is supported by every call that writes", async () => {
    const { json: memory } = await add("Ana lives in Porto.", "add");
    const { json: other } = await add("Ana likes cork.", "other");
    const calls: [string, string, unknown][] = [
      ["PATCH", `/api/v1/memories/ana/${memory.id}`, { importance: 0.9 }],
      ["DELETE", `/api/v1/memories/ana/${memory.id}`, undefined],
      ["POST", "/api/v1/memories/ana/undo", { revision: 4 }],
      ["POST", "/message", { userId: "ana", message: "I use Shram." }],
      ["POST", "/api/v1/conversation", { user_id: "ana", message: "I use Magnet." }],
      ["POST", "/api/v1/messages", { user_id: "ana", messages: [{ role: "user", content: "I like tea." }] }],
      ["POST", "/api/v1/erasures", { user_id: "ana", ids: [other.id] }],
      ["POST", "/forget", { userId: "ana", message: "Forget tea." }],
      ["DELETE", "/api/v1/memories/ana/all", undefined],
    ];
    for (const [method, path, body] of calls) {
      const key = { "idempotency-key": `${method} ${path}`.replaceAll(" ", "_") };
      const first = await call(method, path, body, key);
      const after = await revision();
      const again = await call(method, path, body, key);
      expect([path, first.status < 300, again.text]).toEqual([path, true, first.text]);
      expect([path, await revision()]).toEqual([path, after]);
    }
  });

  it("is refused with another body, and changes nothing", async () => {
    await add("Ana lives in Porto.");
    expect(await add("Ana lives in Faro.")).toMatchObject({ status: 409, json: { code: "conflict" } });
    expect(await revision()).toBe(1);
  });

  it("is a new one for another user, another project or after a day", async () => {
    await add("Ana lives in Porto.");
    expect((await add("Eva lives in Faro.", "k1", "eva")).status).toBe(201);
    now += 86_400_001;
    expect((await add("Ana lives in Braga.")).status).toBe(201);
  });

  it("is executed once if it is sent twice at once", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => add("Ana lives in Porto.")));
    expect(
      answers.filter(({ headers, status }) => status === 201 && !headers.has("idempotent-replayed")),
    ).toHaveLength(1);
    for (const { status, headers } of answers.filter(({ status }) => status !== 201)) {
      expect([status, headers.get("retry-after")]).toEqual([409, "1"]);
    }
    expect(await revision()).toBe(1);
  });

  it("can be sent again after a failure", async () => {
    let isDown = true;
    const failing: Keepsake = {
      ...keepsake,
      scope: (named) => {
        const held = keepsake.scope(named);
        const add: typeof held.add = async (...given) => {
          if (isDown) throw new MemoryError("unavailable", "the disk is full.");
          return held.add(...given);
        };
        return { ...held, add };
      },
    };
    app = httpApp({ keepsake: failing, keys });
    expect((await add("Ana lives in Porto.")).status).toBe(503);
    isDown = false;
    expect((await add("Ana lives in Porto.")).status).toBe(201);
  });

  it("is executed after a timeout, and a repeated request gets its response", async () => {
    let go = (): void => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const slow: Keepsake = {
      ...keepsake,
      scope: (named) => {
        const own = keepsake.scope(named);
        const add: typeof own.add = async (...given) => {
          await held;
          return own.add(...given);
        };
        return { ...own, add };
      },
    };
    app = httpApp({ keepsake: slow, keys, requestMs: 30 });
    expect((await add("Ana lives in Porto.")).status).toBe(503);
    expect((await add("Ana lives in Porto.")).status).toBe(409);
    go();
    await expect.poll(async () => (await add("Ana lives in Porto.")).status).toBe(201);
    expect(await revision()).toBe(1);
  });

  it("is refused with an invalid key", async () => {
    for (const key of ["", "ü", "x".repeat(513)]) expect((await add("x", key)).status).toBe(400);
  });

  it("replays a streamed response unchanged", async () => {
    const body = { user_id: "ana", message: "I use Shram.", stream: true };
    const first = await call("POST", "/api/v1/conversation", body);
    const again = await call("POST", "/api/v1/conversation", body);
    expect(first.text).toContain("event: done");
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("a stored response after an erasure for its user", () => {
  it("is not replayed, and nothing is executed again", async () => {
    await add("Ana lives in Porto.");
    await call("POST", "/api/v1/erasures", { user_id: "ana", about: "Porto" }, {});
    const before = await revision();
    const again = await add("Ana lives in Porto.");
    expect(again).toMatchObject({ status: 410, json: { code: "not_found" } });
    expect(again.text).not.toContain("Porto");
    expect(await revision()).toBe(before);
  });

  it("is replayed if it is that of the erasure itself", async () => {
    await add("Ana lives in Porto.", "add");
    const what = { user_id: "ana", about: "Porto" };
    const first = await call("POST", "/api/v1/erasures", what);
    expect((await call("POST", "/api/v1/erasures", what)).text).toBe(first.text);
    const said = { user_id: "ana", message: "I use Magnet. Forget that I ever mentioned Magnet." };
    const replied = await call("POST", "/api/v1/conversation", said, { "idempotency-key": "k2" });
    const again = await call("POST", "/api/v1/conversation", said, { "idempotency-key": "k2" });
    expect([again.status, again.text]).toEqual([200, replied.text]);
  });
});

describe("the table", () => {
  it("supports the key in every call that writes, except those that must not", () => {
    /**
     * Keys and secrets of webhooks: the kept answer would hold them. Other calls on webhooks: a kept answer belongs to a user, and
     * they have none; the same goes for a project's embedder, whose calls may be repeated. Imports: their messages have ids. Chats: they are the upstream's.
     */
    const not = [
      "createKey",
      "rotateKey",
      "revokeKey",
      "createWebhook",
      "updateWebhook",
      "deleteWebhook",
      "testWebhook",
      "rotateWebhookSecret",
      "chooseProjectEmbedder",
      "clearProjectEmbedder",
      "importUser",
      "createChatCompletion",
      "createResponse",
    ];
    const writing = API_OPERATIONS.filter(
      (one) => one.method !== "GET" && getRequiredScopes(one).some((scope) => scope !== "read"),
    );
    const without = writing.filter(({ acceptsIdempotencyKey: takesKey }) => !takesKey).map(({ id }) => id);
    expect(without.filter((id) => !not.includes(id))).toEqual([]);
    expect(
      API_OPERATIONS.filter(({ method, acceptsIdempotencyKey: takesKey }) => method === "GET" && takesKey),
    ).toEqual([]);
  });
});
