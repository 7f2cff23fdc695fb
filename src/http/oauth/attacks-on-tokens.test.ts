import { createHash } from "node:crypto";
import * as jose from "jose";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allow,
  type Connected,
  callTool,
  codeParameters,
  connect,
  createAttackCount,
  createKey,
  createPkce,
  encode,
  type OAuthWorld,
  openWorld,
  type Pkce,
  putClient,
  RECALL,
  requestParameters,
  requestTokens,
  type TokenAnswer,
} from "../../../test/oauth/oauth-world.ts";

let world: OAuthWorld;
beforeEach(async () => {
  world = await openWorld();
  await world.keepsake.scope({ user: "ana" }).remember("I live in Porto.");
  await world.keepsake.scope({ user: "ben" }).remember("I live in Ghent.");
});
afterEach(() => world.close());

const attacks = createAttackCount();
afterAll(() => {
  process.stdout.write(attacks.describe());
});

/** A token gives no access at `/mcp`, and the client is told how to get one. */
async function expectNoAccess(token: string | undefined): Promise<void> {
  const { status, text, challenge } = await callTool(world, token, RECALL);
  attacks.note(expect.getState().currentTestName, status === 200 || /Porto|Ghent/.test(text));
  expect([status, text.includes("Porto"), text.includes("Ghent")]).toEqual([401, false, false]);
  expect(challenge).toContain(`resource_metadata="${world.url}/.well-known/oauth-protected-resource/mcp"`);
}

async function expectAccess(token: string, city: string = "Porto"): Promise<void> {
  const { status, text } = await callTool(world, token, RECALL);
  expect([status, text.includes(city)]).toEqual([200, true]);
}

function expectNoTokens({ status, body, headers }: TokenAnswer, error: string = "invalid_grant"): void {
  attacks.note(expect.getState().currentTestName, body.access_token !== undefined);
  expect([status, body.error]).toEqual([error === "invalid_client" ? 401 : 400, error]);
  expect(body).not.toHaveProperty("access_token");
  expect(headers.get("cache-control")).toBe("no-store");
}

interface Coded {
  readonly client: string;
  readonly code: string;
  readonly pkce: Pkce;
}

/** Gets a code, as it should be done. */
async function getCode(path: string = "/client.json", fields: object = {}): Promise<Coded> {
  const pkce = createPkce();
  const client = putClient(world, path, fields);
  const { location } = await allow(world, requestParameters(world, client, pkce), createKey(world, "ana"));
  return { client, pkce, code: location?.searchParams.get("code") ?? "" };
}

const refreshParameters = ({ client, refresh }: Pick<Connected, "client" | "refresh">) => ({
  grant_type: "refresh_token",
  client_id: client,
  refresh_token: refresh,
  resource: `${world.url}/mcp`,
});

