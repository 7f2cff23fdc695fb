import { Pool } from "pg";
import { describe } from "vitest";
import type { Documents } from "../../../ports/stores/documents.ts";
import { documentsConformance } from "../../../testing/documents-conformance.ts";
import { openPostgresStore } from "../index.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

describe.skipIf(!url)(`documents in PostgreSQL${missing}`, () => {
  const schema = `documents_${process.pid}`;
  const pools = [0, 1].map(() => new Pool({ connectionString: url ?? "", max: 4 }));
  const open = async (pool: Pool): Promise<Documents> => {
    const { documents } = await openPostgresStore({ pool, schema, connectMs: 20_000 });
    return documents;
  };
  const [first, second] = pools as [Pool, Pool];
  documentsConformance({
    name: "postgres",
    setup: async () => {
      await open(first);
    },
    async open() {
      const documents = await open(first);
      await first.query(`DELETE FROM ${schema}.documents`);
      return documents;
    },
    second: () => open(second),
    async teardown() {
      await first.query(`DROP SCHEMA ${schema} CASCADE`);
      for (const pool of pools) await pool.end();
    },
  });
});
