import { createPool } from "mysql2/promise";
import { option, printFigures } from "../crash/kill.ts";
import { type MoveTarget, moveThereAndBack } from "./moving.ts";

const { KEEPSAKE_TEST_MARIADB: server } = process.env;

const mariadb: MoveTarget = {
  name: "MariaDB",
  async withDatabase(work) {
    if (!server) throw new Error('It needs KEEPSAKE_TEST_MARIADB: eval "$(test/services/up mariadb)"');
    const name = `keepsake_move_${process.pid}`;
    const pool = createPool({ uri: server, connectionLimit: 1 });
    await pool.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    try {
      await work(url.href);
    } finally {
      await pool.query(`DROP DATABASE ${name}`);
      await pool.end();
    }
  },
};

if (import.meta.main) {
  const size = { users: option("users", 100), perUser: option("per-user", 1000) };
  printFigures("R15", await moveThereAndBack(mariadb, size));
}
