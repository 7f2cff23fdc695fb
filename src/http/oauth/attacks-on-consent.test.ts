import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allow,
  clientDocument,
  codeParameters,
  createAttackCount,
  createKey,
  createPkce,
  type OAuthResponse,
  type OAuthWorld,
  openConsent,
  openWorld,
  putClient,
  REDIRECT,
  readForm,
  requestParameters,
  requestTokens,
  sendForm,
  type WorldOptions,
} from "../../../test/oauth/oauth-world.ts";
import { createFormToken } from "./consent-page.ts";

let world: OAuthWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

async function reopen(options: WorldOptions): Promise<void> {
  await world.close();
  world = await openWorld(options);
}

const right = (client: string) => requestParameters(world, client, createPkce());

const attacks = createAttackCount();
afterAll(() => {
  process.stdout.write(attacks.describe());
});

/** Nobody is asked for consent, and the browser stays where it is. */
function expectRefusal(page: OAuthResponse, status: number = 400): void {
  const isThrough = page.location !== undefined || page.text.includes('name="key"');
  attacks.note(expect.getState().currentTestName, isThrough);
  expect([page.status, page.location]).toEqual([status, undefined]);
  expect(page.text).not.toContain('name="key"');
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
}

/** The client gets no code. */
function expectNoCode(answer: OAuthResponse): void {
  const code = answer.location?.searchParams.get("code") ?? null;
  attacks.note(expect.getState().currentTestName, code !== null);
  expect(code).toBeNull();
  expect(answer.status).not.toBe(303);
}

describe("an authorization request", () => {
  it("that is right asks for consent", async () => {
    const page = await openConsent(world, right(putClient(world)));
    expect([page.status, page.location]).toEqual([200, undefined]);
    expect(page.text).toContain('name="key"');
  });

  it.each<[string, object]>([
    ["without PKCE", { code_challenge: undefined, code_challenge_method: undefined }],
    ["with a PKCE method but no challenge", { code_challenge: undefined }],
    ["with PKCE's method plain", { code_challenge_method: "plain" }],
    ["with PKCE's default method", { code_challenge_method: undefined }],
    ["with a method in another case", { code_challenge_method: "s256" }],
    ["with a short challenge", { code_challenge: "abc" }],
    ["with a challenge in other characters", { code_challenge: `${"a".repeat(42)}+` }],
    ["with a challenge in other bytes", { code_challenge: "é".repeat(43) }],
    ["for a token (implicit)", { response_type: "token" }],
    ["for a code and a token (hybrid)", { response_type: "code token" }],
    ["for nothing", { response_type: undefined }],
    ["for a response in the fragment", { response_mode: "fragment" }],
    ["for a response in a form", { response_mode: "form_post" }],
    ["for another server's resource", { resource: "https://other.example.com/mcp" }],
    ["for a part of this server's resource", { resource: "http://127.0.0.1" }],
    ["for the scope admin alone", { scope: "admin" }],
    ["without a person (prompt=none)", { prompt: "none" }],
    ["with a request object", { request: "eyJhbGciOiJub25lIn0.e30." }],
    ["with a request at an address", { request_uri: "https://evil.example.com/request" }],
  ])("%s is refused, and the browser is sent nowhere", async (_what, change) => {
    expectRefusal(await openConsent(world, { ...right(putClient(world)), ...change }));
  });

  it.each<[string, (parameters: ReturnType<typeof right>) => object]>([
    ["resource", ({ resource }) => ({ resource: [resource, "https://other.example.com/mcp"] })],
    ["redirect_uri", ({ redirect_uri: uri }) => ({ redirect_uri: [uri, "https://evil.example.com/"] })],
    ["client_id", ({ client_id: id }) => ({ client_id: [id, id] })],
    ["code_challenge_method", () => ({ code_challenge_method: ["S256", "plain"] })],
    ["scope", () => ({ scope: ["read", "erase"] })],
  ])("with %s twice is refused", async (_what, change) => {
    const parameters = right(putClient(world));
    expectRefusal(await openConsent(world, { ...parameters, ...change(parameters) }));
  });

  it("that is too long is refused", async () => {
    expectRefusal(await openConsent(world, { ...right(putClient(world)), state: "x".repeat(3000) }));
  });

  it("leads the browser nowhere with an error: the person decides, and the client learns who says so", async () => {
    const page = await openConsent(world, { ...right(putClient(world)), response_type: "token" });
    const [, link = ""] = /href="([^"]*callback[^"]*)"/.exec(page.text) ?? [];
    const back = new URL(link.replaceAll("&amp;", "&")).searchParams;
    expect(Object.fromEntries(back)).toEqual({
      error: "unsupported_response_type",
      state: "xyz",
      iss: world.url,
    });
  });
});

