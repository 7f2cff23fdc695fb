import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  callTool,
  connect,
  openWorld,
  RECALL,
  requestTokens,
  type WorldOptions,
} from "../../../test/oauth/oauth-world.ts";
import { createMemoryDocuments } from "../../adapters/memory/shared-documents.ts";
import { passingKeys } from "../keys/api-keys.ts";
import { keysFile, sharedKeys } from "../keys/key-stores.ts";
import { type GrantStore, openGrantsFile, openSharedGrants, toGrantsPath } from "./grant-store.ts";
import { createTokenService } from "./token-service.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-grants-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const refresh = (client: string, token: string) => ({
  grant_type: "refresh_token",
  client_id: client,
  refresh_token: token,
});

/** Connects a client to one server, and goes on at the next, at the same address. Gives what the client got there. */
async function overRestart(options: () => WorldOptions): Promise<{ status: number; refreshed: number }> {
  const first = await openWorld(options());
  const connected = await connect(first);
  const port = Number(new URL(first.url).port);
  await first.close();
  const second = await openWorld({ ...options(), port });
  try {
    const { status } = await callTool(second, connected.access, RECALL);
    const answer = await requestTokens(second, refresh(connected.client, connected.refresh));
    return { status, refreshed: answer.status };
  } finally {
    await second.close();
  }
}

describe("the file of grants", () => {
  const path = () => toGrantsPath(join(folder, "memory.db"));
  const files = (): WorldOptions => ({
    keys: keysFile(join(folder, "memory.db.keys.json")),
    grants: openGrantsFile(path()),
  });

  it("keeps a client connected over a restart", async () => {
    expect(await overRestart(files)).toEqual({ status: 200, refreshed: 200 });
  });

  it("is readable only by its owner, and contains hashes of secrets alone", async () => {
    const world = await openWorld(files());
    const { access, refresh: token, code, key, pkce } = await connect(world);
    await world.close();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    const text = readFileSync(path(), "utf8");
    expect(text).toContain("ana");
    for (const secret of [access, token, code, key, pkce.verifier, ...token.split("_")].filter(
      (part) => part.length > 12,
    ))
      expect(text).not.toContain(secret);
  });

  it("shows a revoked grant to another process at once", async () => {
    const world = await openWorld(files());
    const { access } = await connect(world);
    await openGrantsFile(path()).change((held) => ({ ...held, grants: [] }));
    expect((await callTool(world, access, RECALL)).status).toBe(401);
    await world.close();
  });

  it("that is damaged is an error that names it, and is not replaced", async () => {
    writeFileSync(path(), "{}");
    const store = openGrantsFile(path());
    await expect(store.read()).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringContaining(path()),
    });
    await expect(store.change((held) => held)).rejects.toMatchObject({ code: "corrupt" });
    expect(readFileSync(path(), "utf8")).toBe("{}");
  });
});

describe("grants that several servers share", () => {
  it("keep a client connected at another server", async () => {
    const documents = createMemoryDocuments();
    const shared = (): WorldOptions => ({ keys: sharedKeys(documents), grants: openSharedGrants(documents) });
    expect(await overRestart(shared)).toEqual({ status: 200, refreshed: 200 });
  });

  it("give a code to one of two servers that exchange it at once", async () => {
    const documents = createMemoryDocuments();
    const [one, other] = [openSharedGrants(documents), openSharedGrants(documents)];
    const consent = {
      client: "https://app.example.com/client.json",
      auth: "none" as const,
      key: "k",
      keyHash: "h",
      project: "default",
      user: "ana",
      scopes: ["read" as const],
    };
    const keys = { findIdentified: () => ({ key: "k", project: "default", scopes: ["read" as const] }) };
    const services = [one, other].map((store) => createTokenService(store, keys, clock));
    const verifier = "v".repeat(43);
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const code =
      (await services[0]?.issueCode(consent, { redirectUri: "https://a.example/", challenge })) ?? "";
    const exchange = { code, client: consent.client, redirectUri: undefined, verifier };
    const results = await Promise.all(services.map((service) => service.exchange(exchange)));
    expect(results.filter((result) => "accessToken" in result)).toHaveLength(1);
  });

  it("are read again by a server while another one writes", async () => {
    const documents = createMemoryDocuments();
    const [one, other] = [openSharedGrants(documents), openSharedGrants(documents)];
    const count = async (store: GrantStore): Promise<number> => (await store.read()).codes.length;
    const add = (store: GrantStore, hash: string): Promise<void> =>
      store.change((held) => ({ ...held, codes: [...held.codes, { ...CODE, hash }] }));
    await Promise.all([add(one, "a"), add(other, "b"), count(one), count(other), add(one, "c"), count(one)]);
    expect(await Promise.all([one, other].map(count))).toEqual([3, 3]);
  });
});

const CODE = {
  client: "https://app.example.com/client.json",
  auth: "none",
  key: "k",
  keyHash: "h",
  project: "default",
  user: "ana",
  scopes: ["read"],
  hash: "",
  expiresAt: "2026-03-01T12:01:00Z",
  redirectUri: "https://app.example.com/callback",
  challenge: "c",
} as const;

it("grants of a memory in this process end with it", async () => {
  const keys = passingKeys();
  expect(await overRestart(() => ({ keys }))).toEqual({ status: 401, refreshed: 400 });
});
