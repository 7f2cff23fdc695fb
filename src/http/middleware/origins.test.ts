import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMemory } from "../../memory.ts";
import { API_OPERATIONS, httpApp } from "../app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../keys/api-keys.ts";

const clock = () => new Date();
const LISTED = "https://app.example.com";
let keepsake: Keepsake;
let keys: ApiKeys;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  keys = apiKeys({ store: passingKeys(), clock });
});
afterEach(() => keepsake.close());

const appFor = (origins?: readonly string[]) =>
  httpApp({ keepsake, keys, ...(origins === undefined ? {} : { origins }) });
const key = (): Record<string, string> => ({ authorization: `Bearer ${keys.first}` });

const cors = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"));

describe("without a list of origins", () => {
  it("a page of another origin is refused on every route, with a key and as a preflight", async () => {
    const app = appFor();
    expect(API_OPERATIONS.length).toBeGreaterThan(30);
    for (const { method, path } of [...API_OPERATIONS, { method: "GET", path: "/nowhere" }]) {
      const at = path.replace(/\{\w+\}/g, "ana");
      for (const origin of [LISTED, "http://localhost:1", "null", "http://127.0.0.1:9"]) {
        const asked = await app.request(at, { method, headers: { origin, ...key() } });
        expect([path, origin, asked.status, cors(asked.headers)]).toEqual([path, origin, 403, []]);
        const preflight = await app.request(at, {
          method: "OPTIONS",
          headers: { origin, "access-control-request-method": method },
        });
        expect([path, origin, preflight.status, cors(preflight.headers)]).toEqual([path, origin, 403, []]);
      }
    }
  });
});

describe("with a list of origins", () => {
  const asked = (origin: string | undefined, path = "/api/v1/ready", headers = key()) =>
    appFor([LISTED]).request(path, { headers: { ...headers, ...(origin === undefined ? {} : { origin }) } });

  it("a page of a listed origin can read responses, including errors", async () => {
    for (const [path, headers, status] of [
      ["/api/v1/ready", key(), 200],
      ["/session", {}, 401],
      ["/nowhere", key(), 404],
      ["/v1/models", key(), 200],
    ] as const) {
      const response = await asked(LISTED, path, headers);
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get("access-control-allow-origin")).toBe(LISTED);
      expect(response.headers.get("vary")).toMatch(/\bOrigin\b/);
      expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  it("a page of a listed origin can read why it was refused, in WWW-Authenticate", async () => {
    const { status, headers } = await asked(LISTED, "/session", {});
    expect([status, headers.has("www-authenticate")]).toEqual([401, true]);
    expect(headers.get("access-control-expose-headers")?.split(", ")).toContain("www-authenticate");
  });

  it.each([
    "http://app.example.com",
    "https://app.example.com:8443",
    "https://app.example.com.evil.example",
    "https://xapp.example.com",
    "https://APP.example.com",
    "https://app.example.com/",
    "null",
    "*",
  ])("%s is another origin, and is refused", async (origin) => {
    const response = await asked(origin);
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  });

  it("a request without an origin works, and caches get Vary: Origin", async () => {
    const response = await asked(undefined);
    expect([response.status, cors(response.headers), response.headers.get("vary")]).toEqual([
      200,
      [],
      "Origin",
    ]);
  });

  it("a preflight needs no key and allows the requested headers, but never cookies or the proof", async () => {
    const response = await appFor([LISTED]).request("/api/v1/messages", {
      method: "OPTIONS",
      headers: {
        origin: LISTED,
        "access-control-request-method": "POST",
        "access-control-request-headers":
          "Authorization, content-type,idempotency-key, x-keepsake-proof, cookie",
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(LISTED);
    expect(response.headers.get("access-control-allow-headers")).toBe(
      "authorization, content-type, idempotency-key",
    );
    expect(response.headers.get("access-control-allow-methods")).toContain("DELETE");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    expect(response.headers.get("vary")).toContain("Origin");
  });

  it("a page of a listed origin cannot use the session of the server's own page", async () => {
    const session = keys.openSession(keys.first ?? "");
    const own = { cookie: `keepsake_0=${session?.token}`, "x-keepsake-proof": session?.proof ?? "" };
    expect((await asked(undefined, "/api/v1/ready", own)).status).toBe(200);
    const response = await asked(LISTED, "/api/v1/ready", own);
    expect([response.status, response.headers.get("access-control-allow-credentials")]).toEqual([401, null]);
  });
});
