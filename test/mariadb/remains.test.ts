import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMariadbStore } from "../../src/adapters/mariadb/index.ts";
import { createMemory } from "../../src/index.ts";
import { type OwnServer, ownServer } from "../services/own-server.ts";

const { KEEPSAKE_TEST_MARIADB: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_MARIADB: eval "$(test/services/up mariadb)")';
const WORD = /zanzibarquux/gi;

/** The files of a folder that contain the word. */
function filesWithWord(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file, "latin1").search(WORD) >= 0)
    .map((file) => file.slice(folder.length + 1))
    .sort();
}

/** Waits until the server has written all changed pages to its files. */
async function flushPages(pool: Pool): Promise<void> {
  for (const name of ["innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm"])
    await pool.query(`SET GLOBAL ${name} = 0`);
  const sql =
    "SELECT variable_value AS dirty FROM information_schema.global_status WHERE variable_name = 'Innodb_buffer_pool_pages_dirty'";
  await expect
    .poll(async () => {
      const [rows] = await pool.query(sql);
      return Number((rows as { dirty: string }[])[0]?.dirty);
    })
    .toBe(0);
}

describe.skipIf(!url)(`an erasure on MariaDB${missing}`, { timeout: 300_000 }, () => {
  let server: OwnServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await ownServer("mariadb");
    pool = createPool({ uri: server.address });
    await pool.query("CREATE DATABASE remains CHARACTER SET utf8mb4");
    await pool.query("SET GLOBAL innodb_log_file_size = 20971520");
  }, 120_000);
  afterAll(async () => {
    await pool.end();
    await server.remove();
  }, 60_000);

  it("leaves words in the logs of the server alone, as its receipt says, and a new redo log has none", async () => {
    const own = createPool({ uri: server.address.replace(/\/mysql$/, "/remains") });
    const memory = await createMemory({
      record: () => openMariadbStore({ pool: own }),
      secret: "0123456789abcdef",
    });
    const ana = memory.scope({ user: "ana" });
    for (let i = 0; i < 20; i += 1) await ana.remember(`I use Shram${i} at work.`);
    for (let i = 0; i < 5; i += 1) await ana.remember(`I use Zanzibarquux as tool number ${i}.`);
    await flushPages(pool);
    expect(filesWithWord(server.data)).toEqual(
      expect.arrayContaining([
        "ib_logfile0",
        "remains/messages.ibd",
        "remains/units.ibd",
        "remains/versions.ibd",
      ]),
    );

    const receipt = await ana.forget("Zanzibarquux");
    expect(receipt.complete).toBe(true);
    expect(receipt.verified.map(({ place }) => place)).toContain("MariaDB: freed space of its tables");
    expect(receipt.remains?.map(({ place }) => place)).toContain(
      "MariaDB: redo log, undo log and doublewrite buffer",
    );
    await flushPages(pool);
    const left = filesWithWord(server.data);
    expect(left.filter((file) => !["ib_logfile0", "ibdata1"].includes(file))).toEqual([]);

    // The pages of other writes take the place of those in the doublewrite buffer and in the undo log.
    for (let i = 0; i < 60; i += 1) await ana.remember(`I use Magnet${i} at home.`);
    await flushPages(pool);
    for (const size of [25_165_824, 20_971_520]) {
      await pool.query(`SET GLOBAL innodb_log_file_size = ${size}`);
      await pause(1000);
    }
    await expect.poll(() => filesWithWord(server.data)).toEqual([]);
    await memory.close();
    await own.end();
  });
});

describe.skipIf(!url)(`the binary log of MariaDB${missing}`, { timeout: 300_000 }, () => {
  let server: OwnServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await ownServer("mariadb", ["--log-bin=binlog", "--server-id=1", "--sync-binlog=1"]);
    pool = createPool({ uri: server.address });
  }, 120_000);
  afterAll(async () => {
    await pool.end();
    await server.remove();
  }, 60_000);

  const readLogs = (): string[] =>
    readdirSync(server.data).filter((name) => /^binlog\.\d+$/.test(name) && countWords(name) > 0);
  const countWords = (name: string): number =>
    readFileSync(join(server.data, name), "latin1").match(WORD)?.length ?? 0;
  const countAll = (): number => readLogs().reduce((sum, name) => sum + countWords(name), 0);

  it.each(["ROW", "MIXED"])(
    "keeps erased words in the form %s until its files are deleted, as the receipt says",
    async (format) => {
      await pool.query(`CREATE DATABASE log_${format} CHARACTER SET utf8mb4`);
      await pool.query(`SET GLOBAL binlog_format = ${format}`);
      const own = createPool({ uri: server.address.replace(/\/mysql$/, `/log_${format}`) });
      const memory = await createMemory({
        record: () => openMariadbStore({ pool: own }),
        secret: "0123456789abcdef",
      });
      const ana = memory.scope({ user: "ana" });
      for (let i = 0; i < 5; i += 1) await ana.remember(`I use Zanzibarquux as tool number ${i}.`);
      const before = countAll();
      expect(before).toBeGreaterThan(0);
      const receipt = await ana.forget("Zanzibarquux");
      expect(receipt.complete).toBe(true);
      expect(receipt.remains?.map(({ place }) => place)).toContain("MariaDB: binary log");
      // Rows that go are logged as they were.
      expect(countAll()).toBeGreaterThan(before);
      await memory.close();
      await own.end();
      await pool.query("FLUSH BINARY LOGS");
      expect(countAll()).toBeGreaterThan(before);
      const [logs] = await pool.query("SHOW BINARY LOGS");
      const newest = (logs as { Log_name: string }[]).at(-1)?.Log_name;
      // The server keeps a file that it would need after a crash, until its tables have what is in it.
      const purge = async (): Promise<string[]> => {
        await pool.query(`PURGE BINARY LOGS TO '${newest}'`);
        return readLogs();
      };
      await expect.poll(purge, { timeout: 60_000, interval: 500 }).toEqual([]);
    },
  );
});