const APP = "https://app.example.com/callback";

describe("a redirect URI", () => {
  it.each([
    "",
    "https://app.example.com/",
    "https://app.example.com/callback/",
    "https://app.example.com/callback/../evil",
    "https://app.example.com/callback/%2e%2e/evil",
    "https://app.example.com/CALLBACK",
    "https://app.example.com/callback?next=https://evil.example.com",
    "https://app.example.com/callback#fragment",
    "https://app.example.com:444/callback",
    "https://app.example.com:443/callback",
    "https://app.example.com./callback",
    "https://APP.example.com/callback",
    "http://app.example.com/callback",
    "https://app.example.com.evil.example/callback",
    "https://evil.example/app.example.com/callback",
    "https://app.example.com@evil.example/callback",
    "https://app.example.com\\@evil.example/callback",
    "https:app.example.com/callback",
    "//app.example.com/callback",
    " https://app.example.com/callback",
    "https://app.example.com/callback\n",
    "https://sub.app.example.com/callback",
    "https://app.example.com/callback%00",
    "javascript:alert(1)//https://app.example.com/callback",
    "data:text/html,callback",
    "urn:ietf:wg:oauth:2.0:oob",
    "myapp://callback",
    // The program's own port may differ, and nothing else.
    "http://localhost:1234/callback",
    "http://127.0.0.1:1234/other",
    "http://127.0.0.1:1234/callback?x=1",
    "http://127.0.0.1.evil.example:1234/callback",
    "http://127.0.0.1:1234@evil.example/callback",
    "https://127.0.0.1:1234/callback",
    "http://127.1:1234/callback",
    "http://2130706433:1234/callback",
  ])("%j that is not the client's is refused, without a link there", async (uri) => {
    const client = putClient(world, "/client.json", { redirect_uris: [APP, "http://127.0.0.1/callback"] });
    const page = await openConsent(world, { ...right(client), redirect_uri: uri });
    expectRefusal(page);
    expect(page.text).not.toContain("<a href");
  });

  it("that the client's document names is of no use if it is no address with TLS, or of the person's machine", async () => {
    const uris = [
      "javascript:alert(1)",
      "http://app.example.com/cb",
      "https://u:p@app.example.com/",
      "myapp://cb",
    ];
    const client = putClient(world, "/client.json", { redirect_uris: [...uris, APP] });
    for (const uri of uris) expectRefusal(await openConsent(world, { ...right(client), redirect_uri: uri }));
    expect((await openConsent(world, { ...right(client), redirect_uri: APP })).status).toBe(200);
  });
});

