import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createPool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMariadbStore } from "../../src/adapters/mariadb/index.ts";
import { ANN } from "../../src/testing/memory-store/store-contents.ts";
import { type OwnServer, ownServer } from "../services/own-server.ts";

const { KEEPSAKE_TEST_MARIADB: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_MARIADB: eval "$(test/services/up mariadb)")';
const CHILD = join(import.meta.dirname, "writer-child.ts");
/** Long enough for the first commits of a child on a busy machine. */
const FIRST_MS = 60_000;

/** Starts a process that writes; gives the last revision that it said to be stored, once `kill` has ended it. */
async function writeUntil(address: string, kill: (end: () => void) => Promise<void>): Promise<number> {
  const child = spawn(process.execPath, [CHILD, address], { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = once(child, "close");
  for (let waited = 0; said === "" && waited < FIRST_MS; waited += 20) await pause(20);
  await pause(Math.random() * 300);
  await kill(() => child.kill("SIGKILL"));
  await ended;
  // A line that is cut off was not said.
  return Number(said.split("\n").at(-2) ?? 0);
}

describe.skipIf(!url)(`a store on MariaDB under writes${missing}`, { timeout: 300_000 }, () => {
  let server: OwnServer;
  let address: string;
  beforeAll(async () => {
    server = await ownServer("mariadb");
    const pool = createPool({ uri: server.address });
    await pool.query("CREATE DATABASE kills CHARACTER SET utf8mb4");
    await pool.end();
    address = server.address.replace(/\/mysql$/, "/kills");
  }, 120_000);
  afterAll(() => server.remove(), 60_000);

  /** Every acknowledged change is there, whole, and at most one more. */
  const expectAllKept = async (acknowledged: number): Promise<void> => {
    const pool = createPool({ uri: address });
    const store = await openMariadbStore({ pool, patienceMs: 30_000 });
    const revision = await store.revision(ANN);
    expect(acknowledged).toBeGreaterThan(0);
    expect(revision).toBeGreaterThanOrEqual(acknowledged);
    expect(revision).toBeLessThanOrEqual(acknowledged + 1);
    const { messages, memories, units } = await store.since(ANN, 0);
    expect(messages).toHaveLength(revision);
    expect(memories).toHaveLength(2 * revision);
    expect(units).toHaveLength(3 * revision);
    expect(await store.log(ANN, { limit: revision + 10 })).toHaveLength(revision);
    expect(await store.check()).toEqual([]);
    await store.close();
    await pool.end();
  };

  it("loses nothing that was acknowledged and keeps nothing half if the writing process is killed", async () => {
    for (let round = 0; round < 8; round += 1) {
      await expectAllKept(await writeUntil(address, async (end) => end()));
    }
  });

  it("loses nothing that was acknowledged and keeps nothing half if the server is killed", async () => {
    for (let round = 0; round < 4; round += 1) {
      const acknowledged = await writeUntil(address, async (end) => {
        await server.kill();
        end();
      });
      await server.start();
      await expectAllKept(acknowledged);
    }
  });
});
