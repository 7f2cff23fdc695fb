import { execFileSync } from "node:child_process";
import { Pool } from "pg";
import { describe } from "vitest";
import { createPgvectorIndex } from "../../src/adapters/postgres-index/index.ts";
import { ownPostgres } from "../services/own-postgres.ts";
import { type Hosted, treatedBadly } from "./treated-badly.ts";

async function pgvector(): Promise<Hosted> {
  const server = await ownPostgres();
  const pool = new Pool({ connectionString: server.address, max: 4 });
  pool.on("error", () => {});
  return {
    follower: () => createPgvectorIndex({ pool, timeoutMs: 1000 }),
    faults: {
      async "is down"() {
        await server.kill();
        // After a kill it reads its log first, which may take longer than `up` waits.
        return () => server.start().catch(() => server.start());
      },
      async hangs() {
        const { rows } = await pool.query("SELECT pg_backend_pid() AS pid");
        const all = familyOf(Number(rows[0]?.pid));
        for (const pid of all) process.kill(pid, "SIGSTOP");
        return async () => {
          for (const pid of all) process.kill(pid, "SIGCONT");
        };
      },
      async "comes back empty"() {
        await pool.query("DROP TABLE keepsake_index, keepsake_index_space");
        return async () => {};
      },
    },
    noticed: ["is down", "hangs"],
    async close() {
      await pool.end();
      await server.remove();
    },
  };
}

/** A backend's server, and everything that it has started. */
function familyOf(backend: number): number[] {
  const parent = Number(execFileSync("ps", ["-o", "ppid=", "-p", `${backend}`], { encoding: "utf8" }));
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", `${parent}`], { encoding: "utf8" });
  return [parent, ...children.trim().split(/\s+/).map(Number)];
}

const HOW = "set KEEPSAKE_TEST_POSTGRES: one of its own is started beside it";
describe.skipIf(!process.env.KEEPSAKE_TEST_POSTGRES)(`pgvector, treated badly (${HOW})`, () => {
  treatedBadly(pgvector, ["is down", "hangs", "comes back empty"]);
});
