import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  callTool,
  createKey,
  type OAuthWorld,
  openWorld,
  putClient,
  RECALL,
  REDIRECT,
  readForm,
  sendForm,
} from "../../../test/oauth/oauth-world.ts";

let world: OAuthWorld;
beforeEach(async () => {
  world = await openWorld();
  await world.keepsake.scope({ user: "ana" }).remember("I live in Porto.");
  await world.keepsake.scope({ user: "ben" }).remember("I live in Ghent.");
});
afterEach(() => world.close());

type Tokens = Awaited<ReturnType<OAuthClientProvider["tokens"]>>;

/** A provider that keeps all in memory, and where the SDK sent the person's browser. */
function createProvider(client: string, redirectUrl: string = REDIRECT) {
  let tokens: Tokens;
  let verifier = "";
  let state: Awaited<ReturnType<NonNullable<OAuthClientProvider["discoveryState"]>>>;
  const visits: URL[] = [];
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], grant_types: ["authorization_code", "refresh_token"] },
    // The SDK offers a document only at https; with the id it goes on as if it had offered it.
    clientInformation: () => ({ client_id: client, issuer: world.url }),
    saveClientInformation: () => {},
    state: () => "the client's state",
    tokens: () => tokens,
    saveTokens: (fresh) => {
      tokens = fresh;
    },
    redirectToAuthorization: (url) => {
      visits.push(url);
    },
    saveCodeVerifier: (fresh) => {
      verifier = fresh;
    },
    codeVerifier: () => verifier,
    discoveryState: () => state,
    saveDiscoveryState: (fresh) => {
      state = fresh;
    },
    invalidateCredentials: (which) => {
      if (which === "tokens" || which === "all") tokens = undefined;
    },
  };
  return { provider, visits, tokens: () => tokens };
}

function openTransport(provider: OAuthClientProvider): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { authProvider: provider });
}

/** Does what a person does in the browser. Gives what the client's own address is called with. */
async function consent(visit: URL, key: string): Promise<URLSearchParams> {
  const response = await fetch(visit);
  const form = readForm({
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    location: undefined,
  });
  form.fields.set("key", key);
  const { location } = await sendForm(world, form);
  return location?.searchParams ?? new URLSearchParams();
}

describe("the client of the MCP SDK", () => {
  it("goes from discovery to a revoked token", async () => {
    const client = putClient(world);
    const { provider, visits, tokens } = createProvider(client);
    const first = openTransport(provider);
    await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toBeInstanceOf(
      UnauthorizedError,
    );
    const [visit] = visits;
    expect(`${visit?.origin}${visit?.pathname}`).toBe(`${world.url}/oauth/authorize`);
    expect(Object.fromEntries(visit?.searchParams ?? [])).toMatchObject({
      client_id: client,
      code_challenge_method: "S256",
      resource: `${world.url}/mcp`,
      scope: "read write erase",
    });

    const back = await consent(visit as URL, createKey(world, "ben"));
    expect(back.get("state")).toBe("the client's state");
    await first.finishAuth(back);
    const mcp = new Client({ name: "test", version: "1" });
    await mcp.connect(openTransport(provider));
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["recall", "remember", "forget"]));
    const found = JSON.stringify((await mcp.callTool(RECALL)).content);
    expect(found).toContain("Ghent");
    expect(found).not.toContain("Porto");

    // The access token expires, and the client refreshes it by itself, without the person.
    const before = tokens()?.access_token;
    world.pass(901);
    expect(JSON.stringify((await mcp.callTool(RECALL)).content)).toContain("Ghent");
    expect(tokens()?.access_token).not.toBe(before);
    expect(visits).toHaveLength(1);

    const { access_token: access = "", refresh_token: refresh = "" } = tokens() ?? {};
    const revoked = await fetch(`${world.url}/oauth/revoke`, {
      method: "POST",
      body: new URLSearchParams({ token: refresh, token_type_hint: "refresh_token", client_id: client }),
    });
    expect([revoked.status, await revoked.text()]).toEqual([200, ""]);
    expect((await callTool(world, access, RECALL)).status).toBe(401);
    await expect(mcp.callTool(RECALL)).rejects.toBeInstanceOf(UnauthorizedError);
    expect(visits).toHaveLength(2);
    await mcp.close();
  });

  it("learns that the person refused, from the server that it asked", async () => {
    const { provider, visits } = createProvider(putClient(world));
    const transport = openTransport(provider);
    await new Client({ name: "test", version: "1" }).connect(transport).catch(() => {});
    const response = await fetch(visits[0] as URL);
    const page = { status: 200, text: await response.text(), headers: response.headers, location: undefined };
    const form = readForm(page);
    form.fields.set("decision", "refuse");
    const { location } = await sendForm(world, form);
    expect(location?.searchParams.get("iss")).toBe(world.url);
    await expect(transport.finishAuth(location?.searchParams ?? new URLSearchParams())).rejects.toMatchObject(
      {
        code: "access_denied",
      },
    );
  });

  it("refuses a response in which another server is named (mix-up)", async () => {
    const { provider, visits } = createProvider(putClient(world));
    const transport = openTransport(provider);
    await new Client({ name: "test", version: "1" }).connect(transport).catch(() => {});
    const back = await consent(visits[0] as URL, createKey(world, "ana"));
    back.set("iss", "https://evil.example.com");
    await expect(transport.finishAuth(back)).rejects.toThrow(/issuer/i);
    back.delete("iss");
    await expect(transport.finishAuth(back)).rejects.toThrow(/issuer/i);
  });

  it("takes a program's own port on the person's machine, as its document has none", async () => {
    const client = putClient(world, "/native.json", { redirect_uris: ["http://127.0.0.1/callback"] });
    const received: string[] = [];
    const listener = createServer((request, response) => {
      received.push(request.url ?? "");
      response.end("You may close this window.");
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const redirect = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
    const { provider, visits } = createProvider(client, redirect);
    await new Client({ name: "test", version: "1" }).connect(openTransport(provider)).catch(() => {});
    const back = await consent(visits[0] as URL, createKey(world, "ana"));
    await fetch(`${redirect}?${back}`);
    await new Promise((resolve) => listener.close(resolve));
    expect(received[0]).toMatch(/^\/callback\?code=ksc_/);
  });
});
