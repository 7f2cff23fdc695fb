import * as sdk from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { MemoryError } from "../errors.ts";
import { createMcpHttpHandler } from "../mcp/http-handler.ts";
import { createMemory } from "../memory.ts";
import { httpApp } from "./app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";
import type { HonoApp } from "./request-context.ts";
import type { McpEndpointLoader } from "./routes/mcp.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
let keepsake: Keepsake;
let keys: ApiKeys;
let app: HonoApp;

const load: McpEndpointLoader = async () => {
  const { handle } = createMcpHttpHandler({ sdk, version: "1" });
  return { handle: (request, access) => handle(request, { ...access, promptGuard: keepsake.promptGuard }) };
};

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  app = httpApp({ keepsake, keys, mcp: load });
});
afterEach(() => keepsake.close());

interface Sent {
  readonly key?: string | undefined;
  readonly user?: string;
  readonly body?: string;
  readonly headers?: { readonly [name: string]: string };
}

async function send(method: string, params: object, { key, user, body, headers }: Sent) {
  const response = await app.request("/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(user === undefined ? {} : { "x-keepsake-user": user }),
      ...headers,
    },
    body: body ?? JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  const [, event] = /^data: (.*)$/m.exec(text) ?? [];
  return { status: response.status, text, json: () => JSON.parse(event ?? text) };
}

const listTools = async (sent: Sent): Promise<string[]> =>
  (await send("tools/list", {}, sent)).json().result.tools.map(({ name }: { name: string }) => name);
const recall = async (sent: Sent): Promise<string> =>
  (await send("tools/call", { name: "recall", arguments: { query: "Where do I live?" } }, sent)).text;

describe("the address for MCP clients", () => {
  it("needs a key, and a user from the key or the client's configuration", async () => {
    expect((await send("tools/list", {}, { user: "ana" })).status).toBe(401);
    expect((await send("tools/list", {}, { key: "wrong", user: "ana" })).status).toBe(401);
    const nobody = await send("tools/list", {}, { key: keys.first });
    expect([nobody.status, nobody.json().detail]).toEqual([400, expect.stringContaining("--only-user")]);
    expect(await listTools({ key: keys.first, user: "ana" })).toContain("recall");
  });

  it("reaches the key's user alone, whatever the header and the arguments name", async () => {
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    await keepsake.scope({ user: "ben" }).remember("I live in Ghent.");
    const { key } = keys.create({ project: "default", user: "ben" });
    expect(await recall({ key })).toContain("Ghent");
    expect(await recall({ key })).not.toContain("Porto");
    expect((await send("tools/list", {}, { key, user: "ana" })).status).toBe(404);
    const named = { name: "recall", arguments: { query: "Where do I live?", user: "ana" } };
    expect((await send("tools/call", named, { key })).json().result.isError).toBe(true);
  });

  it("reaches the key's project alone", async () => {
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const { key } = keys.create({ project: "shop" });
    expect(await recall({ key, user: "ana" })).not.toContain("Porto");
  });

  it("offers the tools that the key's scopes allow", async () => {
    const reader = keys.create({ project: "default", scopes: ["read"] }).key;
    const writer = keys.create({ project: "default", scopes: ["read", "write"] }).key;
    const blind = keys.create({ project: "default", scopes: ["write"] }).key;
    expect(await listTools({ key: reader, user: "ana" })).not.toContain("remember");
    expect(await listTools({ key: writer, user: "ana" })).not.toContain("forget");
    expect((await send("tools/list", {}, { key: blind, user: "ana" })).status).toBe(403);
  });

  it("refuses other methods, other origins, other types and a body that is too long", async () => {
    const sent = { key: keys.first, user: "ana" };
    const headers = { authorization: `Bearer ${keys.first}`, "x-keepsake-user": "ana" };
    const get = await app.request("/mcp", { headers });
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect(
      (await send("tools/list", {}, { ...sent, headers: { origin: "https://evil.example" } })).status,
    ).toBe(403);
    expect(
      (await send("tools/list", {}, { ...sent, headers: { "content-type": "text/plain" } })).status,
    ).toBe(415);
    expect((await send("", {}, { ...sent, body: "x".repeat(1_100_000) })).status).toBe(413);
    expect((await send("", {}, { ...sent, body: "[".repeat(100) })).status).toBe(400);
    expect((await send("", {}, { ...sent, body: "no JSON" })).status).toBe(400);
  });

  it("does not exist on a server without it", async () => {
    app = httpApp({ keepsake, keys });
    expect((await send("tools/list", {}, { key: keys.first, user: "ana" })).status).toBe(404);
  });

  it("says how to install its package, and works once that is there", async () => {
    let isInstalled = false;
    const mcp: McpEndpointLoader = () => {
      if (isInstalled) return load();
      return Promise.reject(new MemoryError("unsupported", "/mcp needs a package: npm install it"));
    };
    app = httpApp({ keepsake, keys, mcp });
    const missing = await send("tools/list", {}, { key: keys.first, user: "ana" });
    expect([missing.status, missing.json().detail]).toEqual([422, "/mcp needs a package: npm install it"]);
    isInstalled = true;
    expect(await listTools({ key: keys.first, user: "ana" })).toContain("recall");
  });

  it("reports a failure of the server as a fault, and no mistake of a client", async () => {
    const faults: unknown[] = [];
    const access = {
      memory: keepsake.scope({ user: "ana" }),
      permissions: ["read"] as const,
      promptGuard: keepsake.promptGuard,
    };
    const ask = async (parts: typeof sdk, body: string): Promise<number> => {
      const { handle } = createMcpHttpHandler({
        sdk: parts,
        version: "1",
        onFault: (fault) => faults.push(fault),
      });
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      return (await handle(new Request("http://localhost/mcp", { method: "POST", headers, body }), access))
        .status;
    };
    expect(await ask(sdk, "{")).toBe(400);
    expect(faults).toEqual([]);
    const problem = new RangeError("it cannot be made");
    const McpServer = function fail(): never {
      throw problem;
    };
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    expect(await ask({ ...sdk, McpServer: McpServer as never }, list)).toBe(500);
    expect(faults).toEqual([problem]);
  });
});
