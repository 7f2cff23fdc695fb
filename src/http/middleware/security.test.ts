import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import { httpApp, type ServerFault } from "../app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../keys/api-keys.ts";
import { isLoopback } from "./security.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
let keepsake: Keepsake;
let keys: ApiKeys;
let faults: ServerFault[];
let app: ReturnType<typeof httpApp>;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  faults = [];
  app = httpApp({ keepsake, keys, onFault: (fault) => faults.push(fault) });
});
afterEach(() => keepsake.close());

const withKey = (): Record<string, string> => ({ authorization: `Bearer ${keys.first}` });
const post = (body: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}) =>
  app.request("/message", {
    method: "POST",
    body: body as RequestInit["body"],
    headers: { ...withKey(), "content-type": "application/json", ...headers },
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  } as RequestInit);

async function problem(
  response: Response,
): Promise<{ status: number; code: string; detail: string; text: string }> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const text = await response.text();
  const body = JSON.parse(text);
  expect(body.status).toBe(response.status);
  for (const field of ["type", "title", "detail", "code"]) expect(body[field]).toEqual(expect.any(String));
  expect(body.request_id).toBe(response.headers.get("x-request-id"));
  return { ...body, text };
}

describe("who may call", () => {
  it("anybody may ask whether the server lives", async () => {
    const response = await app.request("/api/v1/health");
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  it("anybody may ask whether it is ready, and learns that alone", async () => {
    const response = await app.request("/api/v1/ready");
    expect([response.status, await response.json()]).toEqual([200, { status: "ready" }]);
  });

  it("a key is needed to be told how it stands", async () => {
    expect((await app.request("/session")).status).toBe(401);
    for (const path of ["/api/v1/health", "/api/v1/ready"]) {
      const answer = await (await app.request(path, { headers: withKey() })).json();
      expect([path, answer]).toMatchObject([
        path,
        { durability: expect.any(String), checks: expect.any(Array) },
      ]);
    }
  });

  it("a cookie that a browser sends by itself is no key to health, and no reason to refuse", async () => {
    const response = await app.request("/api/v1/health", { headers: { cookie: "keepsake_0=abc" } });
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  it.each([
    ["no key", {}],
    ["a wrong key", { authorization: `Bearer ks_${"0".repeat(12)}_${"A".repeat(43)}` }],
    ["a key without its scheme", { authorization: "hunter2" }],
    ["a cookie that nobody gave", { cookie: "keepsake_0=abc", "x-keepsake-proof": "abc" }],
  ])("%s is refused on every call, before the body is looked at", async (what, headers) => {
    // These take no key, and refuse one that is unknown.
    const open = [
      ["GET", "/api/v1/health"],
      ["GET", "/api/v1/ready"],
    ] as const;
    const calls = [
      ...(what === "no key" ? [] : open),
      ["POST", "/api/v1/conversation"],
      ["POST", "/api/v1/memories"],
      ["GET", "/api/v1/memories/ana"],
      ["GET", "/api/v1/memories/ana/x"],
      ["PATCH", "/api/v1/memories/ana/x"],
      ["DELETE", "/api/v1/memories/ana/x"],
      ["DELETE", "/api/v1/memories/ana/all"],
      ["GET", "/api/v1/memories/ana/x/history"],
      ["POST", "/api/v1/memories/ana/search"],
      ["POST", "/api/v1/memories/ana/undo"],
      ["GET", "/api/v1/memories/ana/stats"],
      ["POST", "/api/v1/messages"],
      ["POST", "/api/v1/erasures"],
      ["GET", "/api/v1/erasures/x"],
      ["POST", "/message"],
      ["POST", "/forget"],
      ["GET", "/session"],
      ["DELETE", "/session"],
    ] as const;
    for (const [method, path] of calls) {
      const body = method === "POST" ? { body: "not json" } : {};
      const response = await app.request(path, {
        method,
        headers: headers as Record<string, string>,
        ...body,
      });
      expect([path, (await problem(response)).status]).toEqual([path, 401]);
      expect(response.headers.get("www-authenticate")).toContain("Bearer");
    }
  });

  it("a page of another origin is refused, whatever it brings", async () => {
    for (const origin of ["https://evil.example", "http://localhost:1", "null"]) {
      const response = await post("{}", { host: "localhost:7420", origin });
      expect((await problem(response)).status).toBe(403);
    }
    const own = await post('{"userId":"ana","message":"Hello."}', {
      host: "localhost:7420",
      origin: "http://localhost:7420",
    });
    expect(own.status).toBe(200);
  });

  it("a name that is not ours is refused on every address (DNS rebinding)", async () => {
    for (const path of ["/", "/api/v1/health", "/api/v1/ready", "/nothing"]) {
      const response = await app.request(path, { headers: { ...withKey(), host: "evil.example:7420" } });
      expect((await problem(response)).code).toBe("forbidden");
      expect(response.status).toBe(403);
    }
    for (const host of ["127.0.0.1:7420", "LOCALHOST:7420", "[::1]:7420"]) {
      expect((await app.request("/api/v1/health", { headers: { host } })).status).toBe(200);
    }
  });

  it("a server that listens for others answers to the names it was given", async () => {
    const open = httpApp({ keepsake, keys, host: "0.0.0.0", hosts: ["memory.example"] });
    const status = async (host: string) =>
      (await open.request("/api/v1/health", { headers: { host } })).status;
    expect(await status("memory.example")).toBe(200);
    expect(await status("evil.example")).toBe(403);
  });

  it("a server that listens for others and was given names goes by this machine's own too", async () => {
    const open = httpApp({ keepsake, keys, host: "0.0.0.0", hosts: ["memory.example"] });
    for (const host of ["localhost:7420", "127.0.0.1", "Memory.Example:443"]) {
      expect((await open.request("/api/v1/health", { headers: { host } })).status).toBe(200);
    }
  });

  it.each([
    ["a name that begins like ours", "127.0.0.1.evil.example"],
    ["a name that ends like ours", "evil-localhost"],
    ["a name with a dot behind it", "localhost."],
    ["an address of this machine in another spelling", "2130706433"],
    ["an address of this machine in hex", "0x7f.1"],
    ["any address", "0.0.0.0"],
    ["an address in IPv6 dress", "[::ffff:127.0.0.1]"],
    ["two ports", "localhost:80:80"],
    ["a user before it", "localhost@evil.example"],
    ["nothing", ""],
  ])("does not go by %s", async (_what, host) => {
    const response = await app.request("/api/v1/ready", { headers: { ...withKey(), host } });
    expect((await problem(response)).status).toBe(403);
  });

  it("a page whose name was bound to this machine gets nothing by its cookie or its key", async () => {
    const rebound = { host: "evil.example:7420", origin: "http://evil.example:7420" };
    for (const path of ["/session", "/message", "/v1/chat/completions", "/api/v1/memories"]) {
      const response = await app.request(path, {
        method: "POST",
        body: "{}",
        headers: { ...withKey(), ...rebound, "content-type": "application/json" },
      });
      expect((await problem(response)).status).toBe(403);
    }
  });

  it("only what is surely this machine's own counts as such", () => {
    const own = ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost", "LOCALHOST"];
    expect(own.filter((host) => !isLoopback(host))).toEqual([]);
    const others = ["0.0.0.0", "::", "127.1", "127.evil.example", "192.168.1.2", "memory.example", ""];
    expect(others.filter(isLoopback)).toEqual([]);
  });

  it("nothing says that other origins may read an answer", async () => {
    const response = await app.request("/api/v1/health", { headers: { origin: "http://localhost" } });
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("signing the page in", () => {
  const signIn = (key: string | undefined) =>
    app.request("/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key }),
    });

  it("a key is exchanged for a cookie that scripts cannot read, and a proof", async () => {
    const response = await signIn(keys.first);
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(response.status).toBe(201);
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).not.toContain(keys.first);
    const { proof } = (await response.json()) as { proof: string };
    const value = cookie.split(";")[0] ?? "";
    const status = async (headers: Record<string, string>) =>
      (await app.request("/session", { headers })).status;
    expect(await status({ cookie: value, "x-keepsake-proof": proof })).toBe(200);
    expect(await status({ cookie: value })).toBe(401);
    expect(await status({ "x-keepsake-proof": proof })).toBe(401);

    const both = { cookie: value, "x-keepsake-proof": proof };
    expect((await app.request("/session", { method: "DELETE", headers: both })).status).toBe(204);
    expect(await status(both)).toBe(401);
  });

  it("a wrong key is refused", async () => {
    expect((await problem(await signIn("hunter2"))).status).toBe(401);
  });
});

describe("what may be sent", () => {
  it("JSON, and nothing that a form could send", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      expect((await problem(await post("{}", { "content-type": type }))).status).toBe(415);
    }
    const withCharset = await post('{"userId":"ana","message":"Hello."}', {
      "content-type": "application/json; charset=utf-8",
    });
    expect(withCharset.status).toBe(200);
  });

  it("no more than a mebibyte, said in advance or not", async () => {
    const huge = JSON.stringify({ userId: "ana", message: "x".repeat(1_100_000) });
    const told = await post(huge);
    expect(await problem(told)).toMatchObject({ status: 413, code: "invalid_input" });
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    expect(await problem(await post(endless))).toMatchObject({ status: 413 });
    expect(sent).toBeLessThan(2_000_000);
  });

  it("a text that is too long for one message is refused clearly, below that limit too", async () => {
    const answer = await problem(
      await post(JSON.stringify({ userId: "ana", message: "x".repeat(1_000_001) })),
    );
    expect(answer).toMatchObject({ status: 400, code: "invalid_input" });
    expect(answer.text).not.toContain("xxxx");
  });

  it.each([
    ["no JSON", "secret words"],
    ["half of JSON", '{"userId":"secret words'],
    ["JSON that is no object", '["secret words"]'],
    ["nothing", ""],
    ["a field that is missing", '{"message":"secret words"}'],
    ["a field of another type", '{"userId":7,"message":"secret words"}'],
    ["a field that nobody knows", '{"userId":"ana","message":"secret words","secret words":1}'],
    ["an empty message", '{"userId":"ana","message":"  "}'],
    ["an empty user", '{"userId":"","message":"secret words"}'],
    ["too deep a nest", `{"userId":"ana","message":${"[".repeat(40)}${"]".repeat(40)}}`],
    ["a dangerous name", '{"userId":"ana","message":"secret words","__proto__":{"a":1}}'],
  ])("%s is refused, and not told back", async (_what, body) => {
    const answer = await problem(await post(body));
    expect(answer).toMatchObject({ status: 400, code: "invalid_input" });
    expect(answer.text).not.toContain("secret words");
  });

  it.each([
    ["half a surrogate pair", '{"userId":"ana","message":"I live in Porto \\ud800."}'],
    ["control characters", '{"userId":"ana","message":"I live in Porto \\u0000."}'],
  ])("%s, a message that holds them is stored without them", async (_what, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toMatch(/\\u0000|\\ud800/i);
  });

  it("text in UTF-8 only", async () => {
    const broken = Buffer.concat([
      Buffer.from('{"userId":"ana","message":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expect(await problem(await post(broken))).toMatchObject({ status: 400, code: "invalid_input" });
  });

  it("names the fields that are wrong, all of them", async () => {
    const response = await app.request("/api/v1/memories", {
      method: "POST",
      headers: { ...withKey(), "content-type": "application/json" },
      body: JSON.stringify({ user_id: "ana", content: 7, kind: "secret words", colour: "red" }),
    });
    const body = (await response.json()) as { errors: { field: string }[] };
    expect(body.errors.map(({ field }) => field).sort()).toEqual(["colour", "content", "kind"]);
    expect(JSON.stringify(body)).not.toContain("secret words");
  });
});

describe("addresses", () => {
  it("that are not there give 404", async () => {
    for (const path of ["/nothing", "/api/v1/nothing", "/app.css/..%2f..%2fpackage.json"]) {
      expect((await problem(await app.request(path, { headers: withKey() }))).status).toBe(404);
    }
  });

  it("that are no well-formed text are refused", async () => {
    const response = await app.request("/api/v1/memories/%ff", { headers: withKey() });
    expect((await problem(response)).status).toBe(400);
  });

  it("that are there for another method give 405, and say which", async () => {
    const allowed = async (method: string, path: string) => {
      const response = await app.request(path, { method, headers: withKey() });
      expect((await problem(response)).status).toBe(405);
      return response.headers.get("allow");
    };
    expect(await allowed("PUT", "/api/v1/memories/ana/x")).toBe("GET, HEAD, PATCH, DELETE");
    expect(await allowed("DELETE", "/api/v1/memories/ana")).toBe("GET, HEAD");
    expect(await allowed("GET", "/message")).toBe("POST");
    expect(await allowed("POST", "/")).toBe("GET, HEAD");
  });

  it("of the page are strict about what a browser may load", async () => {
    const response = await app.request("/");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const html = await response.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=")|\son\w+=|style=|https?:\/\//i);
    const loaded = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1] ?? "");
    for (const path of loaded) expect([path, (await app.request(path)).status]).toEqual([path, 200]);
    const mark = response.headers.get("etag") ?? "";
    expect((await app.request("/", { headers: { "if-none-match": mark } })).status).toBe(304);
  });
});

describe("a fault on our side", () => {
  it("is told to whoever runs the server, and not to whoever asks", async () => {
    const wrong = new MemoryError("corrupt", "/home/ana/memory.db: SELECT broken");
    const broken: Keepsake = {
      ...keepsake,
      scope() {
        throw wrong;
      },
    };
    const app = httpApp({ keepsake: broken, keys, onFault: (fault) => faults.push(fault) });
    const answer = await problem(await app.request("/api/v1/ready", { headers: withKey() }));
    expect(answer).toMatchObject({ status: 500, code: "corrupt" });
    expect(answer.text).not.toMatch(/home|SELECT|stack/);
    expect(faults).toMatchObject([{ method: "GET", error: wrong }]);
  });

  it("that passes is answered with 503 and when to come again", async () => {
    await keepsake.close();
    const response = await app.request("/api/v1/ready", { headers: withKey() });
    expect(await problem(response)).toMatchObject({ status: 503, code: "unavailable" });
    expect(response.headers.get("retry-after")).toBe("1");
  });
});
