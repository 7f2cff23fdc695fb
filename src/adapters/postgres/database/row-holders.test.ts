import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildRowHolderCount, SELECT_NEXT_TRANSACTION } from "./row-holders.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

describe.skipIf(!url)(`the mark after which nothing keeps deleted rows${missing}`, () => {
  const client = new Client({ connectionString: url });
  beforeAll(() => client.connect());
  afterAll(() => client.end());

  // A full number of a transaction (`xid8`) that is read as `xid` is out of range after the first 4 billion transactions.
  it("is a number without an epoch, which the count accepts on a server of any age", async () => {
    const { rows } = await client.query(
      `SELECT mark::text, pg_typeof(mark)::text AS type FROM (${SELECT_NEXT_TRANSACTION}) AS next (mark)`,
    );
    expect(rows[0]?.type).toBe("xid");
    await client.query("BEGIN; SELECT pg_current_xact_id(); COMMIT");
    const count = await client.query(buildRowHolderCount(`'${rows[0]?.mark}'::xid`));
    expect(Number(count.rows[0]?.found)).toBeGreaterThanOrEqual(0);
  });
});
