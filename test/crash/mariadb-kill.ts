import { createPool } from "mysql2/promise";
import { openMariadbStore } from "../../src/adapters/mariadb/index.ts";
import { ownServer } from "../services/own-server.ts";
import { buildServer, type KilledDatabase, runDatabaseKills } from "./database-kill.ts";
import { option, printFigures } from "./kill.ts";

const DATABASE = "memory";

async function openKilledMariadb(): Promise<KilledDatabase> {
  const server = await ownServer("mariadb");
  const setUp = createPool({ uri: server.address });
  await setUp.query(`CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4`);
  await setUp.end();
  const address = new URL(server.address);
  address.pathname = `/${DATABASE}`;
  return {
    name: "MariaDB",
    address: address.href,
    kill: server.kill,
    start: server.start,
    remove: server.remove,
    async open() {
      const pool = createPool({ uri: address.href });
      return { store: await openMariadbStore({ pool }), close: () => pool.end() };
    },
  };
}

if (import.meta.main) {
  buildServer();
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const figures = await runDatabaseKills(await openKilledMariadb(), { kills: option("kills", 20), seed });
  printFigures("R4", figures);
}
