import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { place as folder, keepsakeWith, type Ran } from "../e2e/shell.ts";
import { type MariadbPlace, testMariadb } from "./place.ts";

const { KEEPSAKE_TEST_MARIADB: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_MARIADB: eval "$(test/services/up mariadb)")';
const { KEEPSAKE_TEST_POSTGRES: postgres } = process.env;
const needsPostgres = postgres ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
const SECRET = { KEEPSAKE_SECRET: "0123456789abcdef" };

async function onPostgres(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

async function createPostgresDatabase(url: string): Promise<string> {
  const name = `t${randomBytes(6).toString("hex")}`;
  await onPostgres(url, `CREATE DATABASE ${name}`);
  return name;
}

async function dropPostgresDatabase(url: string, name: string): Promise<void> {
  await onPostgres(url, `DROP DATABASE ${name} WITH (FORCE)`);
}

describe.skipIf(!url)(`the command line on MariaDB${missing}`, { timeout: 300_000 }, () => {
  let place: MariadbPlace;
  beforeAll(() => {
    place = testMariadb(url ?? "");
  });
  afterAll(() => place.clear(), 60_000);

  const keepsake = (address: string, ...words: readonly string[]): Promise<Ran> =>
    keepsakeWith({ env: { ...SECRET, MEMORY_DB_URL: address } }, ...words);

  it("remembers, answers and forgets, and a move to a file and back keeps the digest", async () => {
    const address = await place.create();
    const remembered = await keepsake(address, "remember", "I use Shram and Magnet as productivity tools.");
    // The servers of tests may keep less than a server should.
    expect(remembered.status).toBe(0);
    const ask = async (of: string): Promise<unknown> =>
      (await keepsake(of, "answer", "What productivity tools do I use?", "--json")).json.text;
    expect(await ask(address)).toBe("You use Shram and Magnet.");
    expect((await keepsake(address, "forget", "Magnet", "--yes", "--json")).json.complete).toBe(true);
    expect(await ask(address)).toBe("You use Shram.");

    const file = `sqlite:///${join(folder, "moved.db")}`;
    const there = await keepsake("", "move", "--db", address, "--to", file, "--json");
    const again = (await place.create()).replace(/^mysql:/, "mariadb:");
    const back = await keepsake("", "move", "--db", file, "--to", again, "--json");
    expect([there.status, back.status]).toEqual([0, 0]);
    expect(back.json.digest).toBe(there.json.digest);
    expect(await ask(again)).toBe("You use Shram.");
    expect((await keepsake(again, "doctor")).status).toBe(0);
  });

  it.skipIf(!postgres)(`moves to PostgreSQL and back with equal digests${needsPostgres}`, async () => {
    const [first, last] = [await place.create(), await place.create()];
    await keepsake(first, "remember", "I use Shram. My cat is called Quixote.");
    const between = new URL(postgres ?? "");
    between.pathname = `/${await createPostgresDatabase(postgres ?? "")}`;
    try {
      const there = await keepsake("", "move", "--db", first, "--to", between.href, "--json");
      const back = await keepsake("", "move", "--db", between.href, "--to", last, "--json");
      expect([there.status, back.status]).toEqual([0, 0]);
      expect(back.json.digest).toBe(there.json.digest);
      expect((await keepsake(last, "answer", "What is my cat called?", "--json")).json.text).toContain(
        "Quixote",
      );
    } finally {
      await dropPostgresDatabase(postgres ?? "", between.pathname.slice(1));
    }
  });

  it("refuses another secret, a database of another program, and an address without a database", async () => {
    const address = await place.create();
    expect((await keepsake(address, "remember", "I use Shram.")).status).toBe(0);
    const other = { KEEPSAKE_SECRET: "another-secret-0123456789", MEMORY_DB_URL: address };
    expect((await keepsakeWith({ env: other }, "list")).err).toContain("another KEEPSAKE_SECRET");
    expect((await keepsake(url ?? "", "list")).err).toContain("belongs to another program");
    const bare = new URL(url ?? "");
    bare.pathname = "/";
    expect((await keepsake(bare.href, "list")).err).toContain("names no database");
  });
});