describe("a code", () => {
  it("gives access to the user of the key, for fifteen minutes", async () => {
    const { client, code, pkce } = await getCode();
    const { status, body, headers } = await requestTokens(world, codeParameters(world, client, code, pkce));
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^ksa_/),
        token_type: "Bearer",
        expires_in: 900,
        refresh_token: expect.stringMatching(/^ksr_/),
        scope: "read write erase",
      },
    ]);
    expect(headers.get("cache-control")).toBe("no-store");
    await expectAccess(body.access_token ?? "");
  });

  it("works without a redirect URI at the token endpoint: OAuth 2.1 leaves it out", async () => {
    const { client, code, pkce } = await getCode();
    const parameters = { ...codeParameters(world, client, code, pkce), redirect_uri: undefined };
    expect((await requestTokens(world, parameters)).status).toBe(200);
  });

  it.each<[string, object, string?]>([
    ["without a verifier", { code_verifier: undefined }],
    ["with an empty verifier", { code_verifier: "" }],
    ["with another verifier", { code_verifier: "a".repeat(43) }],
    ["by another client", { client_id: "https://evil.example.com/client.json" }],
    ["by no client", { client_id: undefined }, "invalid_request"],
    ["with another redirect URI", { redirect_uri: "http://127.0.0.1:8765/other" }],
    ["with the redirect URI on another port", { redirect_uri: "http://127.0.0.1:8766/callback" }],
    ["for another resource", { resource: "https://other.example.com/mcp" }, "invalid_target"],
    ["as a refresh token", { grant_type: "refresh_token" }, "invalid_request"],
    ["as a password", { grant_type: "password" }, "unsupported_grant_type"],
    ["as a client's own access", { grant_type: "client_credentials" }, "unsupported_grant_type"],
    ["with a client's secret", { client_secret: "x" }, "invalid_client"],
    ["with a parameter twice", { client_id: ["a", "b"] }, "invalid_request"],
    ["that was guessed", { code: `ksc_${"A".repeat(43)}` }],
    ["that is empty", { code: "" }],
  ])("is not exchanged %s", async (_what, change, error = "invalid_grant") => {
    const { client, code, pkce } = await getCode();
    const answer = await requestTokens(world, { ...codeParameters(world, client, code, pkce), ...change });
    expectNoTokens(answer, error);
  });

  it("is not exchanged with its challenge in place of the verifier", async () => {
    const { client, code, pkce } = await getCode();
    const answer = await requestTokens(world, {
      ...codeParameters(world, client, code, pkce),
      code_verifier: pkce.challenge,
    });
    expectNoTokens(answer);
  });

  it("is spent by a wrong verifier: there is one try", async () => {
    const { client, code, pkce } = await getCode();
    const right = codeParameters(world, client, code, pkce);
    expectNoTokens(await requestTokens(world, { ...right, code_verifier: "a".repeat(43) }));
    expectNoTokens(await requestTokens(world, right));
  });

  it("that comes again ends the access that it gave", async () => {
    const { client, code, pkce, access, refresh } = await connect(world);
    await expectAccess(access);
    expectNoTokens(await requestTokens(world, codeParameters(world, client, code, pkce)));
    await expectNoAccess(access);
    expectNoTokens(await requestTokens(world, refreshParameters({ client, refresh })));
  });

  it("that comes twenty times at once is exchanged at most once", async () => {
    const { client, code, pkce } = await getCode();
    const right = codeParameters(world, client, code, pkce);
    const answers = await Promise.all(Array.from({ length: 20 }, () => requestTokens(world, right)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    // Somebody had it twice, so nobody keeps what it gave.
    for (const { body } of answers) if (body.access_token) await expectNoAccess(body.access_token);
  });

  it("ends after a minute", async () => {
    const { client, code, pkce } = await getCode();
    world.pass(61);
    expectNoTokens(await requestTokens(world, codeParameters(world, client, code, pkce)));
  });

  it("of another client's consent is of no use to a client (injection)", async () => {
    const victim = await getCode("/victim.json");
    const attacker = await getCode("/attacker.json");
    const mixed = [
      codeParameters(world, attacker.client, victim.code, attacker.pkce),
      codeParameters(world, victim.client, victim.code, attacker.pkce),
    ];
    for (const parameters of mixed) expectNoTokens(await requestTokens(world, parameters));
  });

  it("ends with the key that the person signed in with", async () => {
    const { client, code, pkce } = await getCode();
    const [entry] = world.keys.list("default").slice(-1);
    world.keys.revoke(entry?.id ?? "");
    expectNoTokens(await requestTokens(world, codeParameters(world, client, code, pkce)));
  });

  it("is no access token", async () => {
    await expectNoAccess((await getCode()).code);
  });
});

