import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import * as sdk from "@modelcontextprotocol/server";
import * as jose from "jose";
import { createJwtVerifier } from "../../src/adapters/jose/index.ts";
import { createDocumentFetcher } from "../../src/adapters/web-documents/index.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import {
  createPassingGrants,
  type GrantStore,
  type KeyScope,
  passingKeys,
  type Served,
  serve,
} from "../../src/http/index.ts";
import { type ApiKeys, apiKeys, type KeyStore } from "../../src/http/keys/api-keys.ts";
import { createMcpHttpHandler } from "../../src/mcp/http-handler.ts";
import { createMemory } from "../../src/memory.ts";

/** A real server that issues tokens, and a real web server with the documents of clients. */
export interface OAuthWorld {
  readonly url: string;
  readonly keepsake: Keepsake;
  readonly keys: ApiKeys;
  readonly grants: GrantStore;
  readonly host: ClientHost;
  /** Moves the server's clock. */
  pass(seconds: number): void;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly keys?: KeyStore;
  readonly grants?: GrantStore;
  /** Default: this machine, where the documents of the tests are. */
  readonly clientHosts?: readonly string[] | undefined;
  readonly allowsLoopback?: boolean;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly origins?: readonly string[];
  /** The address of the tokens, if it is not the server's own. */
  readonly publicUrl?: string;
  /** A port, to start again at the same address. */
  readonly port?: number;
}

/** A web server with documents of clients. */
export interface ClientHost {
  readonly url: string;
  /** What it was asked for. */
  readonly requests: string[];
  /** Answers a path with a document, or with what a function does. Gives its URL. */
  put(path: string, answer: object | ((request: IncomingMessage, response: ServerResponse) => void)): string;
  close(): Promise<void>;
}

export const REDIRECT = "http://127.0.0.1:8765/callback";

