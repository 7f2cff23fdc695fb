import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "../../src/adapters/postgres/index.ts";
import { type Served, serve, sharedKeys } from "../../src/http/index.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import { hashEmbedder } from "../../src/testing/test-doubles.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

/** A server as the settings make one: with a pool of its own. */
interface Server {
  readonly served: Served;
  readonly memory: Keepsake;
  readonly record: PostgresStore;
  readonly pool: Pool;
}

describe.skipIf(!url)(`two servers on one PostgreSQL${missing}`, { timeout: 120_000 }, () => {
  const schema = `shared_keys_${process.pid}`;
  const servers: Server[] = [];
  const start = async (): Promise<Server> => {
    const pool = new Pool({ connectionString: url ?? "", max: 4 });
    const record = await openPostgresStore({ pool, schema, connectMs: 30_000 });
    const memory = await createMemory({
      record,
      embedder: hashEmbedder(8),
      secret: "the same on every server",
    });
    const served = await serve({
      keepsake: memory,
      clock: () => new Date(),
      port: 0,
      keys: sharedKeys(record.documents),
    });
    const server = { served, memory, record, pool };
    servers.push(server);
    return server;
  };
  beforeAll(async () => {
    await start();
    await start();
  }, 120_000);
  afterAll(async () => {
    const [first] = servers;
    for (const { served, memory, record } of servers) {
      await served.close();
      await memory.close();
      await record.close();
    }
    await first?.pool.query(`DROP SCHEMA ${schema} CASCADE`);
    for (const { pool } of servers) await pool.end();
  }, 120_000);

  const ask = async (server: number, path: string, key: string, method = "GET", body?: object) =>
    fetch(`${servers[server]?.served.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });

  it("make one first key between them, and it opens both", async () => {
    const [one, other] = servers.map(({ served }) => served.firstKey);
    expect([typeof one, other]).toEqual(["string", undefined]);
    for (const server of [0, 1]) expect((await ask(server, "/api/v1/keys", one ?? "")).status).toBe(200);
  });

  it("know a new key at once, what was said under it, and that it has ended", async () => {
    const first = servers[0]?.served.firstKey ?? "";
    for (let i = 0; i < 10; i += 1) {
      const made = await ask(i % 2, "/api/v1/keys", first, "POST", { label: `key ${i}` });
      const { id, key } = (await made.json()) as { id: string; key: string };
      const said = { user_id: "ana", messages: [{ role: "user", content: `I own kettle number ${i}.` }] };
      expect((await ask((i + 1) % 2, "/api/v1/messages", key, "POST", said)).status).toBe(201);
      const found = await ask(i % 2, "/api/v1/memories/ana/search", key, "POST", {
        query: `kettle number ${i}`,
      });
      expect(JSON.stringify(await found.json())).toContain(`number ${i}`);
      expect((await ask(i % 2, `/api/v1/keys/${id}`, first, "DELETE")).status).toBe(204);
      expect((await ask((i + 1) % 2, "/api/v1/memories/ana", key)).status).toBe(401);
    }
  });

  it("share the pages that are signed in", async () => {
    const key = servers[0]?.served.firstKey ?? "";
    const opened = await ask(0, "/session", "", "POST", { key });
    expect(opened.status).toBe(201);
    const { proof } = (await opened.json()) as { proof: string };
    const [token = ""] = (opened.headers.get("set-cookie") ?? "").replace(/^[^=]+=/, "").split(";");
    const page = (server: number, method = "GET") => {
      const { url: at = "" } = servers[server]?.served ?? {};
      const cookie = `keepsake_${new URL(at).port}=${token}`;
      return fetch(`${at}/session`, { method, headers: { cookie, "x-keepsake-proof": proof } });
    };
    expect((await page(1)).status).toBe(200);
    expect((await page(1, "DELETE")).status).toBe(204);
    expect((await page(0)).status).toBe(401);
  });
});