describe("a refresh token", () => {
  it("gives new tokens once, and the access token from before works until it expires", async () => {
    const first = await connect(world);
    const second = await requestTokens(world, refreshParameters(first));
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh);
    await expectAccess(second.body.access_token ?? "");
    await expectAccess(first.access);
  });

  it("that comes again ends all of its family", async () => {
    const { client, refresh: stolen } = await connect(world);
    const theirs = await requestTokens(world, refreshParameters({ client, refresh: stolen }));
    const later = await requestTokens(
      world,
      refreshParameters({ client, refresh: theirs.body.refresh_token ?? "" }),
    );
    await expectAccess(later.body.access_token ?? "");
    expectNoTokens(await requestTokens(world, refreshParameters({ client, refresh: stolen })));
    await expectNoAccess(later.body.access_token);
    expectNoTokens(
      await requestTokens(world, refreshParameters({ client, refresh: later.body.refresh_token ?? "" })),
    );
  });

  it("is recognised as used before, after any number of exchanges", async () => {
    const { client, refresh: first } = await connect(world);
    let refresh = first;
    for (let count = 0; count < 20; count += 1) {
      const { body } = await requestTokens(world, refreshParameters({ client, refresh }));
      refresh = body.refresh_token ?? "";
    }
    expectNoTokens(await requestTokens(world, refreshParameters({ client, refresh: first })));
    expectNoTokens(await requestTokens(world, refreshParameters({ client, refresh })));
  });

  it("that comes twenty times at once is exchanged at most once", async () => {
    const connected = await connect(world);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => requestTokens(world, refreshParameters(connected))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { body } of answers) if (body.access_token) await expectNoAccess(body.access_token);
  });

  it.each<[string, (connected: Connected) => object, string?]>([
    ["by another client", () => ({ client_id: "https://evil.example.com/client.json" })],
    ["for another resource", () => ({ resource: "https://other.example.com/mcp" }), "invalid_target"],
    ["for a scope that nobody allowed", () => ({ scope: "read admin" }), "invalid_scope"],
    ["for a scope that does not exist", () => ({ scope: "everything" }), "invalid_scope"],
    ["that is an access token", ({ access }) => ({ refresh_token: access })],
    ["with a forged beginning", ({ refresh }) => ({ refresh_token: forge(refresh, 17) })],
    ["of another grant", ({ refresh }) => ({ refresh_token: forge(refresh, 4, "000000000000") })],
  ])("is not exchanged %s, and such a try ends nothing", async (_what, change, error = "invalid_grant") => {
    const connected = await connect(world);
    const parameters = { ...refreshParameters(connected), ...change(connected) };
    expectNoTokens(await requestTokens(world, parameters), error);
    await expectAccess(connected.access);
    expect((await requestTokens(world, refreshParameters(connected))).status).toBe(200);
  });

  it("with a forged end ends the access: it can only come from somebody who had an earlier one", async () => {
    const connected = await connect(world);
    const forged = { ...connected, refresh: forge(connected.refresh, connected.refresh.length - 5) };
    expectNoTokens(await requestTokens(world, refreshParameters(forged)));
    await expectNoAccess(connected.access);
  });

  it("can ask for fewer scopes, and for all of them again", async () => {
    const connected = await connect(world);
    const less = await requestTokens(world, { ...refreshParameters(connected), scope: "read" });
    expect(less.body.scope).toBe("read");
    const call = { name: "remember", arguments: { text: "I live in Rome." } };
    expect((await callTool(world, less.body.access_token, call)).text).not.toContain("Rome");
    const more = refreshParameters({ ...connected, refresh: less.body.refresh_token ?? "" });
    expect((await requestTokens(world, more)).body.scope).toBe("read write erase");
  });

  it("ends after thirty days without use, and each use moves that", async () => {
    const connected = await connect(world);
    world.pass(29 * 86_400);
    const { body } = await requestTokens(world, refreshParameters(connected));
    world.pass(29 * 86_400);
    const next = refreshParameters({ ...connected, refresh: body.refresh_token ?? "" });
    const last = await requestTokens(world, next);
    expect(last.status).toBe(200);
    world.pass(31 * 86_400);
    expectNoTokens(
      await requestTokens(world, refreshParameters({ ...connected, refresh: last.body.refresh_token ?? "" })),
    );
  });

  it("is no access token, and ends with the key", async () => {
    const connected = await connect(world);
    await expectNoAccess(connected.refresh);
    world.keys.revoke(connected.key.slice(3, 15));
    expectNoTokens(await requestTokens(world, refreshParameters(connected)));
  });
});

