import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as sdk from "@modelcontextprotocol/server";
import * as jose from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createJwtVerifier } from "../../adapters/jose/index.ts";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMcpHttpHandler } from "../../mcp/http-handler.ts";
import { createMemory } from "../../memory.ts";
import { type Served, serve } from "../server.ts";

const ISSUER = "https://login.example.com";
const PUBLIC_URL = "https://memory.example.com";
const RESOURCE = `${PUBLIC_URL}/mcp`;
const clock = () => new Date();
const nowInSeconds = (): number => Math.floor(Date.now() / 1000);

let ours: jose.GenerateKeyPairResult;
let theirs: jose.GenerateKeyPairResult;
let provider: Server;
let jwksUrl: string;
let keepsake: Keepsake;
let served: Served;

beforeAll(async () => {
  ours = await jose.generateKeyPair("ES256");
  theirs = await jose.generateKeyPair("ES256");
  const keys = [{ ...(await jose.exportJWK(ours.publicKey)), kid: "one", alg: "ES256" }];
  provider = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  jwksUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks.json`;
});
afterAll(() => new Promise((resolve) => provider.close(resolve)));

async function start(
  options: { readonly jwksUrl?: string; readonly userClaim?: string } = {},
): Promise<void> {
  const verifier = createJwtVerifier(jose, { clock });
  const { handle } = createMcpHttpHandler({ sdk, version: "1" });
  served = await serve({
    keepsake,
    clock,
    port: 0,
    mcp: async () => ({
      handle: (request, access) => handle(request, { ...access, promptGuard: keepsake.promptGuard }),
    }),
    oauth: {
      publicUrl: PUBLIC_URL,
      authority: { kind: "external", issuer: ISSUER, jwksUrl, verifier, clock, ...options },
    },
  });
}

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
});

const CLAIMS = { iss: ISSUER, aud: RESOURCE, sub: "ana", scope: "read write" };

/** Signs a token that is right but for what is given. A claim that is null is left out. */
function sign(claims: { readonly [name: string]: unknown } = {}, key = ours.privateKey): Promise<string> {
  const all = { ...CLAIMS, exp: nowInSeconds() + 300, ...claims };
  const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  return new jose.SignJWT(present).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(key);
}

async function list(token?: string): Promise<{ status: number; challenge: string; text: string }> {
  const response = await fetch(`${served.url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate") ?? "",
    text: await response.text(),
  };
}

describe("the address for MCP clients with an external identity provider", () => {
  it("leads a client without a token to the metadata, which names the provider", async () => {
    await start();
    const { status, challenge } = await list();
    expect(status).toBe(401);
    expect(challenge).toBe(
      `Bearer realm="keepsake", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp", ` +
        'scope="read write erase"',
    );
    for (const suffix of ["", "/mcp"]) {
      const response = await fetch(`${served.url}/.well-known/oauth-protected-resource${suffix}`);
      expect(await response.json()).toEqual({
        resource: RESOURCE,
        authorization_servers: [ISSUER],
        scopes_supported: ["read", "write", "erase"],
        bearer_methods_supported: ["header"],
        resource_name: "Keepsake",
      });
    }
  });

  it("gives the SDK's client the memory of the token's user, with the tools of its scopes", async () => {
    await start();
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    await keepsake.scope({ user: "ben" }).remember("I live in Ghent.");
    const token = await sign({ sub: "ben" });
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), {
      authProvider: { token: async () => token },
    });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("remember");
    expect(tools.map(({ name }) => name)).not.toContain("forget");
    const found = await client.callTool({ name: "recall", arguments: { query: "Where do I live?" } });
    expect(JSON.stringify(found.content)).toContain("Ghent");
    expect(JSON.stringify(found.content)).not.toContain("Porto");
    await client.close();
  });

  it.each([
    ["another audience", { aud: "https://other.example.com/mcp" }],
    ["the audience with another case", { aud: RESOURCE.toUpperCase() }],
    ["no audience", { aud: null }],
    ["another issuer", { iss: "https://evil.example.com" }],
    ["the issuer with a slash", { iss: `${ISSUER}/` }],
    ["no end", { exp: null }],
    ["a beginning in the future", { nbf: nowInSeconds() + 3600 }],
    ["no user", { sub: null }],
    ["an empty user", { sub: " " }],
    ["a user that is no text", { sub: 7 }],
    ["a user with a control character", { sub: "ana\u0000" }],
    ["a user that is a path step", { sub: ".." }],
  ])("refuses a token with %s", async (_what, claims) => {
    await start();
    const { status, challenge } = await list(await sign(claims));
    expect([status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  });

  it("refuses tokens that are signed with another key, a shared secret or not at all", async () => {
    await start();
    const secret = new TextEncoder().encode("the provider's public key, read as a secret");
    const shared = new jose.SignJWT({ ...CLAIMS, exp: nowInSeconds() + 300 }).setProtectedHeader({
      alg: "HS256",
      kid: "one",
    });
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
    const right = await sign();
    const forged = [
      await sign({}, theirs.privateKey),
      await shared.sign(secret),
      `${encode({ alg: "none" })}.${encode({ ...CLAIMS, exp: nowInSeconds() + 300 })}.`,
      `${right.slice(0, -4)}AAAA`,
      `${right.split(".")[0]}.${encode({ ...CLAIMS, sub: "ben" })}.${right.split(".")[2]}`,
      "a.b.c",
      "guess",
    ];
    for (const token of forged) expect((await list(token)).status).toBe(401);
    expect((await list(right)).status).toBe(200);
  });

  it("takes an expired token for no guess: however many come, a client is not slowed down", async () => {
    await start();
    const token = await sign({ exp: nowInSeconds() - 60 });
    const answers = await Promise.all(Array.from({ length: 30 }, () => list(token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(answers[0]?.challenge).toContain('error="invalid_token"');
  });

  it("asks for more scopes if the token allows too little, and never gives it `admin`", async () => {
    await start();
    const { status, challenge } = await list(await sign({ scope: "admin profile" }));
    expect([status, challenge]).toEqual([403, expect.stringContaining('error="insufficient_scope"')]);
    expect((await list(await sign({ scope: null, scp: ["read"] }))).status).toBe(200);
  });

  it("accepts an access token at /mcp alone", async () => {
    await start();
    const headers = { authorization: `Bearer ${await sign({ scope: "read write erase" })}` };
    for (const path of ["/session", "/api/v1/memories/ana", "/v1/models"])
      expect((await fetch(`${served.url}${path}`, { headers })).status).toBe(401);
  });

  it("takes an address of mail for a user only if the provider has verified it", async () => {
    await start({ userClaim: "email" });
    expect((await list(await sign({ email: "ana@example.com" }))).status).toBe(401);
    expect((await list(await sign({ email: "ana@example.com", email_verified: true }))).status).toBe(200);
  });

  it("answers 503 while the provider's keys cannot be fetched, and still takes keys of its own", async () => {
    await start({ jwksUrl: "http://127.0.0.1:9/jwks.json" });
    expect((await list(await sign())).status).toBe(503);
    const response = await fetch(`${served.url}/session`, {
      headers: { authorization: `Bearer ${served.firstKey}` },
    });
    expect(response.status).toBe(200);
  });
});

describe("the report of health with an external identity provider", () => {
  interface Report {
    readonly status: string;
    readonly degraded?: readonly string[];
    readonly dependencies: readonly {
      readonly kind: string;
      readonly state: string;
      readonly since: string;
    }[];
  }
  const report = async (path: string): Promise<Report> => {
    const headers = { authorization: `Bearer ${served.firstKey}` };
    return (await (await fetch(`${served.url}/api/v1/${path}`, { headers })).json()) as Report;
  };
  const findProvider = ({ dependencies }: Report) =>
    dependencies.find(({ kind }) => kind === "identity_provider");

  it("says that it is up, and since when, without its address", async () => {
    await start();
    const before = new Date().toISOString();
    const found = findProvider(await report("health"));
    expect(found).toEqual({ kind: "identity_provider", state: "up", since: expect.any(String) });
    expect((found?.since ?? "") >= before).toBe(true);
    expect(findProvider(await report("ready"))).toEqual(found);
  });

  it("says that it is down if it does not answer, and that the server is degraded and ready", async () => {
    await start({ jwksUrl: "http://127.0.0.1:9/jwks.json" });
    const [health, ready] = [await report("health"), await report("ready")];
    expect(findProvider(health)).toMatchObject({ state: "down", problem: "silent" });
    expect([health.status, ready.status, ready.degraded]).toEqual([
      "degraded",
      "ready",
      ["identity_provider"],
    ]);
    expect(JSON.stringify([health, ready])).not.toContain("127.0.0.1");
  });
});