describe("a client-id metadata document", () => {
  it.each<[string, object]>([
    ["of another client", { client_id: "https://claude.ai/client.json" }],
    ["without redirect URIs", { redirect_uris: undefined }],
    ["with no redirect URI", { redirect_uris: [] }],
    ["with redirect URIs that are no list", { redirect_uris: REDIRECT }],
    ["with a secret", { client_secret: "not a secret here" }],
    ["that wants a password", { token_endpoint_auth_method: "client_secret_basic" }],
    ["for another grant", { grant_types: ["client_credentials"] }],
    ["for implicit responses", { response_types: ["token"] }],
    ["with a name that is no text", { client_name: { en: "x" } }],
  ])("%s is refused", async (_what, fields) => {
    expectRefusal(await openConsent(world, right(putClient(world, "/client.json", fields))));
  });

  it.each([
    ["is no JSON", "application/json", "<html>"],
    ["is a page", "text/html", "{}"],
    ["is a list", "application/json", "[]"],
    ["is longer than 10 KB", "application/json", JSON.stringify({ x: "y".repeat(11_000) })],
  ])("that %s is refused", async (_what, type, body) => {
    const client = world.host.put("/client.json", (_request, response) => {
      response.setHeader("content-type", type);
      response.end(body);
    });
    expectRefusal(await openConsent(world, right(client)));
  });

  it("that redirects, or comes with another status, is refused, and nobody follows", async () => {
    const target = putClient(world, "/target.json");
    for (const status of [201, 302, 500]) {
      const path = `/${status}.json`;
      const client = world.host.put(path, (_request, response) => {
        response.writeHead(status, { location: target, "content-type": "application/json" });
        // What it says beside the redirect would be right.
        response.end(JSON.stringify(clientDocument(`${world.host.url}${path}`)));
      });
      expectRefusal(await openConsent(world, right(client)));
    }
    expect(world.host.requests).toEqual(["/201.json", "/302.json", "/500.json"]);
  });

  it("that never ends is given up at its limit", async () => {
    let isClosed = false;
    const client = world.host.put("/client.json", (_request, response) => {
      response.setHeader("content-type", "application/json");
      const timer = setInterval(() => response.write(" ".repeat(1000)), 1);
      response.on("close", () => {
        isClosed = true;
        clearInterval(timer);
      });
    });
    expectRefusal(await openConsent(world, right(client)));
    await expect.poll(() => isClosed).toBe(true);
  });

  it("that does not come is given up after its time", async () => {
    const client = world.host.put("/client.json", () => {});
    expectRefusal(await openConsent(world, right(client)), 503);
  });

  it.each([
    "client-1",
    "https://app.example.com",
    "https://app.example.com/",
    "https://app.example.com/client.json#part",
    "https://app.example.com/a/../client.json",
    "https://APP.example.com/client.json",
    "https://app.example.com:443/client.json",
    "https://user:word@app.example.com/client.json",
    "http://app.example.com/client.json",
    "ftp://app.example.com/client.json",
    "file:///etc/passwd",
    `https://app.example.com/${"a".repeat(1100)}`,
  ])("at %s is not fetched", async (client) => {
    let lookups = 0;
    await reopen({
      allowsLoopback: false,
      resolve: async () => {
        lookups += 1;
        return ["127.0.0.1"];
      },
    });
    expectRefusal(await openConsent(world, right(client)));
    expect(lookups).toBe(0);
  });

  it.each([
    "https://127.0.0.1/client.json",
    "https://10.0.0.1/client.json",
    "https://169.254.169.254/latest/meta-data",
    "https://192.168.1.1/client.json",
    "https://[::1]/client.json",
    "https://[::ffff:7f00:1]/client.json",
    "https://[fd00::1]/client.json",
    "https://2130706433/client.json",
    "https://0x7f.1/client.json",
    "https://inside.example.com/client.json",
    "https://mixed.example.com/client.json",
    "https://localhost/client.json",
  ])("at %s, in a private network, is refused (SSRF)", async (client) => {
    const addresses: { readonly [host: string]: readonly string[] } = {
      "inside.example.com": ["10.0.0.7"],
      "mixed.example.com": ["8.8.8.8", "127.0.0.1"],
      localhost: ["127.0.0.1", "::1"],
    };
    await reopen({ allowsLoopback: false, resolve: async (host) => addresses[host] ?? [] });
    expectRefusal(await openConsent(world, right(client)));
    expect(world.host.requests).toEqual([]);
  });

  it("of this machine is not fetched by its name, its number or with TLS unless that is allowed", async () => {
    await reopen({ allowsLoopback: false });
    const { port } = new URL(world.host.url);
    for (const origin of [
      `http://127.0.0.1:${port}`,
      `https://127.0.0.1:${port}`,
      `http://localhost:${port}`,
    ])
      expectRefusal(await openConsent(world, right(`${origin}/client.json`)));
    expect(world.host.requests).toEqual([]);
  });

  it("is looked up once: the connection goes to the address that was checked (DNS rebinding)", async () => {
    const addresses = ["127.0.0.1", "10.0.0.1"];
    let lookups = 0;
    await reopen({ resolve: async () => [addresses[lookups++] ?? "10.0.0.1"] });
    const client = `http://rebound.example.com:${new URL(world.host.url).port}/client.json`;
    world.host.put("/client.json", { client_id: client, redirect_uris: [REDIRECT] });
    expect((await openConsent(world, right(client))).status).toBe(200);
    expect([lookups, world.host.requests]).toEqual([1, ["/client.json"]]);
  });

  it("of a host that is not listed is refused before it is fetched", async () => {
    await reopen({ clientHosts: ["claude.ai"] });
    expectRefusal(await openConsent(world, right(putClient(world))));
    expect(world.host.requests).toEqual([]);
  });

  it("makes this server fetch at most 60 times a minute, whoever asks", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 70; count += 1)
      statuses.push((await openConsent(world, right(putClient(world, `/${count}.json`)))).status);
    expect(world.host.requests).toHaveLength(60);
    expect(statuses.slice(60)).toEqual(Array.from({ length: 10 }, () => 503));
    // What is known goes on.
    expect((await openConsent(world, right(putClient(world, "/0.json")))).status).toBe(200);
  });

  it("cannot put markup, scripts or marks of direction into the page", async () => {
    const name = `"><script>alert(1)</script><img src=x onerror=alert(2)>\u202egpj.exe`;
    const client = putClient(world, "/client.json", { client_name: name });
    const page = await openConsent(world, { ...right(client), state: `"><script>alert(3)</script>` });
    expect(page.text).not.toMatch(/<script|<img src=x|\u202e/);
    expect(page.text).toContain("&lt;script&gt;");
    expect(page.headers.get("content-security-policy")).not.toMatch(/script-src|unsafe/);
  });
});