async function openClientHost(): Promise<ClientHost> {
  const answers = new Map<string, object | ((request: IncomingMessage, response: ServerResponse) => void)>();
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push(path);
    const answer = answers.get(path);
    if (typeof answer === "function") return answer(request, response);
    response.statusCode = answer ? 200 : 404;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    put(path, answer) {
      answers.set(path, answer);
      return `${url}${path}`;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Gives a port that was free a moment ago: the server's address is part of its tokens, so it is chosen before. */
async function findFreePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function openWorld(options: WorldOptions = {}): Promise<OAuthWorld> {
  let passed = 0;
  const clock = (): Date => new Date(Date.now() + passed);
  const keepsake = await createMemory({ path: ":memory:" });
  const store = options.keys ?? passingKeys();
  const grants = options.grants ?? createPassingGrants();
  const host = await openClientHost();
  const { handle } = createMcpHttpHandler({ sdk, version: "1" });
  const port = options.port ?? (await findFreePort());
  const url = `http://127.0.0.1:${port}`;
  const { allowsLoopback = true, resolve, clientHosts } = options;
  const served: Served = await serve({
    keepsake,
    clock,
    port,
    keys: store,
    origins: options.origins ?? [],
    mcp: async () => ({
      handle: (request, access) => handle(request, { ...access, promptGuard: keepsake.promptGuard }),
    }),
    oauth: {
      publicUrl: options.publicUrl ?? url,
      authority: {
        kind: "own",
        grants,
        fetcher: createDocumentFetcher({ allowsLoopback, ...(resolve ? { resolve } : {}) }),
        clientHosts,
        verifier: createJwtVerifier(jose, { clock }),
        clock,
      },
    },
  });
  // Keys are made as the command line makes them: beside the server, in its store.
  const keys = apiKeys({ store, clock });
  return {
    url,
    keepsake,
    keys,
    grants,
    host,
    pass: (seconds) => (passed += seconds * 1000),
    async close() {
      await served.close();
      await host.close();
      await keepsake.close();
    },
  };
}

/** The document of a client that is right. */
export function clientDocument(url: string, fields: object = {}): object {
  return { client_id: url, client_name: "Test client", redirect_uris: [REDIRECT], ...fields };
}

/** Puts a right document on the host, but for the fields given. */
export function putClient({ host }: OAuthWorld, path = "/client.json", fields: object = {}): string {
  return host.put(path, clientDocument(`${host.url}${path}`, fields));
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function createPkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

type Parameters = { readonly [name: string]: string | readonly string[] | undefined };

/** Encodes parameters. One that is undefined is left out; a list comes several times. */
export function encode(parameters: Parameters): URLSearchParams {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const one of value === undefined ? [] : [value].flat()) encoded.append(name, one);
  return encoded;
}

/** The parameters of an authorization request that is right. */
export function requestParameters(world: OAuthWorld, client: string, { challenge }: Pkce): Parameters {
  return {
    response_type: "code",
    client_id: client,
    redirect_uri: REDIRECT,
    scope: "read write erase",
    state: "xyz",
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource: `${world.url}/mcp`,
  };
}

export interface OAuthResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Where the browser is sent, if it is. */
  readonly location: URL | undefined;
}

async function toAnswer(response: Response): Promise<OAuthResponse> {
  const location = response.headers.get("location");
  return {
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    location: location === null ? undefined : new URL(location),
  };
}

/** Opens the consent page as a browser does. */
export async function openConsent(
  world: OAuthWorld,
  parameters: Parameters,
  headers: { readonly [name: string]: string } = {},
): Promise<OAuthResponse> {
  return toAnswer(
    await fetch(`${world.url}/oauth/authorize?${encode(parameters)}`, { redirect: "manual", headers }),
  );
}

/** What the consent page's form sends: its hidden fields, its cookie, and what a person fills in. */
export interface FilledForm {
  readonly fields: URLSearchParams;
  readonly cookie: string;
}

/** Reads the form of a consent page. */
export function readForm(page: OAuthResponse): FilledForm {
  const fields = new URLSearchParams();
  for (const [tag] of page.text.matchAll(/<input [^>]*>/g)) {
    const [, name = ""] = / name="([^"]*)"/.exec(tag) ?? [];
    const [, value = ""] = / value="([^"]*)"/.exec(tag) ?? [];
    if (/type="(?:hidden|checkbox)"/.test(tag)) fields.append(name, unescapeHtml(value));
  }
  fields.set("decision", "allow");
  return { fields, cookie: (page.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

/** Sends the form as a browser does. */
export async function sendForm(
  world: OAuthWorld,
  { fields, cookie }: FilledForm,
  headers: { readonly [name: string]: string } = { origin: world.url, "sec-fetch-site": "same-origin" },
): Promise<OAuthResponse> {
  return toAnswer(
    await fetch(`${world.url}/oauth/authorize`, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded", cookie, ...headers },
      body: fields.toString(),
    }),
  );
}

/** Makes a key, as `keepsake keys create --only-user USER` does. */
export function createKey(
  { keys }: OAuthWorld,
  user: string | undefined,
  scopes?: readonly KeyScope[],
): string {
  return keys.create({
    project: "default",
    ...(user === undefined ? {} : { user }),
    ...(scopes ? { scopes } : {}),
  }).key;
}

/** Fills the form with a key and sends it. */
export async function allow(
  world: OAuthWorld,
  parameters: Parameters,
  key: string,
  change: (fields: URLSearchParams) => void = () => {},
): Promise<OAuthResponse> {
  const form = readForm(await openConsent(world, parameters));
  form.fields.set("key", key);
  change(form.fields);
  return sendForm(world, form);
}

export interface TokenAnswer {
  readonly status: number;
  readonly body: {
    readonly access_token?: string;
    readonly refresh_token?: string;
    readonly error?: string;
    readonly scope?: string;
    readonly expires_in?: number;
  };
  readonly headers: Headers;
}

/** Posts to the token endpoint. */
export async function requestTokens(
  world: OAuthWorld,
  parameters: Parameters,
  headers: { readonly [name: string]: string } = {},
): Promise<TokenAnswer> {
  const response = await fetch(`${world.url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: encode(parameters).toString(),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text), headers: response.headers };
}

/** The parameters of a code exchange that is right. */
export function codeParameters(
  world: OAuthWorld,
  client: string,
  code: string,
  { verifier }: Pkce,
): Parameters {
  return {
    grant_type: "authorization_code",
    code,
    client_id: client,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    resource: `${world.url}/mcp`,
  };
}

export interface Connected {
  readonly client: string;
  readonly key: string;
  readonly code: string;
  readonly pkce: Pkce;
  readonly access: string;
  readonly refresh: string;
}

/** Connects a client to a user's memory, as it should be done. */
export async function connect(world: OAuthWorld, user = "ana", path = "/client.json"): Promise<Connected> {
  const pkce = createPkce();
  const client = putClient(world, path);
  const key = createKey(world, user);
  await world.keys.kept();
  const { location } = await allow(world, requestParameters(world, client, pkce), key);
  const code = location?.searchParams.get("code") ?? "";
  const { body } = await requestTokens(world, codeParameters(world, client, code, pkce));
  return { client, key, code, pkce, access: body.access_token ?? "", refresh: body.refresh_token ?? "" };
}

/** Calls a tool at `/mcp`. */
export async function callTool(
  world: OAuthWorld,
  token: string | undefined,
  call: { readonly name: string; readonly arguments: object },
  headers: { readonly [name: string]: string } = {},
): Promise<{ status: number; text: string; challenge: string }> {
  const response = await fetch(`${world.url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
  });
  const challenge = response.headers.get("www-authenticate") ?? "";
  return { status: response.status, text: await response.text(), challenge };
}

export const RECALL = { name: "recall", arguments: { query: "Where do I live?" } } as const;

/** Counts the attacks of a test file: tests in which something is asked for that must be refused. */
export interface AttackCount {
  /** Counts what the running test tried, and whether it got what it asked for. */
  note(test: string | undefined, isThrough: boolean): void;
  /** The line that `count-attacks.ts` reads. */
  describe(): string;
}

export function createAttackCount(): AttackCount {
  const tried = new Set<string | undefined>();
  const through = new Set<string | undefined>();
  return {
    note(test, isThrough) {
      tried.add(test);
      if (isThrough) through.add(test);
    },
    describe: () => `attacks on OAuth: ${tried.size} tried, ${through.size} came through\n`,
  };
}
