import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
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

describe("access", () => {
  it("liveness needs no key", async () => {
    const response = await app.request("/api/v1/health");
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  it("readiness needs no key, and gives only the status without one", async () => {
    const response = await app.request("/api/v1/ready");
    expect([response.status, await response.json()]).toEqual([200, { status: "ready" }]);
  });

  it("details of health need a key", async () => {
    expect((await app.request("/session")).status).toBe(401);
    for (const path of ["/api/v1/health", "/api/v1/ready"]) {
      const answer = await (await app.request(path, { headers: withKey() })).json();
      expect([path, answer]).toMatchObject([
        path,
        { durability: expect.any(String), checks: expect.any(Array) },
      ]);
    }
  });

  it("a cookie without a proof gives no details of health, and is not refused", async () => {
    const response = await app.request("/api/v1/health", { headers: { cookie: "keepsake_0=abc" } });
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  it.each([
    ["no key", {}],
    ["a wrong key", { authorization: `Bearer ks_${"0".repeat(12)}_${"A".repeat(43)}` }],
    ["a key without its scheme", { authorization: "hunter2" }],
    ["a cookie that nobody gave", { cookie: "keepsake_0=abc", "x-keepsake-proof": "abc" }],
  ])("%s is refused on every call, before the body is read", async (what, headers) => {
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

  it("a page of another origin is refused with any credentials", async () => {
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

  it("an unknown host name is refused on every path (DNS rebinding)", async () => {
    for (const path of ["/", "/api/v1/health", "/api/v1/ready", "/nothing"]) {
      const response = await app.request(path, { headers: { ...withKey(), host: "evil.example:7420" } });
      expect((await problem(response)).code).toBe("forbidden");
      expect(response.status).toBe(403);
    }
    for (const host of ["127.0.0.1:7420", "LOCALHOST:7420", "[::1]:7420"]) {
      expect((await app.request("/api/v1/health", { headers: { host } })).status).toBe(200);
    }
  });

  it("a server on a public address accepts its configured host names", async () => {
    const open = httpApp({ keepsake, keys, host: "0.0.0.0", hosts: ["memory.example"] });
    const status = async (host: string) =>
      (await open.request("/api/v1/health", { headers: { host } })).status;
    expect(await status("memory.example")).toBe(200);
    expect(await status("evil.example")).toBe(403);
  });

  it("a server on a public address accepts its configured addresses, of IPv6 in brackets", async () => {
    const open = httpApp({ keepsake, keys, host: "0.0.0.0", hosts: ["10.1.2.3", "FD00::7"] });
    const status = async (host: string) =>
      (await open.request("/api/v1/health", { headers: { host } })).status;
    for (const host of ["10.1.2.3:7420", "[fd00::7]:7420", "[fd00::7]"]) expect(await status(host)).toBe(200);
    for (const host of ["10.1.2.4:7420", "[fd00::8]:7420"]) expect(await status(host)).toBe(403);
  });

  it("a server on a public address with configured names accepts loopback names too", async () => {
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
  ])("refuses the host name %s", async (_what, host) => {
    const response = await app.request("/api/v1/ready", { headers: { ...withKey(), host } });
    expect((await problem(response)).status).toBe(403);
  });

  it("a rebound page gets nothing with its cookie or its key", async () => {
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

  it("only certain loopback names count as loopback", () => {
    const own = ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost", "LOCALHOST"];
    expect(own.filter((host) => !isLoopback(host))).toEqual([]);
    const others = ["0.0.0.0", "::", "127.1", "127.evil.example", "192.168.1.2", "memory.example", ""];
    expect(others.filter(isLoopback)).toEqual([]);
  });

  it("no response allows other origins to read it", async () => {
    const response = await app.request("/api/v1/health", { headers: { origin: "http://localhost" } });
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("sign-in of the page", () => {
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

describe("request bodies", () => {
  it("must be JSON, not a form's content type", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      expect((await problem(await post("{}", { "content-type": type }))).status).toBe(415);
    }
    const withCharset = await post('{"userId":"ana","message":"Hello."}', {
      "content-type": "application/json; charset=utf-8",
    });
    expect(withCharset.status).toBe(200);
  });

  it("may have one mebibyte at most, with or without a declared length", async () => {
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

  it("are refused clearly if one message is too long, also below that limit", async () => {
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
  ])("are refused with %s, without repeating it", async (_what, body) => {
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

  it("must be UTF-8", async () => {
    const broken = Buffer.concat([
      Buffer.from('{"userId":"ana","message":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expect(await problem(await post(broken))).toMatchObject({ status: 400, code: "invalid_input" });
  });

  it("are refused with the names of all invalid fields", async () => {
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

describe("paths", () => {
  it("give 404 if unknown", async () => {
    for (const path of ["/nothing", "/api/v1/nothing", "/app.css/..%2f..%2fpackage.json"]) {
      expect((await problem(await app.request(path, { headers: withKey() }))).status).toBe(404);
    }
  });

  it("are refused if not well-formed UTF-8", async () => {
    const response = await app.request("/api/v1/memories/%ff", { headers: withKey() });
    expect((await problem(response)).status).toBe(400);
  });

  it("give 405 and the allowed methods for another method", async () => {
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

  it("of the web page have a strict content security policy", async () => {
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

describe("an internal error", () => {
  it("is reported to the operator, not to the client", async () => {
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

  it("that is temporary gives 503 with a time to retry", async () => {
    await keepsake.close();
    const response = await app.request("/api/v1/ready", { headers: withKey() });
    expect(await problem(response)).toMatchObject({ status: 503, code: "unavailable" });
    expect(response.headers.get("retry-after")).toBe("1");
  });
});