describe("the consent page", () => {
  const headersOf = (page: OAuthResponse) => Object.fromEntries(page.headers);

  it("cannot be framed, runs nothing, and is kept nowhere", async () => {
    const page = await openConsent(world, right(putClient(world)));
    expect(headersOf(page)).toMatchObject({
      "x-frame-options": "DENY",
      "cache-control": "no-store",
      "content-security-policy":
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; " +
        "form-action 'self' http://127.0.0.1:8765",
    });
    expect(page.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict$/);
  });

  it("says who asks, where the person returns to, and what for", async () => {
    const client = putClient(world, "/client.json", { redirect_uris: [APP] });
    const { text } = await openConsent(world, { ...right(client), redirect_uri: APP, scope: "read" });
    expect(text).toContain(`<strong>${new URL(client).host}</strong> asks for access`);
    expect(text).toContain("“Test client”");
    expect(text).toContain("<strong>app.example.com</strong>");
    expect(text).toContain('value="read" checked');
    expect(text).not.toContain('value="erase" checked');
    expect(text).not.toContain("on this device");
    const native = putClient(world, "/native.json");
    expect((await openConsent(world, right(native))).text).toContain("a program on this device");
  });

  it.each<[string, { readonly [name: string]: string }]>([
    ["another origin", { origin: "https://evil.example.com" }],
    ["an origin that is hidden", { origin: "null" }],
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another host of the site", { "sec-fetch-site": "same-site" }],
    ["a listed origin", { origin: "https://app.example.com" }],
  ])("takes no form from %s (CSRF)", async (_what, headers) => {
    await reopen({ origins: ["https://app.example.com"] });
    const form = readForm(await openConsent(world, right(putClient(world))));
    form.fields.set("key", createKey(world, "ana"));
    const answer = await sendForm(world, form, headers);
    expectNoCode(answer);
    expect(answer.status).toBe(403);
  });

  it.each<[string, (fields: URLSearchParams) => void]>([
    ["without its token", (fields) => fields.delete("form_token")],
    ["with a token of other characters", (fields) => fields.set("form_token", "é".repeat(64))],
    ["with a token of zeros", (fields) => fields.set("form_token", "0".repeat(64))],
    ["for more scopes than it showed", (fields) => fields.set("scope", "read write erase admin")],
    ["for another state", (fields) => fields.set("state", "the attacker's")],
    ["for another challenge", (fields) => fields.set("code_challenge", createPkce().challenge)],
  ])("takes no form %s", async (_what, change) => {
    const answer = await allow(world, right(putClient(world)), createKey(world, "ana"), change);
    expectNoCode(answer);
    expect(answer.status).toBe(403);
  });

  it("takes no form with the client or the address of another request", async () => {
    const other = putClient(world, "/evil.json", { redirect_uris: ["https://evil.example.com/cb"] });
    const parameters = right(putClient(world));
    const key = createKey(world, "ana");
    const swapped = await allow(world, parameters, key, (fields) => {
      fields.set("client_id", other);
      fields.set("redirect_uri", "https://evil.example.com/cb");
    });
    expectNoCode(swapped);
    const moved = await allow(world, parameters, key, (fields) =>
      fields.set("redirect_uri", "https://evil.example.com/cb"),
    );
    expectNoCode(moved);
  });

  it("takes no form without the cookie, or with that of another browser", async () => {
    const parameters = right(putClient(world));
    const form = readForm(await openConsent(world, parameters));
    const other = readForm(await openConsent(world, parameters));
    form.fields.set("key", createKey(world, "ana"));
    for (const cookie of ["", other.cookie, "keepsake_0_consent=x"])
      expectNoCode(await sendForm(world, { ...form, cookie }));
    expect((await sendForm(world, form)).status).toBe(303);
  });

  it("takes no form whose token somebody made for a browser without the cookie", async () => {
    const parameters = right(putClient(world));
    const form = readForm(await openConsent(world, parameters));
    form.fields.set("key", createKey(world, "ana"));
    form.fields.set("form_token", createFormToken("", form.fields));
    expectNoCode(await sendForm(world, { ...form, cookie: "" }));
  });

  it("allows nothing by a link, whatever it contains", async () => {
    const key = createKey(world, "ana");
    const page = await openConsent(world, {
      ...right(putClient(world)),
      key,
      decision: "allow",
      allow: ["read", "write"],
    });
    expect([page.status, page.location]).toEqual([200, undefined]);
    expect(page.text).not.toContain(key);
  });

  it("takes the cookie of the page's sign-in for no consent", async () => {
    const session = await fetch(`${world.url}/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key: createKey(world, "ana") }),
    });
    const own = (session.headers.get("set-cookie") ?? "").split(";")[0];
    const form = readForm(await openConsent(world, right(putClient(world))));
    const answer = await sendForm(world, { ...form, cookie: `${form.cookie}; ${own}` });
    expectNoCode(answer);
    expect(answer.status).toBe(401);
  });

  it("slows down guesses of keys, and tells nothing of them", async () => {
    const parameters = right(putClient(world));
    const statuses: number[] = [];
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        const answer = await allow(world, parameters, `ks_${"0".repeat(12)}_${"A".repeat(43)}`);
        expectNoCode(answer);
        statuses.push(answer.status);
      }),
    );
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });

  it.each([
    ["application/json", "{}", 415],
    ["text/plain", "decision=allow", 415],
    ["multipart/form-data; boundary=x", "--x--", 415],
    ["application/x-www-form-urlencoded", `key=${"x".repeat(40_000)}`, 413],
  ])("refuses a body of %s that is no form, or too long", async (type, body, status) => {
    const response = await fetch(`${world.url}/oauth/authorize`, {
      method: "POST",
      headers: { "content-type": type },
      body,
      redirect: "manual",
    });
    expect(response.status).toBe(status);
  });

  it("gives no access to another user than that of the key", async () => {
    const key = createKey(world, "ben");
    const answer = await allow(world, right(putClient(world)), key, (fields) => fields.set("user", "ana"));
    expectNoCode(answer);
    expect(answer.status).toBe(400);
  });

  it("asks for the user of a key that is for all", async () => {
    const key = createKey(world, undefined);
    expectNoCode(await allow(world, right(putClient(world)), key));
    for (const user of ["..", "a\u0000b", "x".repeat(600)])
      expectNoCode(await allow(world, right(putClient(world)), key, (fields) => fields.set("user", user)));
    const answer = await allow(world, right(putClient(world)), key, (fields) => fields.set("user", "ana"));
    expect(answer.location?.searchParams.get("code")).toMatch(/^ksc_/);
  });

  it("gives no more than the client asked for, the person allows and the key may", async () => {
    const client = putClient(world);
    const grant = async (
      scope: string,
      key: string,
      allowed?: readonly string[],
    ): Promise<string | undefined> => {
      const pkce = createPkce();
      const parameters = { ...requestParameters(world, client, pkce), scope };
      const { location } = await allow(world, parameters, key, (fields) => {
        if (!allowed) return;
        fields.delete("allow");
        for (const one of allowed) fields.append("allow", one);
      });
      const code = location?.searchParams.get("code");
      if (!code) return undefined;
      return (await requestTokens(world, codeParameters(world, client, code, pkce))).body.scope;
    };
    const full = world.keys.create({
      project: "default",
      scopes: ["read", "write", "erase"],
      user: "ana",
    }).key;
    expect(await grant("read write erase", full)).toBe("read write erase");
    expect(await grant("read", full, ["read", "write", "erase", "admin"])).toBe("read");
    expect(await grant("read write admin", full)).toBe("read write");
    expect(await grant("read write erase", full, ["read"])).toBe("read");
    expect(await grant("read write erase", createKey(world, "ana", ["read"]))).toBe("read");
    expect(await grant("read write erase", createKey(world, "ana", ["write"]))).toBeUndefined();
    expect(await grant("read write erase", full, ["write"])).toBeUndefined();
  });

  it("names the server in what it sends back, also when the person refuses", async () => {
    const form = readForm(await openConsent(world, right(putClient(world))));
    form.fields.set("decision", "refuse");
    const { status, location } = await sendForm(world, form);
    expect([status, Object.fromEntries(location?.searchParams ?? [])]).toEqual([
      303,
      { error: "access_denied", state: "xyz", iss: world.url },
    ]);
  });
});