/** Changes a token at a place, within its alphabet. */
function forge(token: string, at: number, text?: string): string {
  const other = text ?? (token[at] === "A" ? "B" : "A");
  return `${token.slice(0, at)}${other}${token.slice(at + other.length)}`;
}

describe("an access token", () => {
  it("reaches its user alone, whatever the headers and arguments say (cross-user)", async () => {
    const { access } = await connect(world, "ben");
    await expectAccess(access, "Ghent");
    const named = await callTool(world, access, RECALL, { "x-keepsake-user": "ana" });
    expect([named.status, named.text.includes("Porto")]).toEqual([404, false]);
    const call = { name: "recall", arguments: { query: "Where do I live?", user: "ana" } };
    expect((await callTool(world, access, call)).text).not.toContain("Porto");
  });

  it("reaches the key's project alone", async () => {
    const pkce = createPkce();
    const client = putClient(world);
    const { key } = world.keys.create({ project: "shop", user: "ana" });
    const { location } = await allow(world, requestParameters(world, client, pkce), key);
    const code = location?.searchParams.get("code") ?? "";
    const { body } = await requestTokens(world, codeParameters(world, client, code, pkce));
    const { status, text } = await callTool(world, body.access_token, RECALL);
    expect([status, text.includes("Porto")]).toEqual([200, false]);
  });

  it("ends after fifteen minutes, and then is no guess however often it comes", async () => {
    const { access } = await connect(world);
    world.pass(899);
    await expectAccess(access);
    world.pass(2);
    for (let count = 0; count < 30; count += 1) await expectNoAccess(access);
  });

  it.each<[string, (access: string) => string]>([
    ["another end", (access) => forge(access, access.length - 5)],
    ["another grant", (access) => forge(access, 4, "000000000000")],
    ["its end cut off", (access) => access.slice(0, -1)],
    ["something behind it", (access) => `${access}A`],
    ["its hash in its place", (access) => createHash("sha256").update(access).digest("hex")],
    ["another case", (access) => access.toUpperCase()],
  ])("with %s is refused", async (_what, change) => {
    const { access } = await connect(world);
    await expectNoAccess(change(access));
    await expectAccess(access);
  });

  it("is not taken from the query, a form or a cookie", async () => {
    const { access } = await connect(world);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: RECALL });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const tries = [
      fetch(`${world.url}/mcp?access_token=${access}`, { method: "POST", headers, body }),
      fetch(`${world.url}/mcp`, {
        method: "POST",
        headers: { ...headers, cookie: `access_token=${access}` },
        body,
      }),
      fetch(`${world.url}/mcp`, { method: "POST", body: new URLSearchParams({ access_token: access }) }),
    ];
    for (const response of await Promise.all(tries)) expect(response.status).toBe(401);
  });

  it("opens no other address of the server", async () => {
    const { access } = await connect(world);
    const headers = { authorization: `Bearer ${access}` };
    const paths = [
      "/session",
      "/api/v1/memories/ana",
      "/api/v1/keys",
      "/api/v1/users",
      "/v1/models",
      "/metrics",
    ];
    for (const path of paths) {
      const response = await fetch(`${world.url}${path}`, { headers });
      expect([path, response.status >= 401 && response.status <= 404]).toEqual([path, true]);
    }
    const session = await fetch(`${world.url}/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key: access }),
    });
    expect(session.status).toBe(401);
  });

  it("opens no second grant: it is no key", async () => {
    const { access, client } = await connect(world);
    const answer = await allow(world, requestParameters(world, client, createPkce()), access);
    expect([answer.status, answer.location]).toEqual([401, undefined]);
  });

  it("of another server is refused (audience)", async () => {
    const other = await openWorld();
    const { access, refresh, client } = await connect(other);
    await expectNoAccess(access);
    expectNoTokens(await requestTokens(world, refreshParameters({ client, refresh })));
    await other.close();
  });

  it("ends with its key, and with the secret of it that the person used", async () => {
    const revoked = await connect(world, "ana", "/1.json");
    world.keys.revoke(revoked.key.slice(3, 15));
    await expectNoAccess(revoked.access);
    const rotated = await connect(world, "ana", "/2.json");
    world.keys.rotate(rotated.key.slice(3, 15), { graceMs: 3_600_000 });
    await expectAccess(rotated.access);
    world.keys.rotate(rotated.key.slice(3, 15), { graceMs: 0 });
    world.pass(3_601);
    await expectNoAccess(rotated.access);
    expectNoTokens(await requestTokens(world, refreshParameters(rotated)));
  });

  it("with `read` alone lists and runs no tool that writes or erases", async () => {
    const pkce = createPkce();
    const client = putClient(world);
    const parameters = { ...requestParameters(world, client, pkce), scope: "read" };
    const { location } = await allow(world, parameters, createKey(world, "ana"));
    const code = location?.searchParams.get("code") ?? "";
    const { body } = await requestTokens(world, codeParameters(world, client, code, pkce));
    const forget = { name: "forget", arguments: { about: "Porto" } };
    for (const call of [{ name: "remember", arguments: { text: "I live in Rome." } }, forget])
      expect((await callTool(world, body.access_token, call)).text).toMatch(/not found|unknown/i);
    await expectAccess(body.access_token ?? "");
  });
});

describe("revocation", () => {
  const revoke = async (parameters: { readonly [name: string]: string }): Promise<Response> =>
    fetch(`${world.url}/oauth/revoke`, { method: "POST", body: encode(parameters) });

  it.each(["access", "refresh"] as const)("of the %s token ends both", async (which) => {
    const connected = await connect(world);
    expect((await revoke({ token: connected[which], client_id: connected.client })).status).toBe(200);
    await expectNoAccess(connected.access);
    expectNoTokens(await requestTokens(world, refreshParameters(connected)));
  });

  it("by another client, or of a guess, ends nothing and tells nothing", async () => {
    const { access, client } = await connect(world);
    const tries = [
      { token: access, client_id: "https://evil.example.com/client.json" },
      { token: forge(access, access.length - 5), client_id: client },
      { token: "guess", client_id: client },
    ];
    for (const parameters of tries) {
      const response = await revoke(parameters);
      expect([response.status, await response.text()]).toEqual([200, ""]);
    }
    await expectAccess(access);
  });
});

describe("a client that signs (private_key_jwt)", () => {
  let pair: jose.GenerateKeyPairResult;
  let other: jose.GenerateKeyPairResult;
  let keysUrl: string;

  beforeEach(async () => {
    pair = await jose.generateKeyPair("ES256");
    other = await jose.generateKeyPair("ES256");
    const keys = [{ ...(await jose.exportJWK(pair.publicKey)), kid: "one", alg: "ES256" }];
    keysUrl = world.host.put("/keys.json", { keys });
  });

  const fields = () => ({ token_endpoint_auth_method: "private_key_jwt", jwks_uri: keysUrl });
  let jti = 0;
  const sign = (client: string, claims: object = {}, key = pair.privateKey): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    jti += 1;
    return new jose.SignJWT({
      iss: client,
      sub: client,
      aud: `${world.url}/oauth/token`,
      exp: now + 60,
      jti: String(jti),
      ...claims,
    })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .sign(key);
  };
  const withAssertion = (parameters: object, assertion: string) => ({
    ...parameters,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: assertion,
  });

  it("gets tokens, and refreshes them, with its signature", async () => {
    const { client, code, pkce } = await getCode("/signing.json", fields());
    const parameters = { ...codeParameters(world, client, code, pkce), client_id: undefined };
    const { status, body } = await requestTokens(world, withAssertion(parameters, await sign(client)));
    expect(status).toBe(200);
    const next = refreshParameters({ client, refresh: body.refresh_token ?? "" });
    expectNoTokens(await requestTokens(world, next), "invalid_client");
    expect((await requestTokens(world, withAssertion(next, await sign(client)))).status).toBe(200);
  });

  it.each<[string, (client: string) => Promise<string> | string]>([
    ["of another key", (client) => sign(client, {}, other.privateKey)],
    ["for another server", (client) => sign(client, { aud: "https://other.example.com" })],
    ["of another client", (client) => sign(client, { sub: "https://evil.example.com/client.json" })],
    ["by another issuer", (client) => sign(client, { iss: "https://evil.example.com/client.json" })],
    ["that has expired", (client) => sign(client, { exp: Math.floor(Date.now() / 1000) - 60 })],
    ["without an end", (client) => sign(client, { exp: undefined })],
    ["that lasts a day", (client) => sign(client, { exp: Math.floor(Date.now() / 1000) + 86_400 })],
    ["that is none", () => "x"],
    [
      "without a signature",
      (client) =>
        [{ alg: "none" }, { iss: client, sub: client, aud: world.url, exp: 9_999_999_999 }]
          .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
          .join(".")
          .concat("."),
    ],
  ])("gets none with an assertion %s", async (_what, make) => {
    const { client, code, pkce } = await getCode("/signing.json", fields());
    const parameters = codeParameters(world, client, code, pkce);
    const answer = await requestTokens(world, withAssertion(parameters, await make(client)));
    expectNoTokens(answer, "invalid_client");
    // The code was not spent by somebody who could not sign.
    expect((await requestTokens(world, withAssertion(parameters, await sign(client)))).status).toBe(200);
  });

  it("gets none with an assertion that was used before (replay)", async () => {
    const one = await getCode("/signing.json", fields());
    const two = await getCode("/signing.json", fields());
    const assertion = await sign(one.client);
    const [first, second] = [one, two].map(({ client, code, pkce }) =>
      withAssertion(codeParameters(world, client, code, pkce), assertion),
    );
    expect((await requestTokens(world, first ?? {})).status).toBe(200);
    expectNoTokens(await requestTokens(world, second ?? {}), "invalid_client");
  });

  it("makes this server fetch no keys from its own network", async () => {
    const secret = { ...fields(), jwks_uri: "https://10.0.0.1/keys.json" };
    const { client, code, pkce } = await getCode("/signing.json", secret);
    const parameters = withAssertion(codeParameters(world, client, code, pkce), await sign(client));
    expectNoTokens(await requestTokens(world, parameters), "invalid_client");
  });
});

describe("the addresses of the authorization server", () => {
  it("take no other method, type or size", async () => {
    for (const path of ["/oauth/token", "/oauth/revoke"]) {
      expect((await fetch(`${world.url}${path}?grant_type=refresh_token`)).status).toBe(405);
      const json = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
      expect((await fetch(`${world.url}${path}`, json)).status).toBe(415);
      const long = { method: "POST", body: new URLSearchParams({ token: "x".repeat(40_000) }) };
      expect((await fetch(`${world.url}${path}`, long)).status).toBe(413);
    }
  });

  it("take no password in the header", async () => {
    const { client, code, pkce } = await getCode();
    const headers = { authorization: `Basic ${Buffer.from("a:b").toString("base64")}` };
    expectNoTokens(
      await requestTokens(world, codeParameters(world, client, code, pkce), headers),
      "invalid_client",
    );
  });

  it("are not called from a page of another origin", async () => {
    const headers = { origin: "https://evil.example.com" };
    const { client, code, pkce } = await getCode();
    const answer = await requestTokens(world, codeParameters(world, client, code, pkce), headers);
    expect([answer.status, answer.body.access_token]).toEqual([403, undefined]);
    expect((await requestTokens(world, codeParameters(world, client, code, pkce))).status).toBe(200);
  });

  it("describe themselves under the public URL, whatever host a request names", async () => {
    for (const path of [
      "/.well-known/oauth-authorization-server",
      "/.well-known/oauth-protected-resource/mcp",
    ]) {
      const text = await (
        await fetch(`${world.url}${path}`, { headers: { "x-forwarded-host": "evil.example.com" } })
      ).text();
      expect(text).toContain(world.url);
      expect(text).not.toContain("evil");
    }
  });
});
