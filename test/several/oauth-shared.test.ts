import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { openSharedGrants, sharedKeys } from "../../src/http/index.ts";
import type { Documents } from "../../src/ports/stores/documents.ts";
import {
  allow,
  callTool,
  codeParameters,
  connect,
  createKey,
  createPkce,
  type OAuthWorld,
  openWorld,
  putClient,
  RECALL,
  requestParameters,
  requestTokens,
} from "../oauth/oauth-world.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

describe.skipIf(!url)(`OAuth on two servers over one PostgreSQL${missing}`, () => {
  const schema = `oauth_${process.pid}`;
  const pools = [0, 1].map(() => new Pool({ connectionString: url ?? "", max: 4 }));
  let one: OAuthWorld;
  let other: OAuthWorld;

  const openDocuments = async (pool: Pool): Promise<Documents> =>
    (await openPostgresStore({ pool, schema, connectMs: 20_000 })).documents;

  beforeAll(async () => {
    const documents = await Promise.all(pools.map(openDocuments));
    const [first, second] = documents.map((shared) => ({
      keys: sharedKeys(shared),
      grants: openSharedGrants(shared),
    }));
    one = await openWorld(first);
    // Behind one address, both name it.
    other = await openWorld({ ...second, publicUrl: one.url });
  });
  afterAll(async () => {
    await Promise.all([one, other].map((world) => world.close()));
    await pools[0]?.query(`DROP SCHEMA ${schema} CASCADE`);
    for (const pool of pools) await pool.end();
  });

  it("a client that one server connected is known to the other, until one of them revokes it", async () => {
    const { client, access, refresh } = await connect(one);
    expect((await callTool(other, access, RECALL)).status).toBe(200);
    const parameters = { grant_type: "refresh_token", client_id: client, refresh_token: refresh };
    const { status, body } = await requestTokens(other, parameters);
    expect(status).toBe(200);
    const token = body.access_token ?? "";
    expect((await callTool(one, token, RECALL)).status).toBe(200);
    await fetch(`${other.url}/oauth/revoke`, { method: "POST", body: new URLSearchParams({ token }) });
    expect((await callTool(one, token, RECALL)).status).toBe(401);
  });

  it("a code that comes to both at once is exchanged by one of them at most", async () => {
    for (let round = 0; round < 5; round += 1) {
      const pkce = createPkce();
      const client = putClient(one);
      const key = createKey(one, "ana");
      await one.keys.kept();
      const { location } = await allow(one, requestParameters(one, client, pkce), key);
      const right = codeParameters(one, client, location?.searchParams.get("code") ?? "", pkce);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => requestTokens(i % 2 === 0 ? one : other, right)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    }
  });
});
