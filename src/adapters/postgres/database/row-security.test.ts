import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import { makeAttachment } from "../../../testing/memory-store/attachment-cases.ts";
import { makeChangeSet, makeMessage, makeRecallReceipt } from "../../../testing/memory-store/change-sets.ts";
import { makeGrant } from "../../../testing/memory-store/sharing-cases.ts";
import { makeFullChangeSet } from "../../../testing/memory-store/store-contents.ts";
import { makeWebhook } from "../../../testing/memory-store/webhook-cases.ts";
import { makeModelCall } from "../../../testing/model-calls-conformance.ts";
import type { PostgresStore } from "../index.ts";
import { createStatement } from "./connection.ts";
import { ALL_PROJECTS } from "./database.ts";
import { openPostgresDatabase } from "./open.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
const OURS = { project: "ours", user: "ann" };
const THEIRS = { project: "theirs", user: "ann" };
/** What everybody shares, and what names no project. */
const SHARED = ["backups", "documents", "filling", "freed", "identity", "jobs", "leases", "migrations"];

describe.skipIf(!url)(`row-level security between projects${missing}`, () => {
  let place: PostgresPlace;
  let record: PostgresStore;
  let schema: string;
  beforeAll(async () => {
    place = testPlace(url ?? "");
    record = await place.open();
    schema = place.schemaOf(record);
    for (const scope of [OURS, THEIRS]) {
      await record.commit(scope, { ...makeFullChangeSet("0"), attachments: [makeAttachment("a")] });
      await record.commit(
        scope,
        makeChangeSet({ base: 1, messages: [makeMessage("m")], dropUnits: ["memory-0"] }),
      );
      const grant = makeGrant("grant-1", { project: scope.project });
      await record.sharing?.apply(scope.project, { put: [grant] });
      await record.embedders?.save({ project: scope.project, embedder: "large" });
      await record.webhooks?.save(makeWebhook("hook-1", { project: scope.project }));
      const uses = [{ id: "other-0", count: 1, lastAt: "2026-01-02T00:00:00.000Z" }];
      await record.usage?.add([{ scope, uses }]);
      await record.recallReceipts.save([{ scope, receipts: [makeRecallReceipt("r")] }]);
      await record.searchIndexes.save(scope, { revision: 2, bytes: Uint8Array.of(1) });
      await record.jobs.saveProgress("decay", [{ scope, visit: { revision: 1 } }]);
      const begun = { key: "k", request: "r", at: "2026-01-02T00:00:00.000Z" };
      await record.answers.beginAnswer(scope, begun, { outdated: "", abandoned: "" });
      const { project, user } = scope;
      await record.calls.note(
        [makeModelCall({ id: project, project, user })],
        [{ project, user, day: "2026-11-21", turns: 1 }],
      );
    }
  });
  afterAll(() => place.clear(), 60_000);

  /** In a transaction as the program's own are, but for the filter. */
  async function within<Result>(
    project: string | undefined,
    work: (client: PoolClient) => Promise<Result>,
    role = "keepsake_runtime",
  ): Promise<Result> {
    const client = await place.pool.connect();
    try {
      await client.query("BEGIN");
      await client.query(`SET LOCAL search_path = ${schema}`);
      if (project !== undefined)
        await client.query("SELECT set_config('keepsake.project', $1, true)", [project]);
      await client.query("SELECT set_config('role', $1, true)", [role]);
      return await work(client);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  }

  async function tables(kind: "walled" | "parts"): Promise<string[]> {
    const { rows } = await place.pool.query<{ name: string; isPart: boolean }>(
      'SELECT relname AS name, relispartition AS "isPart" FROM pg_class ' +
        "WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') ORDER BY 1",
      [schema],
    );
    return rows
      .filter(({ name, isPart }) => isPart === (kind === "parts") && !SHARED.includes(name))
      .map(({ name }) => name);
  }

  it("protects every table with a project", async () => {
    const walled = await tables("walled");
    const [{ open = "" } = {}] = (
      await place.pool.query<{ open: string }>(
        "SELECT string_agg(relname, ' ') AS open FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') " +
          "AND NOT (relrowsecurity AND relforcerowsecurity) AND relname <> ALL ($2)",
        [schema, SHARED],
      )
    ).rows;
    expect(open).toBeNull();
    expect(walled).toEqual(
      expect.arrayContaining(["answers", "calls", "messages", "units", "users", "versions"]),
    );
  });

  it("hides rows of other projects from queries without the program's filter", async () => {
    for (const table of await tables("walled")) {
      const count = async (project: string | undefined): Promise<number[]> =>
        within(project, async (client) => {
          const { rows } = await client.query<{ project: string }>(`SELECT project FROM ${table}`);
          return [rows.length, rows.filter((row) => row.project !== project).length];
        });
      const [ours = 0, others] = await count("ours");
      expect([table, ours > 0, others]).toEqual([table, true, 0]);
      expect([table, await count(undefined), await count("")]).toEqual([table, [0, 0], [0, 0]]);
    }
  });

  it("prevents changes to rows of other projects without the program's filter", async () => {
    for (const table of await tables("walled")) {
      const update = within("nobody", (client) => client.query(`UPDATE ${table} SET project = 'nobody'`));
      expect([table, (await update).rowCount]).toEqual([table, 0]);
    }
    const gone = await within("ours", (client) => client.query("DELETE FROM messages"));
    expect(gone.rowCount).toBe(2);
    expect((await record.since(THEIRS, 0)).messages).toHaveLength(2);
  });

  it("refuses a new row for another project", async () => {
    const put = within("ours", (client) =>
      client.query("INSERT INTO users (project, name) VALUES ('theirs', 'somebody new')"),
    );
    await expect(put).rejects.toMatchObject({ code: "42501" });
  });

  it("gives no rows by the names of partitions", async () => {
    for (const table of await tables("parts")) {
      await expect(within("ours", (client) => client.query(`SELECT 1 FROM ${table}`))).rejects.toMatchObject({
        code: "42501",
      });
    }
  });

  it("gives the role no right to drop, truncate or alter a table", async () => {
    for (const sql of [
      "DROP TABLE messages",
      "TRUNCATE messages",
      "ALTER TABLE users ADD x int",
      "CREATE TABLE x (y int)",
    ]) {
      await expect(within("ours", (client) => client.query(sql))).rejects.toMatchObject({ code: "42501" });
    }
  });

  it("includes the owner of the tables if no role can be created", async () => {
    const owner = `${schema}_owner`;
    await place.pool.query(`CREATE ROLE ${owner}; GRANT USAGE ON SCHEMA ${schema} TO ${owner}`);
    try {
      await place.pool.query(`ALTER TABLE ${schema}.messages OWNER TO ${owner}`);
      const rows = await within("ours", (client) => client.query("SELECT project FROM messages"), owner);
      expect(rows.rows).toEqual([{ project: "ours" }, { project: "ours" }]);
    } finally {
      await place.pool.query(
        `ALTER TABLE ${schema}.messages OWNER TO CURRENT_USER; REVOKE ALL ON SCHEMA ${schema} FROM ${owner}; DROP ROLE ${owner}`,
      );
    }
  });
});

describe.skipIf(!url)(`opening a PostgreSQL database${missing}`, () => {
  let place: PostgresPlace;
  beforeAll(() => {
    place = testPlace(url ?? "");
  });
  afterAll(() => place.clear(), 60_000);
  const secret = (key: string) => ({ sign: (text: string) => `${key} ${text}` });

  it("refuses a database that was created with another secret", async () => {
    const record = await place.open({ secret: secret("one") });
    expect(await (await place.again(record, { secret: secret("one") })).revision(OURS)).toBe(0);
    await expect(place.again(record, { secret: secret("other") })).rejects.toMatchObject({
      code: "forbidden",
    });
  });

  it("separates projects for a login that only owns its schema and cannot create roles", async () => {
    const login = `${place.name}_login`;
    const { rows } = await place.pool.query<{ name: string }>("SELECT current_database() AS name");
    await place.pool.query(
      `CREATE ROLE ${login} LOGIN PASSWORD 'only-here'; GRANT CREATE ON DATABASE "${rows[0]?.name}" TO ${login}`,
    );
    const address = new URL(url ?? "");
    address.username = login;
    address.password = "only-here";
    const theirs = testPlace(address.href);
    try {
      const record = await theirs.open();
      expect(record.notices.filter((notice) => notice.includes("row-level"))).toEqual([]);
      for (const scope of [OURS, THEIRS]) await record.commit(scope, makeFullChangeSet("0"));
      // A transaction of another test on this server may keep old rows visible meanwhile: then it is left for later.
      await expect
        .poll(() => record.erasures.scrub(OURS, ["kiwi"]), { timeout: 30_000 })
        .toContainEqual({ place: "PostgreSQL: freed space of its tables", found: 0 });
      expect(await record.check()).toEqual([]);
      const sql = `SELECT project FROM ${theirs.schemaOf(record)}.users`;
      expect((await theirs.pool.query(sql)).rows).toEqual([]);
      const client = await theirs.pool.connect();
      await client.query("BEGIN; SELECT set_config('keepsake.project', 'ours', true)");
      expect((await client.query(sql)).rows).toEqual([{ project: "ours" }]);
      await client.query("ROLLBACK");
      client.release();
      await record.close();
    } finally {
      await theirs.clear();
      await place.pool.query(`DROP OWNED BY ${login}; DROP ROLE ${login}`);
    }
  });

  it("creates the tables once if several servers start at once", async () => {
    const record = await place.open();
    await place.pool.query(`DROP SCHEMA ${place.schemaOf(record)} CASCADE`);
    const all = await Promise.all(Array.from({ length: 4 }, () => place.again(record)));
    const names = await Promise.all(all.map((one) => one.identity()));
    expect(new Set(names).size).toBe(1);
  });

  it("does not change schemas of other programs and newer versions", async () => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    await place.pool.query(`INSERT INTO ${schema}.migrations (number) VALUES (999)`);
    await expect(place.again(record)).rejects.toMatchObject({ code: "unsupported" });
    await place.pool.query(
      `DROP SCHEMA ${schema} CASCADE; CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.theirs (x int)`,
    );
    await expect(place.again(record)).rejects.toMatchObject({ code: "unsupported" });
    const { rows } = await place.pool.query(
      "SELECT count(*) AS tables FROM pg_class WHERE relnamespace = $1::regnamespace",
      [schema],
    );
    expect(rows).toEqual([{ tables: "1" }]);
  });

  it("refuses an invalid schema name", async () => {
    await expect(place.open({ schema: 'x"; DROP SCHEMA public' })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("waits for the disk whatever the server's own setting is", async () => {
    const off = testPlace(url ?? "", { options: "-c synchronous_commit=off" });
    try {
      const { database: open } = await openPostgresDatabase({
        pool: off.pool,
        schema: off.schemaOf(await off.open()),
      });
      const [rows] = await open.query(
        ALL_PROJECTS,
        createStatement("SELECT current_setting('synchronous_commit') AS now"),
      );
      expect(rows).toEqual([{ now: "on" }]);
      open.close();
    } finally {
      await off.clear();
    }
  });

  it("reports server settings that weaken the guarantees", async () => {
    const record = await place.open();
    const { rows } = await place.pool.query<{ fsync: string }>("SHOW fsync");
    expect(record.notices.some((notice) => notice.includes("fsync"))).toBe(rows[0]?.fsync === "off");
  });
});
