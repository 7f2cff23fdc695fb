import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled } from "../left-out.ts";
import { RECALL, readForm } from "../oauth/oauth-world.ts";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");

/** What a person does: settings, `keepsake serve`, a key, and a client whose document is at an address with TLS. */
describe.skipIf(!isInstalled("openssl"))("keepsake serve with OAuth", () => {
  let folder: string;
  let documents: Server;
  let metadataUrl: string;
  let server: ChildProcess | undefined;
  let url: string;
  const redirect = "http://localhost:8765/callback";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "keepsake-oauth-"));
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    spawnSync("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", certificate, ...subject]);
    documents = createServer(
      { key: readFileSync(key), cert: readFileSync(certificate) },
      (_request, response) => {
        response.setHeader("content-type", "application/json");
        response.end(
          JSON.stringify({ client_id: metadataUrl, client_name: "Test", redirect_uris: [redirect] }),
        );
      },
    );
    await new Promise<void>((resolve) => documents.listen(0, "127.0.0.1", resolve));
    metadataUrl = `https://localhost:${(documents.address() as AddressInfo).port}/client.json`;
    url = `http://127.0.0.1:${await findFreePort()}`;
  });
  afterAll(async () => {
    server?.kill("SIGKILL");
    documents.closeAllConnections();
    await new Promise((resolve) => documents.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const environment = () => ({
    PATH: process.env.PATH ?? "",
    KEEPSAKE_DB: join(folder, "memory.db"),
    KEEPSAKE_PORT: new URL(url).port,
    KEEPSAKE_OAUTH: "on",
    KEEPSAKE_PUBLIC_URL: url,
    // This machine is named, so its documents are fetched.
    KEEPSAKE_OAUTH_CLIENTS: "localhost",
    NODE_EXTRA_CA_CERTS: join(folder, "cert.pem"),
  });

  async function start(): Promise<void> {
    server = spawn(process.execPath, [MAIN, "serve", "--json"], {
      env: environment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => server?.stdout?.once("data", resolve));
  }

  function run(...words: readonly string[]): string {
    const ran = spawnSync(process.execPath, [MAIN, ...words], { env: environment(), encoding: "utf8" });
    expect(ran.status).toBe(0);
    return ran.stdout;
  }

  it("connects the SDK's client by its document, over a restart, until a person disconnects it", async () => {
    await start();
    run("remember", "I live in Porto.", "--user", "ana");
    const { key } = JSON.parse(run("keys", "create", "--only-user", "ana", "--json")) as { key: string };
    const { provider, visits } = createProvider(metadataUrl, redirect);
    const open = () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider });
    const first = open();
    await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toBeInstanceOf(
      UnauthorizedError,
    );
    const [visit] = visits;
    expect(visit?.searchParams.get("client_id")).toBe(metadataUrl);

    const response = await fetch(visit as URL);
    const text = await response.text();
    expect(text).toContain(`<strong>${new URL(metadataUrl).host}</strong> asks for access`);
    const form = readForm({ status: response.status, text, headers: response.headers, location: undefined });
    form.fields.set("key", key);
    const answer = await fetch(`${url}/oauth/authorize`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: form.cookie, origin: url },
      body: form.fields,
    });
    await first.finishAuth(new URL(answer.headers.get("location") ?? "").searchParams);

    const recall = async (): Promise<string> => {
      const client = new Client({ name: "test", version: "1" });
      await client.connect(open());
      const found = JSON.stringify((await client.callTool(RECALL)).content);
      await client.close();
      return found;
    };
    expect(await recall()).toContain("Porto");
    server?.kill("SIGKILL");
    await start();
    expect(await recall()).toContain("Porto");
    expect(visits).toHaveLength(1);

    const [client] = (JSON.parse(run("keys", "clients", "--json")) as Listed).items;
    expect(client).toMatchObject({ client: metadataUrl, user_id: "ana", scopes: ["read", "write", "erase"] });
    expect(run("keys", "disconnect", client?.id ?? "")).toContain(`Disconnected ${metadataUrl}`);
    expect(JSON.parse(run("keys", "clients", "--json"))).toEqual({ items: [] });
    await expect(recall()).rejects.toBeInstanceOf(UnauthorizedError);
  });
});

interface Listed {
  readonly items: readonly { readonly id: string }[];
}

async function findFreePort(): Promise<number> {
  const probe = createTcpServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A provider that keeps everything in memory, and the addresses to which the SDK sends the person's browser. */
function createProvider(
  clientMetadataUrl: string,
  redirectUrl: string,
): { readonly provider: OAuthClientProvider; readonly visits: URL[] } {
  let tokens: Awaited<ReturnType<OAuthClientProvider["tokens"]>>;
  let information: Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
  let discovery: Awaited<ReturnType<NonNullable<OAuthClientProvider["discoveryState"]>>>;
  let verifier = "";
  const visits: URL[] = [];
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadataUrl,
    clientMetadata: { redirect_uris: [redirectUrl], grant_types: ["authorization_code", "refresh_token"] },
    clientInformation: () => information,
    saveClientInformation: (fresh) => {
      information = fresh;
    },
    tokens: () => tokens,
    saveTokens: (fresh) => {
      tokens = fresh;
    },
    redirectToAuthorization: (to) => {
      visits.push(to);
    },
    saveCodeVerifier: (fresh) => {
      verifier = fresh;
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (fresh) => {
      discovery = fresh;
    },
    invalidateCredentials: (which) => {
      if (which === "tokens") tokens = undefined;
    },
  };
  return { provider, visits };
}
