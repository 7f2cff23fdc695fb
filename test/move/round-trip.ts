import { Client } from "pg";
import { option, printFigures } from "../crash/kill.ts";
import { type MoveTarget, moveThereAndBack } from "./moving.ts";

const { KEEPSAKE_TEST_POSTGRES: server } = process.env;

const postgres: MoveTarget = {
  name: "PostgreSQL",
  async withDatabase(work) {
    if (!server) throw new Error('It needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)"');
    const name = `keepsake_move_${process.pid}`;
    const client = new Client({ connectionString: server });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    try {
      await work(url.href);
    } finally {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await client.end();
    }
  },
};

if (import.meta.main) {
  const size = { users: option("users", 100), perUser: option("per-user", 1000) };
  printFigures("R15", await moveThereAndBack(postgres, size));
}
