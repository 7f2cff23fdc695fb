import { Pool } from "pg";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { ownPostgres } from "../services/own-postgres.ts";
import { buildServer, type KilledDatabase, runDatabaseKills } from "./database-kill.ts";
import { option, printFigures } from "./kill.ts";

async function openKilledPostgres(): Promise<KilledDatabase> {
  const server = await ownPostgres();
  return {
    name: "PostgreSQL",
    get address() {
      return server.address;
    },
    kill: server.kill,
    start: server.start,
    remove: server.remove,
    async open() {
      const pool = new Pool({ connectionString: server.address });
      return { store: await openPostgresStore({ pool }), close: () => pool.end() };
    },
  };
}

if (import.meta.main) {
  buildServer();
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const figures = await runDatabaseKills(await openKilledPostgres(), { kills: option("kills", 20), seed });
  printFigures("R4", figures);
}
